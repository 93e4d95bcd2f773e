"""Every part of the classifier heals: each array of its state is poisoned in turn."""

import copy
import warnings
from functools import cache

import numpy as np
import pytest
from support.poisons import one_of_each_part, poisons
from support.states import same

from iln_stream.errors import IlnWarning
from iln_stream.kernels.columns import CHANGED_AT, N_ROWS
from iln_stream.learners.infinite_layer.classes import ClassificationEngine
from iln_stream.learners.infinite_layer.part import EVERY, QUIET
from iln_stream.learners.restoring import random_key
from iln_stream.state import all_finite, from_bytes, to_bytes

N, LATER, LAST = 1_030, 1_400, 500
"""Events before the poison, after it, and those whose error counts. At 1,030 a candidate
is trained."""


def made():
    return ClassificationEngine(256, random_key(1))


@cache
def events(n_classes, n=N + LATER):
    """Events of a function with noise, cut into classes of unequal size; many lack an input."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    value = np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=n)
    y = np.searchsorted([0.5] if n_classes == 2 else [-0.7, 0.7], value)
    rows = [dict(zip("abc", x, strict=True)) for x in (20.0 + X).tolist()]
    for x in rows[5::10]:
        del x["c"]
    return list(zip(rows, [f"class {label}" for label in y], strict=True))


def errors(engine, some):
    """1 minus the probability of each class, predicted before it was learned."""
    found = []
    for x, y in some:
        p = engine.predict(x)
        assert np.isfinite(list(p.values())).all()
        assert min(p.values(), default=0.0) >= 0.0
        assert not p or sum(p.values()) == pytest.approx(1.0)
        found.append(1.0 - p.get(y, 0.0))
        engine.learn(x, y)
    return np.array(found)


@cache
def taught(n_classes):
    engine = made()
    errors(engine, events(n_classes)[:N])
    return engine


@cache
def without_poison():
    """The mean error of the last events."""
    return errors(copy.deepcopy(taught(2)), events(2)[N:])[-LAST:].mean()


def arrays(n_classes):
    return [field for field, array in taught(n_classes).floats() if array.size]


def poisoned(n_classes, field, value, whole):
    engine = copy.deepcopy(taught(n_classes))
    array = dict(engine.floats())[field]
    if whole:
        array[:] = value
    else:
        array.flat[0] = value
    return engine


RENEWED = (
    "candidate.", "resampler.losses", "resampler.scale", "resampler.stats", "ring.encoding",
    "bank.record",
)  # fmt: skip
"""In the names of fields whose values are replaced before an inspection finds the fault; a broken
candidate is trained again."""


@pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")
@pytest.mark.parametrize(("field", "value", "whole"), list(poisons(arrays(2))))
def test_heals(field, value, whole):
    """Whatever is poisoned, predictions stay probabilities, and are soon as good as without."""
    engine = poisoned(2, field, value, whole)
    found = errors(engine, events(2)[N:])
    assert all(all_finite(array) for _, array in engine.floats())
    assert sum(engine.resets.values()) > 0 or any(name in field for name in RENEWED)
    assert found[-LAST:].mean() < 1.15 * without_poison()


def test_all_parts_have_arrays_here():
    """Each part of the state that has numbers is one that heals."""
    names = {field.split(".")[0] for field in arrays(2)}
    assert {name.replace("_", "-") for name in names} == taught(2).resets.keys()


@pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")
@pytest.mark.parametrize("field", one_of_each_part(arrays(3)))
def test_saved_while_it_heals(field):
    """Written as bytes while parts are being rebuilt, and read back, it goes on bit for bit."""
    engine, some = poisoned(3, field, np.nan, whole=False), events(3)[N:]
    errors(engine, some[:5])
    twin = made()
    twin.restore(from_bytes(to_bytes(engine.state())))
    assert (errors(engine, some[5:200]) == errors(twin, some[5:200])).all()
    assert same(engine.state(), twin.state())


@pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")
@pytest.mark.parametrize("field", arrays(2))
def test_new_columns_and_classes_while_broken(field):
    """The event that shows the fault brings a column and a class; what heals has room for them."""
    engine = poisoned(2, field, np.nan, whole=True)
    some = [({**x, "new": 1.0}, "new" if i % 3 == 0 else y) for i, (x, y) in enumerate(events(2))]
    errors(engine, some[:EVERY])
    assert len(engine.classes) == 3
    assert all(all_finite(array) for _, array in engine.floats())


@pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")
@pytest.mark.parametrize("row", [*range(0, N_ROWS, 5), CHANGED_AT])
def test_each_row_of_the_statistics(row):
    """Whichever of an input's statistics is lost, no learning fails until it is found."""
    engine = copy.deepcopy(taught(2))
    engine.inputs.stats[row] = np.nan
    errors(engine, events(2)[N:][:EVERY])
    assert all_finite(engine.inputs.stats)


@pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")
@pytest.mark.parametrize("field", ["inputs.stats", "ridges.bank.theta", "mixture.log_weights"])
def test_predicting_heals_nothing(field):
    """A prediction, then of the frequencies, changes no state; the next event heals, predicted or
    not."""
    engine, (x, y) = poisoned(2, field, np.nan, whole=True), events(2)[N]
    twin, before = copy.deepcopy(engine), engine.state()
    shares = (engine.counts + 1.0) / (engine.counts + 1.0).sum()
    assert list(engine.predict(x).values()) == pytest.approx(shares, abs=1e-4)
    assert same(engine.state(), before)
    engine.learn(x, y)
    twin.learn(x, y)
    assert same(engine.state(), twin.state())
    assert sum(engine.resets.values()) == 1


@pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")
def test_only_the_broken_ridge_is_rebuilt():
    """The others keep their weights; until it is trained on the memory, it adopts the mixture of
    the others, which goes on as well as before."""
    engine, some = copy.deepcopy(taught(2)), events(2)[N:]
    bank = engine.bank
    before, drawn_at = bank.theta.copy(), bank.drawn_at.copy()
    bank.theta[1] = np.nan
    engine.learn(*some[0])
    assert np.abs(bank.theta[[0, 2]] - before[[0, 2]]).max() < 0.1
    assert np.array_equal(engine.ridges.asleep, [False, True, False])
    engine.predict(some[1][0])
    assert engine._experts[1] == pytest.approx(engine._mixtures[0], rel=1e-3)
    errors(engine, some[1:60])
    assert engine.ridges.asleep is False
    assert bank.drawn_at[1] > drawn_at[1]
    assert engine.resets == dict.fromkeys(engine.resets, 0) | {"ridges": 1}


@pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")
@pytest.mark.parametrize(
    ("field", "part"),
    [
        ("ridges.bank.theta", "ridges"),
        ("linear.theta", "linear"),
        ("naive_bayes.mean", "naive-bayes"),
        ("networks.net-smooth.parameters", "networks"),
        ("correction.weights", "correction"),
        ("mixture.log_weights", "mixture"),
    ],
)
def test_predictions_out_of_all_bounds(field, part):
    """Numbers that are finite, but whose results are not or are beyond 1e6, are replaced, too."""
    largest = np.finfo(dict(taught(2).floats())[field].dtype).max
    engine = poisoned(2, field, largest, whole=True)
    found = errors(engine, events(2)[N : N + 300])
    assert engine.resets[part] == 1
    assert found[100:].mean() < 1.5 * without_poison()


@pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")
def test_lost_labels_of_past_events():
    """The ring begins again with the memory's events: no label is guessed."""
    engine = poisoned(3, "networks.ring.targets", np.nan, whole=True)
    some = events(3)[N:]
    errors(engine, some[: EVERY - N % EVERY])
    ring, memory = engine.networks.ring, engine.memory
    assert engine.resets["networks"] == 1
    assert len(ring) == memory.filled
    assert np.array_equal(dict(ring.floats())["targets"], memory.y[: memory.n])


@pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")
def test_no_candidate_learns_a_broken_label():
    """It would count as no class, and the finished candidate would take over with weights of 0."""
    engine = poisoned(2, "memory.y", np.inf, whole=True)
    drawn_at = engine.bank.drawn_at.copy()
    errors(engine, events(2)[N : N + 80])
    assert np.array_equal(engine.bank.drawn_at, drawn_at)


def test_warnings_are_no_flood():
    """A part that breaks at each event is warned of once in 1,024 events, and counted each time."""
    engine = copy.deepcopy(taught(2))
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        for x, y in events(2)[N:][: QUIET + 1]:
            engine.mixture.log_weights[:] = np.nan
            engine.learn(x, y)
    assert [warning.category for warning in given] == [IlnWarning] * 2
    assert "mixture was not finite" in str(given[0].message)
    assert engine.resets["mixture"] == QUIET + 1
