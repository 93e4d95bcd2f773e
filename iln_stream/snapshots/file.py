"""The format of a snapshot: a line with version and checksum, a line with the header, the state.

The header is JSON, the state is in the format of `iln_stream.state`. Blocks, arrays that
never change, may be in files of their own, which the header lists.
"""

import hashlib
import json
import platform
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cache
from importlib.metadata import version
from typing import IO, Any, BinaryIO, NamedTuple, cast

from numpy.typing import NDArray

from iln_stream.errors import SnapshotError, StateError
from iln_stream.kernels.cpu import cpu_baseline
from iln_stream.state import ArrayBlock, StateDict, from_bytes, pack, write_packed
from iln_stream.streams import StreamPartition, as_texts

MAJOR, MINOR = 3, 0
"""Of the format. A reader takes any minor version of its own major version, and of 2, which
numbered the partitions."""

_MAJORS = (2, MAJOR)
_VERSION = f"{MAJOR}.{MINOR}"
_MAGIC = b"iln-stream snapshot "
_LONGEST_FIRST_LINE = 200
_RECORDED = ("iln-stream", "numpy", "numba", "river")


LABELS = "labels"
"""Entry of a configuration that describes the log of labels, if there is one."""

HISTORY = "history"
"""Entry of a configuration that describes the files that were learned before the log."""


class CorruptSnapshotError(SnapshotError):
    """The file is not what was written."""


@cache
def versions() -> dict[str, str]:
    """Return the versions of Python and the libraries, on which bit-identical replay depends."""
    return {
        "python": platform.python_version(),
        **{name: version(name) for name in _RECORDED},
        "libc": " ".join(platform.libc_ver()).strip() or platform.system(),  # its exp and log
    }


@dataclass(frozen=True)
class Header:
    """Describes a snapshot."""

    stream: str  # name of the topic
    # where a run resumes: in each partition that is learned, the offset after the last record that
    # the state includes
    positions: Mapping[StreamPartition, int]
    # the broker's id of the topic, which changes if the topic is recreated; None if unknown
    topic_id: str | None
    n_partitions: int  # number of partitions of the topic
    epoch: int  # number of the run that wrote the snapshot; a later run has a higher number
    configuration: Mapping[str, Any]  # the settings that, with the log, determine the state
    seed: int  # the learner's seed, derived from the setting and the partition
    saved_at: str  # time of the snapshot, in RFC 3339; nothing depends on it
    # versions of Python and the libraries that wrote it
    versions: Mapping[str, str] = field(default_factory=versions)
    # the id of the topic of labels; None if unknown, or if there is none
    labels_topic_id: str | None = None
    # Of the process that wrote it; without one, "native" and the CPU. See `iln_stream.kernels.cpu`.
    cpu_baseline: str = field(default_factory=cpu_baseline)
    # the offset before which a rebuild has read each partition again; empty: there was none
    rebuilt: Mapping[StreamPartition, int] = field(default_factory=dict)
    # the offset before which the journal had the order of each partition; empty: there was none
    ordered: Mapping[StreamPartition, int] = field(default_factory=dict)
    # digests of the user's modules that the learner depends on, by name
    code: Mapping[str, str] = field(default_factory=dict)
    order_id: str = ""  # the journal's; empty: there was none, or it had none

    @property
    def next_offset(self) -> int:
        """The position, or the sum of those of several partitions; it never decreases."""
        return sum(self.positions.values())

    @property
    def configuration_hash(self) -> str:
        """SHA-256 of the configuration as JSON with sorted keys."""
        return hashlib.sha256(json.dumps(self.configuration, sort_keys=True).encode()).hexdigest()

    def as_json(self) -> dict[str, Any]:
        """Return all fields as JSON values."""
        return {
            **asdict(self),
            "positions": as_texts(self.positions),
            "rebuilt": as_texts(self.rebuilt),
            "ordered": as_texts(self.ordered),
            "next_offset": self.next_offset,
            "configuration_hash": self.configuration_hash,
        }


class Stored(NamedTuple):
    """What is known of a stored snapshot beside its state."""

    header: Header
    n_bytes: int  # size of its file; with its new blocks, if this process stored it
    # time to store it, including the flushes; None: another process stored it
    seconds: float | None


class Snapshot(NamedTuple):
    """A state and the header that describes it."""

    header: Header
    state: StateDict

    def write(self, file: BinaryIO, store: Callable[[ArrayBlock], str] | None = None) -> None:
        """Write the file's contents without holding all of them in memory.

        `store` stores a block in a file of its own and returns its name; None: blocks are written
        to this file.
        """
        write_container(file, self.header.as_json(), self.state, store)

    @classmethod
    def from_bytes(
        cls, data: bytes, load: Callable[[str], NDArray[Any]] | None = None
    ) -> "Snapshot":
        """Read a file's contents, and its blocks by `load`.

        Raises
        ------
        CorruptSnapshotError
            When it is not what `write` wrote, or a block can't be loaded.
        SnapshotError
            When it is of another major version.

        """
        header, state = read_container(data, load)
        return cls(header_of(header), state)


