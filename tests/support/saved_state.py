"""Snapshots of a run, to compare to the last bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from iln_stream.snapshots import Header, SnapshotFolder
from iln_stream.state import pack


class Saved(NamedTuple):
    """The newest snapshot of a partition: its header, and its state as bytes."""

    header: Header
    state: dict[str, Any]
    learner: dict[str, bytes]
    n_events: int
    n_labelled: int
    n_dead_letters: int


def saved(folder: Path, topic: str, partition: int | str = 0) -> Saved:
    """Return the newest snapshot below `folder`; fail if there is none."""
    snapshot = SnapshotFolder(folder / f"{topic}-{partition}").newest()
    assert snapshot is not None, f"no snapshot of {topic} in {folder}"
    arrays, text = pack(snapshot.state["learner"])
    learner = {name: array.tobytes() for name, array in arrays.items()}
    counts = snapshot.state["counts"]
    return Saved(
        snapshot.header,
        snapshot.state,
        {**learner, "": text.encode()},
        counts["scores"]["n_events"],
        counts["scores"]["n_labelled"],
        counts["n_dead_letters"],
    )
