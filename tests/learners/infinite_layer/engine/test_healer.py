"""Every part heals: each array of a learner's state is poisoned in turn."""

import copy
import warnings
from functools import cache

import numpy as np
import pytest
from support.poisons import one_of_each_part, poisons
from support.states import same

from iln_stream.errors import IlnWarning
from iln_stream.kernels.columns import CHANGED_AT, N_ROWS
from iln_stream.learners.infinite_layer.accurate import RANDOM, AccurateEngine
from iln_stream.learners.infinite_layer.part import EVERY, QUIET
from iln_stream.learners.infinite_layer.single_ridge import SingleRidgeEngine
from iln_stream.learners.restoring import random_key
from iln_stream.state import all_finite, from_bytes, to_bytes

N, LATER, LAST = 1_030, 3_000, 500
"""Events before the poison, after it, and those whose error counts. At 1,030 a candidate
is trained."""

SOON = 1_200
"""After so many events, `accurate` has healed. A single ridge takes up to LATER."""


def accurate():
    return AccurateEngine(256, random_key(1))


def single(resampled=True):
    return SingleRidgeEngine(
        RANDOM[0], 64, 0.1, 2.0, resampled=resampled, max_columns=256, key=random_key(1)
    )


MAKERS = {"accurate": accurate, "ridge": single, "fixed-ridge": lambda: single(resampled=False)}


