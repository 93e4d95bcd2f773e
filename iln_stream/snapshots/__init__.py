"""Snapshots: a learner's state and its position in the log, in one file, written atomically."""

from iln_stream.snapshots.checkpoint import Checkpoint, Positions, Saver
from iln_stream.snapshots.file import (
    HISTORY,
    LABELS,
    CorruptSnapshotError,
    Header,
    Snapshot,
    versions,
)
from iln_stream.snapshots.folder import SnapshotFolder, SnapshotId, read_snapshot
from iln_stream.snapshots.learner import is_pickle, learner_of, learner_state
from iln_stream.snapshots.loading import learner_at, load, read_keys, save, snapshot_at

__all__ = [
    "HISTORY",
    "LABELS",
    "Checkpoint",
    "CorruptSnapshotError",
    "Header",
    "Positions",
    "Saver",
    "Snapshot",
    "SnapshotFolder",
    "SnapshotId",
    "is_pickle",
    "learner_at",
    "learner_of",
    "learner_state",
    "load",
    "read_keys",
    "read_snapshot",
    "save",
    "snapshot_at",
    "versions",
]
