import numpy as np
import pytest

from iln_stream.kernels.columns import no_statistics
from iln_stream.learners.infinite_layer.experts.networks import ReplayRing
from iln_stream.state import ArrayBlock, from_bytes, to_bytes


def filled(n, size=64, d=2, at_a_time=None):
    """A ring of events 0, 1, ...; with `at_a_time`, its state is taken that often."""
    ring = ReplayRing(size)
    ring.widen(d)
    for i in range(n):
        ring.put(np.full(d, float(i)), float(i), no_statistics(d), no_statistics(1))
        if at_a_time and i % at_a_time == 0:
            ring.state()
    return ring


def targets(ring):
    return np.concatenate([block["targets"] for block in ring.state()["events"]]).tolist()


@pytest.mark.parametrize("n", [0, 1, 64, 65, 68, 200])
def test_a_state_has_the_last_events_in_order(n):
    """From the first of a block of 4 on, at most 64 of them."""
    ring = filled(n)
    kept = targets(ring) if n else []
    assert kept == list(range(n - len(ring), n))
    assert (n - len(ring)) % 4 == 0
    assert len(ring) == n if n <= 64 else 60 < len(ring) <= 64


def test_full_blocks_are_shared_by_states():
    """Only the last block may change; the others are the same objects in the next state."""
    ring = filled(30)
    before = ring.state()["events"]
    ring.put(np.zeros(2), 0.0, no_statistics(2), no_statistics(1))
    after = ring.state()["events"]
    assert len(before) == len(after) == 8
    for one, other in zip(before[:-1], after[:-1], strict=True):
        assert isinstance(one["rows"], ArrayBlock)
        assert one["rows"] is other["rows"]
        assert one["targets"] is other["targets"]


@pytest.mark.parametrize("n", [3, 130])
def test_bytes_do_not_depend_on_when_states_were_taken(n):
    """A run that was saved often ends in the same bytes as one that never was, new columns or not;
    and a restored ring has them, too.
    """
    rings = [filled(n), filled(n, at_a_time=7)]
    for ring in rings:
        ring.widen(3)
        for i in range(10):
            ring.put(np.arange(5.0), float(i), no_statistics(5), no_statistics(1))
    quiet, saved = (to_bytes(ring.state()) for ring in rings)
    assert quiet == saved
    again = ReplayRing(64)
    again.restore(from_bytes(quiet))
    assert to_bytes(again.state()) == quiet
    for ring in (rings[0], again):
        ring.put(np.ones(5), 1.0, no_statistics(5), no_statistics(1))
    assert to_bytes(again.state()) == to_bytes(rings[0].state())
