"""Snapshots of a run, to compare to the last bit."""

import io
import math
import pickle
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from iln_stream.kernels.aggregates import NEWEST
from iln_stream.learners.keyed import KeyFile
from iln_stream.service.settings import seconds_of
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
    own = folder / f"{topic}-{partition}"
    snapshot = SnapshotFolder(own).newest()
    assert snapshot is not None, f"no snapshot of {topic} in {folder}"
    aggregates = (snapshot.state["decoder"] or {}).get("aggregates", {"groups": []})
    in_files = [group for group in aggregates["groups"] if "file" in group["keys"]]
    span = (snapshot.header.configuration.get("fields") or {}).get("forget_keys_after")
    for number, group in enumerate(in_files, 1):
        stored, size = group["keys"], len(group["of_all"])
        kept = states_of_keys(own / f"aggregates-{number}.db", stored, size)
        # When a forgotten key leaves the file depends on the checkpoints.
        oldest = -math.inf if span is None else aggregates["clock"] - seconds_of(span)
        group["keys"] = {key: row for key, row in kept.items() if row[NEWEST] >= oldest}
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


def states_of_keys(
    path: Path, stored: dict[str, Any], size: int | None = None
) -> dict[str, np.ndarray]:
    """Return the states of all keys as of a snapshot, which has this to say of their file."""
    since, generation = stored["since"], stored["generation"]
    with closing(KeyFile(path)) as file:
        states = {
            key: row
            for key in file.keys()  # noqa: SIM118
            if (row := file.read(key, since, generation, size)) is not None
        }
    assert len(states) == stored["n_keys"]
    return dict(sorted(states.items()))


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
