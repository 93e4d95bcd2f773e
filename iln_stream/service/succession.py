"""Whose learner a reader may take over: of one partition, one over all; of others, none."""

import re
from pathlib import Path

from iln_stream.errors import RefusedError
from iln_stream.service.readers import Reader
from iln_stream.snapshots import SnapshotFolder


def predecessor(folder: Path, stream: str, reader: Reader) -> SnapshotFolder | None:
    """Return the snapshots that a reader without any of its own resumes from, None if it has none.

    A topic that had one partition and has several now is learned on by one learner over all.

    Parameters
    ----------
    folder
        Where the folders of all readers are.
    stream
        Name of the log.
    reader
        The one that has no snapshots.

    Raises
    ------
    RefusedError
        When other readers have learned some of its partitions: beginning a new learner beside them
        would learn and publish again what they did.

    """
    others = sorted(
        path
        for path in folder.glob(f"{stream}-*")
        if any(path.glob("*.snapshot")) and _shares(path.name.removeprefix(f"{stream}-"), reader)
    )
    if not others:
        return None
    single = others[0].name.removeprefix(f"{stream}-").isdecimal()
    if len(others) == 1 and single and len(reader.partitions) > 1:
        return SnapshotFolder(others[0])
    names = ", ".join(path.name for path in others)
    raise RefusedError(
        f"snapshots: {folder} holds learners of some of these partitions ({names}), which this run "
        "would learn again from the beginning: go on with those (--learner-per partition, or their "
        "--partitions), or give this run another folder"
    )


def _shares(name: str, reader: Reader) -> bool:
    """Tell whether a reader of another name reads some of the same partitions."""
    if name == reader.name:
        return False
    if name == "all":
        return True
    if not re.fullmatch(r"\d+(\+\d+)*", name):  # a topic whose name begins alike
        return False
    return not set(map(int, name.split("+"))).isdisjoint(reader.partitions)
