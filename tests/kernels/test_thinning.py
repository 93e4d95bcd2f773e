import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iln_stream.kernels.supports import close_gaps, systematic, threshold

raws = st.lists(
    st.floats(-10.0, 10.0).filter(lambda v: v == 0.0 or abs(v) > 1e-3)
    | st.sampled_from([0.0, 1.0, -1.0, 1e9, 1e-9]),
    min_size=2,
    max_size=40,
).filter(lambda raw: np.count_nonzero(raw) >= 2)


def target_of(raw, data):
    """A target below the number that could stay."""
    return data.draw(st.integers(1, np.count_nonzero(raw) - 1))


@settings(deadline=None, max_examples=100)  # the first call compiles
@given(raws, st.data())
def test_as_many_are_expected_to_stay_as_wished(raw, data):
    """At the threshold the chances min(1, |raw_i| / tau) sum to the target."""
    raw = np.array(raw)
    target = target_of(raw, data)
    tau = threshold(raw, target)
    assert 0.0 < tau < np.inf
    assert np.minimum(1.0, np.abs(raw) / tau).sum() == pytest.approx(target, rel=1e-6)


@settings(deadline=None, max_examples=25)
@given(raws, st.data())
def test_each_stays_with_its_chance_and_weighs_as_much_on_average(raw, data):
    """Over 200 evenly spread starts; the number of survivors is the target, give or take one."""
    raw, n = np.array(raw), 200
    target = target_of(raw, data)
    tau = threshold(raw, target)
    stays, weighs = np.zeros(len(raw)), np.zeros(len(raw))
    for i in range(n):
        stay, new = np.full(len(raw), i % 2 == 0), raw.copy()
        systematic(new, tau, (i + 0.5) / n, stay)
        assert abs(np.count_nonzero(stay) - target) <= 1
        assert stay[np.abs(raw) >= tau].all()
        assert (np.abs(new[stay]) >= tau).all()
        stays += stay
        weighs += np.where(stay, new, 0.0)
    assert stays / n == pytest.approx(np.minimum(1.0, np.abs(raw) / tau), abs=1.5 / n)
    assert (np.abs(weighs / n - raw) <= 1.5 / n * np.maximum(tau, np.abs(raw))).all()


def test_who_is_just_large_enough():
    """A weight at the threshold or a little beyond it survives unchanged from every start."""
    for start in (0.0, 0.4, 0.999):
        raw, stay = np.array([0.5, -1.005, 1.0, 0.5]), np.zeros(4, bool)
        systematic(raw, 1.0, start, stay)
        assert raw.tolist() == [1.0, -1.005, 1.0, 1.0]
        assert stay[1:3].all()
        assert stay.sum() == 3


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=20), st.integers(0, 3))
def test_gaps_are_closed(points, first):
    """Survivors move to the front in order, with their weights; the others' slots become free."""
    n = len(points)
    stay = np.array([s for s, _ in points], bool)
    slots = np.random.default_rng(n).permutation(n)
    entry = np.full(first + n + 1, 99, np.int32)
    entry[first : first + n] = np.where([negative for _, negative in points], ~slots, slots)
    raw = np.arange(first + n + 1, dtype=float)
    entries, raws_before = entry[first : first + n].copy(), raw[first : first + n].copy()
    free = np.array([1_000, *[-1] * (n + 1)], np.int32)
    assert close_gaps(stay, first, entry, raw, free, 1) == stay.sum()
    assert entry[: stay.sum()].tolist() == entries[stay].tolist()
    assert raw[: stay.sum()].tolist() == raws_before[stay].tolist()
    assert free[: 1 + (~stay).sum()].tolist() == [1_000, *slots[~stay].tolist()]
