"""The format of a snapshot: a line with version and checksum, then arrays and JSON, zipped."""

import hashlib
import io
import json
import platform
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from importlib.metadata import version
from typing import IO, Any, BinaryIO, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from iln_stream.errors import SnapshotError, StateError
from iln_stream.state import StateDict, pack, unpack

MAJOR, MINOR = 1, 0
"""Of the format. A reader takes any minor version of its own major version, and no other."""

_VERSION = f"{MAJOR}.{MINOR}"
_MAGIC = b"iln-stream snapshot "
_LONGEST_FIRST_LINE = 200
_RECORDED = ("iln-stream", "numpy", "numba", "river")


class CorruptSnapshotError(SnapshotError):
    """The file is not what was written."""


def versions() -> dict[str, str]:
    """Return what bit-identical replay depends on: the versions of Python and the libraries."""
    return {"python": platform.python_version(), **{name: version(name) for name in _RECORDED}}


@dataclass(frozen=True)
class Header:
    """What a snapshot is of.

    Parameters
    ----------
    stream
        Name of the topic.
    positions
        Where a run goes on: in each partition that is learned, the offset after the last record
        that is in the state.
    topic_id
        The broker's own id of the topic, which a topic created anew doesn't have; None where the
        broker tells none.
    n_partitions
        How many partitions the topic had.
    epoch
        Which run wrote the snapshot; a later one has a higher number.
    configuration
        The settings that the state is a function of, beside the log.
    seed
        The learner's own, derived from the setting and the partition.
    saved_at
        When, in RFC 3339; nothing depends on it.
    versions
        Of Python and the libraries that wrote it.

    """

    stream: str
    positions: Mapping[int, int]
    topic_id: str | None
    n_partitions: int
    epoch: int
    configuration: Mapping[str, Any]
    seed: int
    saved_at: str
    versions: Mapping[str, str] = field(default_factory=versions)

    @property
    def next_offset(self) -> int:
        """The position, if one partition is learned, else the sum of all: it only ever grows."""
        return sum(self.positions.values())

    @property
    def configuration_hash(self) -> str:
        """SHA-256 of the configuration as JSON with sorted keys."""
        return hashlib.sha256(json.dumps(self.configuration, sort_keys=True).encode()).hexdigest()


class Snapshot(NamedTuple):
    """A header, and the state it tells of."""

    header: Header
    state: StateDict

    def write(self, file: BinaryIO) -> None:
        """Write the file's contents, at no time holding all of them."""
        arrays, text = pack(self.state)
        told = _as_json(self.header)
        start = file.tell()
        file.write(_first_line(_digest(_VERSION)))  # of its length; the sum is not known yet
        content = _Hashed(file)
        with zipfile.ZipFile(cast(IO[bytes], content), "w", zipfile.ZIP_STORED) as members:
            members.writestr("header.json", json.dumps(told, indent=1))
            members.writestr("state.json", text)
            for name, array in arrays.items():
                with members.open(f"arrays/{name}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, array, allow_pickle=False)
        file.seek(start)
        file.write(_first_line(content.digest))

    @classmethod
    def from_bytes(cls, data: bytes) -> "Snapshot":
        """Read a file's contents.

        Raises
        ------
        CorruptSnapshotError
            When it is not what `write` wrote.
        SnapshotError
            When it is of another major version.

        """
        content = _checked(data)
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as file:
                told = json.loads(file.read("header.json"))
                state = unpack(_arrays(file), file.read("state.json").decode())
            header = _header(told)
        except (KeyError, TypeError, ValueError, StateError, zipfile.BadZipFile) as error:
            raise CorruptSnapshotError(f"its contents can't be read: {error}") from error
        return cls(header, state)


def _as_json(header: Header) -> dict[str, Any]:
    told = asdict(header)
    if len(header.positions) == 1:  # as release 0.1.0 wrote it, and reads it
        (told["partition"],) = header.positions
    return {
        **told,
        "next_offset": header.next_offset,
        "configuration_hash": header.configuration_hash,
    }


def _header(told: dict[str, Any]) -> Header:
    # Release 0.1.0 knew one partition, and no positions.
    positions = told.get("positions") or {told["partition"]: told["next_offset"]}
    told["positions"] = {int(partition): offset for partition, offset in positions.items()}
    return Header(**{each.name: told[each.name] for each in fields(Header)})


class _Hashed:
    """A file that can only be appended to, and knows the checksum of what was."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.digest = _digest(_VERSION)

    def write(self, data: bytes) -> int:
        self.digest.update(data)
        return self._file.write(data)

    def flush(self) -> None:
        self._file.flush()


def _first_line(digest: "hashlib._Hash") -> bytes:
    return b"%s%s sha256:%s\n" % (_MAGIC, _VERSION.encode(), digest.hexdigest().encode())


def _digest(version: str) -> "hashlib._Hash":
    """Begin a checksum, of which the version is part: no bit of the file is without a guard."""
    return hashlib.sha256(version.encode())


def _checked(data: bytes) -> bytes:
    """Return what follows the first line, if that line promises it."""
    first, newline, content = data.partition(b"\n")
    if not newline or len(first) > _LONGEST_FIRST_LINE or not first.startswith(_MAGIC):
        raise CorruptSnapshotError("it does not begin like a snapshot")
    try:
        number, checksum = first.removeprefix(_MAGIC).decode("ascii").split(" ")
        major, _ = (int(part) for part in number.split("."))
    except ValueError:
        raise CorruptSnapshotError("its first line can't be read") from None
    if major != MAJOR:
        raise SnapshotError(
            f"its format has version {number}, and iln_stream {version('iln-stream')} reads "
            f"{MAJOR}.x"
        )
    digest = _digest(number)
    digest.update(content)
    if checksum != f"sha256:{digest.hexdigest()}":
        raise CorruptSnapshotError("its checksum is not that of its contents")
    return content


def _arrays(file: zipfile.ZipFile) -> dict[str, NDArray[Any]]:
    found = {}
    for path in file.namelist():
        if path.startswith("arrays/"):
            with file.open(path) as member:
                name = path.removeprefix("arrays/").removesuffix(".npy")
                found[name] = np.lib.format.read_array(member, allow_pickle=False)
    return found
