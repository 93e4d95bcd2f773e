"""A path for an embedded log."""

import pytest


@pytest.fixture
def path(tmp_path):
    """Where a test's log will be."""
    return tmp_path / "log.db"
