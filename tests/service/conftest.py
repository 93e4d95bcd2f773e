"""What these files share."""

import os

import pytest


@pytest.fixture(autouse=True)
def clean_surroundings(monkeypatch, tmp_path):
    """A folder of one's own, and no ILN_* variables of the machine's."""
    for name in [name for name in os.environ if name.startswith("ILN_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
