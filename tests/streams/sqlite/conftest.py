"""A path for an embedded log."""

from pathlib import Path

import pytest


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a test's log will be."""
    return tmp_path / "log.db"
