"""Fixtures of these tests."""

import os
import sys
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch, tmp_path):
    """Run each test in its own folder, without ILN_* variables, and with a path of its own."""
    for name in [name for name in os.environ if name.startswith("ILN_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the log is."""
    return tmp_path / "log.db"
