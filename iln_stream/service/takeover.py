"""Whether a reader without snapshots may take over the learner of another reader."""

import re
from pathlib import Path

from iln_stream.errors import RefusedError
from iln_stream.service.readers import Reader
from iln_stream.snapshots import SnapshotFolder


def predecessor(folder: Path, stream: str, reader: Reader) -> SnapshotFolder | None:
    """Return the snapshots of the learner to take over; None: there is none.

    If a topic grew from one partition to several, the learner of the one partition continues as the
    learner of all.

    Parameters
    ----------
    folder
        Folder that holds the folders of all readers.
    stream
        Name of the log.
    reader
        Reader without snapshots.

    Raises
    ------
    RefusedError
        When other readers have learned some of its partitions: a new learner would learn and
        publish those records again.

    """
    if reader.horizon is not None:  # it began with its horizon, and has the name of it
        return None
    others = sorted(
        path
        for path in folder.glob(f"{stream}-*")
        if any(path.glob("*.snapshot")) and _shares(path.name.removeprefix(f"{stream}-"), reader)
    )
    if not others:
        return None
    single = all(path.name.removeprefix(f"{stream}-").isdecimal() for path in others)
    if len(others) == 1 and single and len(reader.partitions) > 1:
        return SnapshotFolder(others[0])
    per = "partition" if single else "topic"
    names = ", ".join(path.name for path in others)
    raise RefusedError(
        f"snapshots: {folder} holds learners of some of these partitions ({names}), and this run "
        f"would learn those records again: resume these learners (--learner-per {per}, or their "
        "--partitions), or choose another folder"
    )


def _shares(name: str, reader: Reader) -> bool:
    """Whether the reader of this name is another one that shares partitions with `reader`."""
    if name == reader.name:
        return False
    if name == "all":
        return True
    if not re.fullmatch(r"\d+(\+\d+)*", name):  # the name of another topic with the same prefix
        return False
    return not set(map(int, name.split("+"))).isdisjoint(reader.partitions)
