"""A state as bytes: the one format of snapshots and of frozen networks.

It is that of numpy's npz, which most languages can read: an uncompressed ZIP archive. Each array is
an entry in numpy's npy format, named by its path in the state; `json.npy` holds the rest, the UTF-8
text of `pack`, as an array of bytes. There is no pickle. The archive's CRC-32 guard each entry.
"""

import io
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from iln_stream.errors import StateError
from iln_stream.state.pack import TEXT, pack, unpack
from iln_stream.state.state_dict import StateDict

_UNREADABLE = (
    EOFError,
    KeyError,
    OSError,
    OverflowError,
    RuntimeError,  # NotImplementedError included: of an unknown compression
    TypeError,
    ValueError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)
"""Raised by zipfile and numpy for bytes that are not an archive of arrays."""


def to_bytes(state: StateDict) -> bytes:
    """Return a state as bytes; equal states, in the same order, give equal bytes.

    Raises
    ------
    StateError
        When the state holds an unsupported value; the message says where.

    Examples
    --------
    >>> import numpy as np
    >>> from iln_stream.state import from_bytes, to_bytes
    >>> data = to_bytes({"n": 3, "theta": np.zeros(2)})
    >>> from_bytes(data)
    {'n': 3, 'theta': array([0., 0.])}
    >>> to_bytes(from_bytes(data)) == data
    True

    """
    file = io.BytesIO()
    write_packed(*pack(state), file)
    return file.getvalue()


def from_bytes(data: bytes, load: Callable[[str], NDArray[Any]] | None = None) -> StateDict:
    """Return the state from the bytes that `to_bytes` or `write_packed` wrote.

    Parameters
    ----------
    data
        The bytes.
    load
        Returns a block that is stored elsewhere, by its name; see `pack`.

    Raises
    ------
    StateError
        When they are damaged, or are something else.

    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            arrays = {_key(name): read_array(archive, name) for name in archive.namelist()}
        text = arrays.pop(TEXT).tobytes().decode()
    except _UNREADABLE as error:
        raise StateError(f"the state's bytes can't be read: {error}") from error
    return unpack(arrays, text, load)


def write_packed(arrays: Mapping[str, NDArray[Any]], text: str, file: IO[bytes]) -> None:
    """Write what `pack` returned to a file, which need not be seekable, array by array."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, array in {TEXT: np.frombuffer(text.encode(), np.uint8), **arrays}.items():
            # A ZipInfo has a fixed date, so that the bytes depend on the state only.
            entry = zipfile.ZipInfo(f"{name}.npy")
            with archive.open(entry, "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def read_array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """Return the array in an entry of an archive."""
    with archive.open(name) as member:
        array: NDArray[Any] = np.lib.format.read_array(member, allow_pickle=False)
        member.read()  # to the end, where the checksum is compared
        return array


def _key(name: str) -> str:
    if not name.endswith(".npy"):
        raise ValueError(f"it has an entry {name!r}")
    return name.removesuffix(".npy")
