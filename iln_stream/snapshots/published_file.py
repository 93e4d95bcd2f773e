"""The format of a published version: a line with format and checksum, a header, the arrays.

The header is one line of JSON. Then come the arrays one after another, each at a multiple of 64
bytes, as the header lists them. There is no copy of them in memory and no compression, because a
version is written while the learner learns and read while the API answers.

The file is written under another name and renamed, so a reader never sees half of it. It is not
synchronised: after a crash of the machine it may be damaged, which the checksum shows, and the next
version replaces it.
"""

import json
import mmap
import os
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from iln_stream.errors import PublishingError
from iln_stream.streams import StreamPartition, as_texts

FORMAT = 1
"""Raised when older readers could not read the file."""

_MAGIC = b"iln-stream model "
_FIRST_LINE = len(_MAGIC) + len(b"001 crc32:00000000\n")
_GRAIN = 64
_LONGEST_HEADER = 1_000_000
_MOST_BUFFERS = 1024
"""IOV_MAX of Linux."""


class DamagedError(PublishingError):
    """The file is not what was written."""


@dataclass(frozen=True)
class Header:
    """Describes a version.

    Parameters
    ----------
    version
        Number of the version; a later one has a higher number.
    published_at
        When the learner was captured, in POSIX seconds.
    positions
        By partition, the offset after the last record that the learner has learned.
    n_learned
        Number of events learned.
    task
        "regression" or "classification".
    learner
        The learner's name, as in the setting `learner`.
    stream
        Name of the stream.
    topic_id
        The log's id of the topic, which changes if the topic is recreated; None if unknown.
    configuration
        The settings that, with the log, determine the learner's state, as a hash.
    form
        How the learner is stored: "state" or "pickle".
    series_inputs
        Names of inputs that a run makes of earlier records: lags and rolling means.

    """

    version: int
    published_at: float
    positions: Mapping[StreamPartition, int]
    n_learned: int
    task: str
    learner: str
    stream: str
    topic_id: str | None
    configuration: str
    form: str
    series_inputs: tuple[str, ...] = ()


class Identity(NamedTuple):
    """Tells one file of a name from the next."""

    inode: int
    modified: int
    size: int


class Version(NamedTuple):
    """What a file holds."""

    header: Header
    arrays: dict[str, NDArray[Any]]
    identity: Identity


