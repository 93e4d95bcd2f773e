"""Snapshots of a run, to compare to the last bit."""

import io
import pickle
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from iln_stream.snapshots import Header, SnapshotFolder
from iln_stream.state import pack

Bits = dict[str, bytes]
"""Arrays by their paths, and the rest as JSON by an empty path."""


class Saved(NamedTuple):
    """The newest snapshot of a partition: its header, and its state as bytes."""

    header: Header
    state: dict[str, Any]
    learner: Bits
    n_events: int
    n_labelled: int
    n_dead_letters: int

    @property
    def bits(self) -> dict[str, Bits]:
        """Every part of the state, by its name."""
        return {name: bits_of({"": part}) for name, part in self.state.items()}


def saved(folder: Path, topic: str, partition: int | str = 0) -> Saved:
    """Return the newest snapshot below `folder`; fail if there is none."""
    snapshot = SnapshotFolder(folder / f"{topic}-{partition}").newest()
    assert snapshot is not None, f"no snapshot of {topic} in {folder}"
    learner = snapshot.state["learner"]
    for each in (learner, *(one["learner"] or {} for one in learner.get("contenders", ()))):
        if "pickle" in each:
            each["pickle"] = _without_references(each["pickle"])
    counts = snapshot.state["counts"]
    return Saved(
        snapshot.header,
        snapshot.state,
        bits_of(snapshot.state["learner"]),
        counts["scores"]["n_events"],
        counts["scores"]["n_labelled"],
        counts["n_dead_letters"],
    )


def bits_of(state: dict[str, Any]) -> Bits:
    """Return a state as bytes."""
    arrays, text = pack(state)
    return {name: array.tobytes() for name, array in arrays.items()} | {"": text.encode()}


def _without_references(pickled: np.ndarray) -> np.ndarray:
    """Pickle again without references: which equal strings are one object is no part of a state."""
    file = io.BytesIO()
    pickler = pickle.Pickler(file)
    pickler.fast = True
    pickler.dump(pickle.loads(pickled.tobytes()))
    return np.frombuffer(file.getvalue(), np.uint8)
