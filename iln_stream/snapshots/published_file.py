"""The file of a published version: the container of a snapshot, with a header of its own.

The file is written under another name and renamed, so a reader never sees half of it. It is not
synchronised: after a crash of the machine it may be damaged, which the checksum shows, and the next
version replaces it.
"""

import io
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from iln_stream.files import open_stored, write_whole
from iln_stream.snapshots.file import (
    CorruptSnapshotError,
    read_container,
    read_header,
    write_container,
)
from iln_stream.state import StateDict
from iln_stream.streams import StreamPartition, as_texts


@dataclass(frozen=True)
class VersionHeader:
    """Describes a version."""

    version: int  # number of the version; a later one has a higher number
    published_at: float  # when the learner was captured, in POSIX seconds
    # by partition, the offset after the last record that the learner has learned
    positions: Mapping[StreamPartition, int]
    n_learned: int  # number of events learned
    task: str  # "regression" or "classification"
    learner: str  # the learner's name, as in the setting `learner`
    stream: str = ""  # name of the stream
    # the log's id of the topic, which changes if the topic is recreated; None if unknown
    topic_id: str | None = None
    # the settings that, with the log, determine the learner's state, as a hash
    configuration: str = ""
    # names of inputs that a run makes of earlier records: lags and rolling means
    series_inputs: tuple[str, ...] = ()
    # What to read the run's keys with: the folder of their files, and the aggregates by key. None:
    # there are no keys.
    keys: Mapping[str, Any] | None = None
    # what the run's decoder is made of, as its `described` returns it; without a mapping its
    # records are events
    decoder: Mapping[str, Any] | None = None
    # digests of the user's modules that the learner depends on, by name
    code: Mapping[str, str] = field(default_factory=dict)
    release: str = ""  # release that published it


class Identity(NamedTuple):
    """Tells one file of a name from the next."""

    inode: int
    modified: int
    size: int


class Version(NamedTuple):
    """What a file holds."""

    header: VersionHeader
    learner: StateDict
    identity: Identity


class VersionFile:
    """The file of one learner's published version.

    Its path is usually `FOLDER/NAME.model`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def identity(self) -> Identity | None:
        """Return what identifies the present file; None if there is none."""
        try:
            return _identity(self.path.stat())
        except OSError:
            return None

    def write(self, header: VersionHeader, learner: StateDict) -> Identity:
        """Replace the file.

        Raises
        ------
        OSError
            When the file system doesn't take it; the file is as it was then.

        """
        content = io.BytesIO()
        write_container(
            content, asdict(header) | {"positions": as_texts(header.positions)}, learner
        )

        def written() -> os.stat_result:
            data = content.getbuffer()
            return write_whole(self.path, lambda file: file.write(data), durably=False)

        try:
            return _identity(written())
        except FileNotFoundError:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            return _identity(written())

    def remove_partial(self) -> None:
        """Remove what processes that were killed had not finished."""
        for file in self.path.parent.glob(f"{self.path.name}.*.partial"):
            with suppress(OSError):
                file.unlink()

    def read_header(self) -> VersionHeader:
        """Return the header only, without checking the checksum.

        Raises
        ------
        FileNotFoundError
            When there is no file.
        SnapshotError
            When it can't be read.

        """
        with open_stored(self.path) as file:
            return _parsed(read_header(file))

    def read(self) -> Version:
        """Return the version in the file.

        Raises
        ------
        FileNotFoundError
            When there is no file.
        OSError
            When it can't be read; a later attempt may succeed.
        SnapshotError
            When it is not what was written, or of a newer format.

        """
        with open_stored(self.path) as file:
            identity = _identity(os.fstat(file.fileno()))
            return Version(*version_in(file.read()), identity)


def version_in(data: bytes) -> tuple[VersionHeader, StateDict]:
    """Return the header and the learner in a file's contents; errors as of `VersionFile.read`."""
    header, learner = read_container(data)
    return _parsed(header), learner


def _parsed(fields: dict[str, Any]) -> VersionHeader:
    try:
        fields["positions"] = {
            StreamPartition.read(text, []): offset for text, offset in fields["positions"].items()
        }
        fields["series_inputs"] = tuple(fields["series_inputs"])
        del fields["blocks"]
        return VersionHeader(**fields)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise CorruptSnapshotError(f"its header can't be read: {error}") from error


def _identity(found: os.stat_result) -> Identity:
    return Identity(found.st_ino, found.st_mtime_ns, found.st_size)