class VersionFile:
    """The file of one learner's published version.

    Parameters
    ----------
    path
        Usually `FOLDER/NAME.model`.

    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def identity(self) -> Identity | None:
        """Return what identifies the present file; None if there is none."""
        try:
            return _identity(self.path.stat())
        except OSError:
            return None

    def write(self, header: Header, arrays: Mapping[str, NDArray[Any]]) -> Identity:
        """Replace the file.

        Raises
        ------
        OSError
            When the file system doesn't take it; the file is as it was then.

        """
        partial = self.path.with_name(f"{self.path.name}.{os.getpid()}.partial")
        try:
            try:
                identity = _write(partial, header, arrays)
            except FileNotFoundError:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                identity = _write(partial, header, arrays)
            partial.rename(self.path)
        except BaseException:
            with suppress(OSError):
                partial.unlink()
            raise
        return identity

    def remove_partial(self) -> None:
        """Remove what processes that were killed had not finished."""
        for file in self.path.parent.glob(f"{self.path.name}.*.partial"):
            with suppress(OSError):
                file.unlink()

    def read_header(self) -> Header:
        """Return the header only, without checking the checksum.

        Raises
        ------
        FileNotFoundError
            When there is no file.
        PublishingError
            When it can't be read.

        """
        with self.path.open("rb") as file:
            _expected_checksum(file.readline(_FIRST_LINE))
            return _parsed(file.readline())[0]

    def read(self) -> Version:
        """Return the version in the file.

        Raises
        ------
        FileNotFoundError
            When there is no file.
        DamagedError
            When it is not what was written.
        PublishingError
            When it is of a newer format, or can't be read.

        """
        try:
            with self.path.open("rb", buffering=0) as file:
                identity = _identity(os.fstat(file.fileno()))
                data = np.empty(identity.size, np.uint8)
                if file.readinto(data) != identity.size:  # type: ignore[arg-type]
                    raise DamagedError("it was cut off while it was read")
        except FileNotFoundError:
            raise
        except OSError as error:
            raise PublishingError(f"it can't be read: {error.strerror}") from error
        expected = _expected_checksum(data[:_FIRST_LINE].tobytes())
        if zlib.crc32(data[_FIRST_LINE:].data) != expected:
            raise DamagedError("its checksum is not that of its contents")
        line = data[_FIRST_LINE : _FIRST_LINE + _header_length(data)].tobytes()
        header, layout = _parsed(line)
        arrays, at = {}, _FIRST_LINE + len(line) + 1
        for name, kind, shape in layout:
            dtype, at = np.dtype(kind), at + -at % _GRAIN
            size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
            arrays[name] = data[at : at + size].view(dtype).reshape(shape)
            at += size
        return Version(header, arrays, identity)


def _write(path: Path, header: Header, arrays: Mapping[str, NDArray[Any]]) -> Identity:
    """Write a file, with few calls that release the GIL: the loop may hold it 5 ms each time."""
    buffers = contents(header, arrays)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644)
    try:
        _write_all(descriptor, buffers)
        with (
            mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ) as whole,
            memoryview(whole) as view,
            view[_FIRST_LINE:] as content,
        ):
            os.pwrite(descriptor, _first_line(zlib.crc32(content)), 0)
        return _identity(os.fstat(descriptor))
    finally:
        os.close(descriptor)


def contents(header: Header, arrays: Mapping[str, NDArray[Any]]) -> list[Any]:
    """Return the buffers of a file; its first line is to be replaced by one of the same length."""
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    layout = [[name, array.dtype.str, list(array.shape)] for name, array in arrays.items()]
    line = (
        json.dumps(
            {**asdict(header), "positions": as_texts(header.positions), "arrays": layout}
        ).encode()
        + b"\n"
    )
    buffers: list[Any] = [_first_line(0), line]
    at = _FIRST_LINE + len(line)
    for array in arrays.values():
        if padding := -at % _GRAIN:
            buffers.append(bytes(padding))
        if array.nbytes:
            buffers.append(array.reshape(-1).view(np.uint8))
        at += padding + array.nbytes
    return buffers


def _write_all(descriptor: int, buffers: list[Any]) -> None:
    left = [memoryview(each) for each in buffers]
    while left:
        written = os.writev(descriptor, left[:_MOST_BUFFERS])
        done = 0
        while done < len(left) and written >= left[done].nbytes:
            written -= left[done].nbytes
            done += 1
        left = left[done:]
        if written:
            left[0] = left[0][written:]


def _first_line(checksum: int) -> bytes:
    return b"%s%03d crc32:%08x\n" % (_MAGIC, FORMAT, checksum)


def _expected_checksum(line: bytes) -> int:
    """Return the checksum in the first line."""
    try:
        number, _, checksum = line.removeprefix(_MAGIC).partition(b" crc32:")
        if not line.startswith(_MAGIC) or len(line) != _FIRST_LINE:
            raise ValueError
        found, expected = int(number), int(checksum, 16)
    except ValueError:
        raise DamagedError("it does not begin like a published version") from None
    if found != FORMAT:
        raise PublishingError(
            f"its format has number {found}, and this release reads {FORMAT}: use the release of "
            "the learner"
        )
    if line != _first_line(expected):
        raise DamagedError("its first line is not as it was written")
    return expected


def _parsed(line: bytes) -> tuple[Header, Sequence[tuple[str, str, list[int]]]]:
    try:
        fields = json.loads(line)
        layout = fields.pop("arrays")
        fields["positions"] = {
            StreamPartition.read(p, (fields["stream"], "labels")): offset
            for p, offset in fields["positions"].items()
        }
        fields["series_inputs"] = tuple(fields["series_inputs"])
        return Header(**fields), layout
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise DamagedError(f"its header can't be read: {error}") from error


def _header_length(data: NDArray[np.uint8]) -> int:
    """Return the number of bytes in the header's line, without its end."""
    ends = np.flatnonzero(data[_FIRST_LINE : _FIRST_LINE + _LONGEST_HEADER] == ord("\n"))
    if not len(ends):
        raise DamagedError("its header has no end")
    return int(ends[0])


def _identity(found: os.stat_result) -> Identity:
    return Identity(found.st_ino, found.st_mtime_ns, found.st_size)
