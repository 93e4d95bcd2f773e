"""Blocks of snapshots: arrays that never change, stored once for all snapshots of a folder."""

import hashlib
import io
import os
import time
import uuid
from collections.abc import Set
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iln_stream.errors import StateError
from iln_stream.state import Block

_SPARED = 3600.0
"""Seconds for which a block without a snapshot is kept: another run may be about to write one."""


class BlockFolder:
    """A folder of arrays in numpy's npy format, each in a file named by its checksum.

    Parameters
    ----------
    path
        Created with the first block.

    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def put(self, block: Block) -> tuple[str, int]:
        """Store a block durably; return its name and the bytes written, 0 if it was there intact.

        Its name is durable only once the folder is synchronised, too. A block that this process has
        stored is not compared with its file again, which would take longer than everything else.
        """
        if block.stored_as is not None and self._has(*block.stored_as):
            return block.stored_as[0], 0
        file = io.BytesIO()
        np.lib.format.write_array(file, np.asarray(block), allow_pickle=False)
        data = file.getbuffer()
        name = hashlib.sha256(data).hexdigest()
        final = self.path / f"{name}.npy"
        try:
            os.utime(final)  # so that no other run takes it for an old one
            if final.read_bytes() == data:
                block.stored_as = (name, len(data))
                return name, 0
        except FileNotFoundError:
            self.path.mkdir(exist_ok=True)
        partial = self.path / f"{name}.{uuid.uuid4().hex}.partial"
        with partial.open("wb") as written:
            written.write(data)
            written.flush()
            os.fsync(written.fileno())
        partial.rename(final)
        block.stored_as = (name, len(data))
        return name, len(data)

    def _has(self, name: str, size: int) -> bool:
        """Return whether a block's file is there, and note that it is needed."""
        final = self.path / f"{name}.npy"
        try:
            os.utime(final)  # so that no other run takes it for an old one
            return final.stat().st_size == size
        except FileNotFoundError:
            return False

    def get(self, name: str) -> NDArray[Any]:
        """Return the block of a name.

        Raises
        ------
        StateError
            When it is not there, or not as it was written.

        """
        file = self.path / f"{name}.npy"
        try:
            data = file.read_bytes()
        except OSError as error:
            raise StateError(
                f"its block {file} can't be read: {error.strerror}; a copy of a snapshot needs a "
                f"copy of the folder {self.path.name} beside it"
            ) from error
        if hashlib.sha256(data).hexdigest() != name:
            raise StateError(f"its block {file} is damaged")
        array: NDArray[Any] = np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
        return array

    def remove_except(self, names: Set[str]) -> None:
        """Remove files other than the blocks of these names, unless they are new."""
        if not self.path.is_dir():
            return
        for file in self.path.iterdir():
            with suppress(OSError):  # another process's housekeeping
                old = time.time() - file.stat().st_mtime > _SPARED
                if old and file.name.removesuffix(".npy") not in names:
                    file.unlink()
