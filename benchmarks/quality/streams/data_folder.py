"""The folder of public data sets that ILN_DATA names; they are not part of the project."""

import os
from pathlib import Path

from benchmarks.quality.unavailable import UnavailableError


def data_file(name: str) -> Path:
    """Return the path of a file in the folder that ILN_DATA names."""
    if (folder := os.environ.get("ILN_DATA")) is None:
        raise UnavailableError(f"{name}: set ILN_DATA to the folder that holds it")
    if not (file := Path(folder) / name).is_file():
        raise UnavailableError(f"{name} is not in ILN_DATA = {folder}")
    return file
