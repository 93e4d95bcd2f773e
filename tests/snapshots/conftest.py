"""What these files share."""

import dataclasses

import numpy as np
import pytest

from iln_stream.snapshots import Header, Snapshot
from iln_stream.streams import StreamPartition

HEADER = Header(
    stream="events",
    positions={StreamPartition("events", 3): 1042},
    topic_id="1b4e28ba-2fa1-11d2-883f-0016d3cca427",
    n_partitions=4,
    epoch=7,
    configuration={"learner": "pool", "learner_options": {"size": 64}},
    seed=2**63 + 5,
    saved_at="2026-01-31T12:00:00.000+00:00",
)


@pytest.fixture
def path(tmp_path):
    """Where a learner's versions are published."""
    return tmp_path / "models" / "events-all.model"


@pytest.fixture
def make():
    """Makes a snapshot; its header's fields can be given."""

    def make(next_offset=None, **fields):
        if next_offset is not None:
            fields["positions"] = {StreamPartition("events", 3): next_offset}
        state = {
            "learner": {"alpha": np.arange(5.0) / 3, "n": 12, "rate": float("inf")},
            "counts": {"loss": 0.1 + 0.2, "window": [1.0, float("nan")]},
            "recent_ids": None,
        }
        return Snapshot(dataclasses.replace(HEADER, **fields), state)

    return make
