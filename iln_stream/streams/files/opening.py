"""Opening files that may be compressed."""

import gzip
from pathlib import Path
from typing import BinaryIO, cast


def open_binary(path: Path) -> BinaryIO:
    """Open a file for reading; one whose name ends in `.gz` is decompressed."""
    return cast(BinaryIO, gzip.open(path) if path.suffix == ".gz" else path.open("rb"))