@cache
def events(n=N + LATER):
    """Events whose target is far from 0, and which often lack an input."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    y = 50.0 + 10.0 * (np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=n))
    rows = [dict(zip("abc", x, strict=True)) for x in (20.0 + X).tolist()]
    for x in rows[5::10]:
        del x["c"]
    return list(zip(rows, y.tolist(), strict=True))


def errors(engine, some):
    """The |error| of each prediction, made before its target was learned."""
    found = []
    for x, y in some:
        prediction = engine.predict(x)
        assert np.isfinite(prediction)
        found.append(abs(prediction - y))
        engine.learn(x, y)
    return np.array(found)


@cache
def taught(name):
    engine = MAKERS[name]()
    errors(engine, events()[:N])
    return engine


@cache
def without_poison(name):
    """The mean error of the last events."""
    return errors(copy.deepcopy(taught(name)), later(name))[-LAST:].mean()


def later(name):
    return events()[N:][: SOON if name == "accurate" else LATER]


def arrays(engine):
    return [field for field, array in engine.floats() if array.size]


def poisoned(name, field, value, whole):
    engine = copy.deepcopy(taught(name))
    array = dict(engine.floats())[field]
    if whole:
        array[:] = value
    else:
        array.flat[0] = value
    return engine


def renewed(name, field):
    """Whether these values are replaced by new ones before an inspection finds the fault.

    The candidate is that of `dense`, which it then replaces; if broken, it is trained again.
    """
    if name == "fixed-ridge":  # its memory holds one event
        return field.startswith(("memory.", "expert.resampler."))
    names = ("candidate.", "losses", "stats", "scale", "metric", "encoding", "bank.record")
    return any(f"{each}" in field for each in names)


def cases():
    """All arrays of `accurate`, which has the parts of the others, and one of each of these."""
    for name in MAKERS:
        fields = arrays(taught(name))
        for poison in poisons(fields if name == "accurate" else one_of_each_part(fields)):
            yield name, *poison


@pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")
@pytest.mark.parametrize(("name", "field", "value", "whole"), list(cases()))
def test_heals(name, field, value, whole):
    """Whatever is poisoned, predictions stay finite, and are soon nearly as good as without."""
    engine = poisoned(name, field, value, whole)
    found = errors(engine, later(name))
    assert all(all_finite(array) for _, array in engine.floats())
    assert sum(engine.resets.values()) > 0 or renewed(name, field)
    assert found[-LAST:].mean() < 1.2 * without_poison(name)


@pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")
def test_algorithm_1_heals():
    """Its run begins anew."""
    engine = copy.deepcopy(taught("accurate"))
    engine.first_order.learn_row(np.full(5, np.nan), 0.5)
    errors(engine, events()[N:][:100])
    assert engine.resets["first-order"] == 1
    assert 0.0 < engine.first_order.alpha_l1 < np.inf


@pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")
@pytest.mark.parametrize("field", one_of_each_part(arrays(taught("accurate"))))
def test_saved_while_it_heals(field):
    """Written as bytes while parts are being rebuilt, and read back, it goes on bit for bit."""
    engine, some = poisoned("accurate", field, np.nan, whole=False), events()[N:]
    errors(engine, some[:5])
    twin = accurate()
    twin.restore(from_bytes(to_bytes(engine.state())))
    assert (errors(engine, some[5:200]) == errors(twin, some[5:200])).all()
    assert same(engine.state(), twin.state())


@pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")
def test_predicting_heals_nothing():
    """A prediction changes no state, also if it shows a fault; so a replay gives the same state."""
    engine = poisoned("accurate", "target.stats", np.nan, whole=True)
    before = engine.state()
    assert np.isfinite(engine.predict(events()[N][0]))
    assert same(engine.state(), before)


@pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")
@pytest.mark.parametrize("part", ["inputs", "target"])
@pytest.mark.parametrize("row", [*range(0, N_ROWS, 5), CHANGED_AT])
def test_each_row_of_the_statistics(part, row):
    """Whichever statistic of an input or of the target is lost, no learning fails meanwhile."""
    engine = copy.deepcopy(taught("accurate"))
    stats = getattr(engine, part).stats
    stats[row] = np.nan
    errors(engine, events()[N:][:EVERY])
    assert all_finite(stats)


@pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")
def test_only_the_broken_expert_is_rebuilt():
    """The others keep their weights; while it is trained on the memory, its prediction is that of
    the mixture, and it ends as good as before.
    """
    engine, some = copy.deepcopy(taught("accurate")), events()[N:]
    bank = engine.ridges.bank
    before, drawn_at = bank.theta.copy(), bank.drawn_at.copy()
    bank.theta[1] = np.nan
    engine.learn(*some[0])
    assert np.abs(bank.theta[[0, 2]] - before[[0, 2]]).max() < 0.1
    assert np.array_equal(engine.ridges.asleep, [False, True, False])
    errors(engine, some[1:60])
    assert engine.ridges.asleep is False
    assert bank.drawn_at[1] > drawn_at[1]
    assert bank.record[1, 0] > N
    assert engine.resets == dict.fromkeys(engine.resets, 0) | {"ridges": 1}


@pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")
def test_rebuilt_after_the_memory_has_lost_history():
    """An expert without weights takes any candidate, even one that is worse than the expert was;
    else it would sleep for ever.
    """
    engine, some = copy.deepcopy(taught("ridge")), events()[N:]
    errors(engine, some[:1_600])
    engine.ridges.bank.theta[:] = np.nan
    errors(engine, some[1_600:1_700])
    assert engine.ridges.asleep is False
    assert engine.ridges.bank.drawn_at[0] > N + 1_600


@pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")
def test_a_broken_candidate_is_trained_again():
    """It never takes over, and its expert does not lose its turn."""
    engine = poisoned("ridge", "expert.resampler.candidate.theta", np.nan, whole=False)
    found = errors(engine, events()[N : N + 60])
    assert engine.resets["dense"] == 0
    assert engine.ridges.bank.drawn_at[0] > N + 20
    assert np.isfinite(found).all()


@pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")
@pytest.mark.parametrize(
    ("field", "part"),
    [
        ("expert.ridges.bank.theta", "ridges"),
        ("expert.linear.theta", "linear"),
        ("expert.forgetting-rls.theta", "forgetting-rls"),
    ],
)
def test_predictions_out_of_all_bounds(field, part):
    """Finite weights that predict 1e9 units would be clipped to the fence for ever."""
    engine = poisoned("accurate", field, 1e9, whole=True)
    found = errors(engine, events()[N : N + 300])
    assert engine.resets[part] == 1
    assert found.mean() < 3 * without_poison("accurate")


def test_a_fault_that_no_prediction_shows():
    """It is found by the next inspection of its share, whatever array has it."""
    engine = copy.deepcopy(taught("accurate"))
    engine.drift_means.record[1] = np.nan
    some = events()[N:]
    errors(engine, some[: EVERY - 1 - N % EVERY])
    assert engine.resets["drift"] == 0
    with pytest.warns(IlnWarning, match=r"drift was not finite"):
        engine.learn(*some[EVERY - 1 - N % EVERY])
    assert engine.resets["drift"] == 1
    assert np.isfinite(engine.drift)


def test_warnings_are_no_flood():
    """A part that breaks at each event is warned of once in 1,024 events, and counted each time."""
    engine = copy.deepcopy(taught("accurate"))
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        for x, y in events()[N:][: 2 * QUIET]:
            engine.expert.rule.table[:] = np.nan
            engine.learn(x, y)
    assert len(given) == 2
    assert engine.resets["mixture-rule"] == 2 * QUIET


@pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")
def test_extreme_values_break_nothing():
    """The largest inputs and targets that are allowed overflow no statistics and no square."""
    engine = accurate()
    rng = np.random.default_rng(1)
    for _ in range(400):
        size = 10.0 ** rng.choice([-150, 0, 150])
        x = {name: float(size * rng.normal()) for name in "ab"}
        y = float(np.clip(rng.normal() * 10.0 ** rng.choice([-150, 0, 150]), -1e150, 1e150))
        assert np.isfinite(engine.predict(x))
        assert np.isfinite(engine.interval(x, 0.9)).all()
        engine.learn(x, y)
    assert sum(engine.resets.values()) == 0
    assert all(all_finite(array) for _, array in engine.floats())