def write_container(
    file: BinaryIO,
    header: Mapping[str, Any],
    state: StateDict,
    store: Callable[[ArrayBlock], str] | None = None,
) -> None:
    """Write a header and a state, as `Snapshot.write` does."""
    blocks: dict[str, None] = {}

    def stored(block: ArrayBlock) -> str:
        assert store is not None
        name = store(block)
        blocks[name] = None
        return name

    packed = pack(state, None if store is None else stored)
    start = file.tell()
    file.write(_first_line(_digest(_VERSION)))  # to be overwritten by one of the same length
    content = _Hashed(file)
    content.write(json.dumps({**header, "blocks": list(blocks)}).encode() + b"\n")
    write_packed(*packed, cast(IO[bytes], content))
    file.seek(start)
    file.write(_first_line(content.digest))


def read_container(
    data: bytes, load: Callable[[str], NDArray[Any]] | None = None
) -> tuple[dict[str, Any], StateDict]:
    """Return the header and the state in a file's contents; see `Snapshot.from_bytes`."""
    header, _, state = _checked(data).partition(b"\n")
    try:
        return json.loads(header), from_bytes(state, load)
    except (KeyError, TypeError, ValueError, StateError) as error:
        raise CorruptSnapshotError(f"its contents can't be read: {error}") from error


def read_header(file: BinaryIO) -> dict[str, Any]:
    """Return the header of a file of a known format, without checking the file.

    Raises
    ------
    CorruptSnapshotError
        When it can't be read.

    """
    first, header = file.readline(_LONGEST_FIRST_LINE), file.readline()
    try:
        if not first.startswith((_MAGIC + b"2.", _MAGIC + b"3.")):
            raise ValueError("it is of another format")
        return dict(json.loads(header))
    except (TypeError, ValueError) as error:
        raise CorruptSnapshotError(f"its header can't be read: {error}") from error


def header_of(stored: dict[str, Any]) -> Header:
    """Return the header of a snapshot from its JSON values.

    Raises
    ------
    CorruptSnapshotError
        When it can't be read.

    """

    def read(positions: Mapping[str, int]) -> dict[StreamPartition, int]:
        return {StreamPartition.read(text, streams): offset for text, offset in positions.items()}

    if "published_at" in stored:
        raise CorruptSnapshotError(
            "it is a published version; iln-stream versions FOLDER lists these"
        )
    try:
        configuration = stored["configuration"]
        streams = [stored["stream"]]
        if (labels := configuration.get(LABELS)) is not None:
            streams.append(labels["stream"])
        stored["positions"] = read(stored["positions"])
        for name in ("rebuilt", "ordered"):
            stored[name] = read(stored.get(name, {}))  # release 0.2.0 stored none
        stored = {"code": {}, "order_id": "", **stored}
        if (history := configuration.get(HISTORY)) is not None:
            history["start"] = as_texts(read(history["start"]))
        return Header(**{each.name: stored[each.name] for each in fields(Header)})
    except (IndexError, KeyError, TypeError, ValueError) as error:
        raise CorruptSnapshotError(f"its header can't be read: {error}") from error


class _Hashed:
    """A file to append to, with the checksum of its content."""

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
    """Begin a checksum, which includes the version, so that it covers every bit of the file."""
    return hashlib.sha256(version.encode())


def _checked(data: bytes) -> bytes:
    """Return the content after the first line; check its sum."""
    first, newline, content = data.partition(b"\n")
    if not newline or len(first) > _LONGEST_FIRST_LINE or not first.startswith(_MAGIC):
        raise CorruptSnapshotError("it does not begin like a snapshot")
    try:
        number, checksum = first.removeprefix(_MAGIC).decode("ascii").split(" ")
        major, _ = (int(part) for part in number.split("."))
    except ValueError:
        raise CorruptSnapshotError("its first line can't be read") from None

    def is_whole(number: str) -> bool:
        digest = _digest(number)
        digest.update(content)
        return checksum == f"sha256:{digest.hexdigest()}"

    if major not in _MAJORS:
        minor = number.partition(".")[2]
        if any(is_whole(f"{known}.{minor}") for known in _MAJORS):
            raise CorruptSnapshotError(f"its format, {number}, is not what was written")
        raise SnapshotError(
            f"its format is {number}, and release {version('iln-stream')} "
            f"reads 2.x and {MAJOR}.x: use the release that wrote it"
        )
    if not is_whole(number):
        raise CorruptSnapshotError("its checksum is not that of its contents")
    return content
