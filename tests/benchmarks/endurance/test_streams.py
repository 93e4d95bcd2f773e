"""The eight kinds of streams."""

from itertools import islice

import numpy as np
import pytest

from benchmarks.endurance.streams import AT_ONCE, KINDS, chunks


def taken(name, n_chunks, seed=1, first=0):
    return list(islice(chunks(name, seed, first), n_chunks))


@pytest.mark.parametrize("name", KINDS)
def test_an_event_is_a_function_of_seed_and_number(name):
    """A run that resumes meets the same events, and another seed gives others."""
    assert taken(name, 8)[6:] == taken(name, 2, first=6 * AT_ONCE)
    assert taken(name, 1) != taken(name, 1, seed=2)


@pytest.mark.parametrize("name", KINDS)
def test_events_are_plain(name):
    """Inputs and targets are finite floats, and there are three classes."""
    found = taken(name, 8)
    assert all(len(chunk.xs) == len(chunk.ys) == len(chunk.classes) == AT_ONCE for chunk in found)
    values = [value for chunk in found for x in chunk.xs for value in x.values()]
    assert np.isfinite(values).all()
    assert np.isfinite([y for chunk in found for y in chunk.ys]).all()
    assert {label for chunk in found for label in chunk.classes} <= {"low", "middle", "high"}


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if kind.stationary])
def test_stationary_streams_keep_their_law(name):
    """Targets have the same mean and standard deviation early and late."""
    early, late = (
        np.array([y for chunk in taken(name, 10, first=first) for y in chunk.ys])
        for first in (0, 900_000)
    )
    assert early.mean() == pytest.approx(late.mean(), abs=5 * early.std() / 100)
    assert early.std() == pytest.approx(late.std(), rel=0.05)


def test_still_streams_repeat_one_event():
    """5,000 events in 10,000 and 100,000 in 300,000 are one event, and its target has no noise."""
    for first, n in ((5_000, 5), (200_000, 100)):
        found = taken("still", n, first=first)
        assert {tuple(x.values()) for chunk in found for x in chunk.xs} == {
            tuple(found[0].xs[0].values())
        }
        assert len({y for chunk in found for y in chunk.ys}) == 1
    assert len(set(taken("still", 1)[0].ys)) == AT_ONCE


def test_categories_come_and_go():
    """A category's column is only in its events; some begin late, and some end."""
    seen = {
        first: {name for x in taken("one-hot", 1, first=first)[0].xs for name in list(x)[3:]}
        for first in (0, 1_000, 400_000)
    }
    assert seen[1_000] - seen[0]
    assert seen[0] - seen[400_000]
    assert seen[400_000] - seen[1_000]


def test_bursts_are_rare_and_large():
    """200 of 4,000 events are many times as large as the others."""
    sizes = np.abs([y - 50.0 for chunk in taken("bursting", 4) for y in chunk.ys])
    assert np.median(sizes[3_800:]) > 5 * sizes[:3_800].max() / 4


def test_heavy_tails_and_large_offsets():
    """Noise has outliers, one input counts events, and another lies at 1e9."""
    chunk = taken("heavy-tailed", 1)[0]
    X = np.array([list(x.values()) for x in chunk.xs])
    spread = np.abs(np.array(chunk.ys) - np.median(chunk.ys))
    assert spread.max() > 10 * np.median(spread)
    assert (np.diff(X[:, 6]) == 1.0).all()
    assert np.median(X[:, 4]) == pytest.approx(1e9, abs=1.0)
    assert X[:, 4].std() < 3.0
