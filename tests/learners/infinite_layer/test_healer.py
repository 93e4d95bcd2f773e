"""Every part of an engine heals: each array of its state is poisoned in turn."""

import copy
import warnings
from functools import cache

import numpy as np
import pytest
from support.poisons import one_of_each_part, poisons
from support.states import same

from iln_stream.errors import IlnWarning
from iln_stream.kernels.columns import CHANGED_AT, N_ROWS
from iln_stream.kernels.fast import (
    DRIFT,
    EVENTS,
    HUBER_RECORD,
    KEPT,
    LAGS,
    N_FAST_LAGS,
    STEPS,
)
from iln_stream.learners.infinite_layer.accurate import RANDOM, AccurateEngine
from iln_stream.learners.infinite_layer.classes import LINEUPS, ClassificationEngine
from iln_stream.learners.infinite_layer.fast import MEMORY, FastEngine
from iln_stream.learners.infinite_layer.part import EVERY, QUIET
from iln_stream.learners.infinite_layer.single_ridge import SingleRidgeEngine
from iln_stream.learners.restoring import random_key
from iln_stream.state import all_finite, from_bytes, to_bytes

ignore_warnings = pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")

N, SHORT, LAST = 1_030, 2 * EVERY, 500
"""Events before the poison, after which it is found, and those whose error counts. At 1,030 a
candidate is trained."""


def single(*, resampled):
    key = random_key(1)
    return SingleRidgeEngine(RANDOM[0], 64, 0.1, 2.0, resampled=resampled, max_columns=256, key=key)


MAKERS = {
    "accurate": lambda: AccurateEngine(256, random_key(1)),
    "fast": lambda: FastEngine(256, random_key(1)),
    "two classes": lambda: ClassificationEngine(256, random_key(1)),
    "fast classes": lambda: ClassificationEngine(256, random_key(1), LINEUPS["fast"]),
    "three classes": lambda: ClassificationEngine(256, random_key(1)),
    "ridge": lambda: single(resampled=True),
    "fixed ridge": lambda: single(resampled=False),
}
LATER = {"accurate": 1_200, "two classes": 1_400}
"""Events after which an engine is as good as before; a single ridge takes up to 3,000."""

RENEWED = {
    "accurate": ("candidate.", "losses", "stats", "scale", "metric", "encoding", "bank.record"),
    "two classes": (
        *("candidate.", "resampler.losses", "resampler.scale", "resampler.stats"),
        *("ring.encoding", "bank.record", "trees.rows"),
    ),
    "ridge": ("candidate.", "losses", "stats", "scale", "bank.record"),
    "fixed ridge": ("memory.", "expert.resampler."),  # its memory holds one event
    "fast": (),
}
"""In the names of fields whose values are replaced before an inspection finds the fault. A broken
candidate is trained again."""


@cache
def events(name, n=N + 3_000):
    """Events whose target is far from 0, or a class, and which often lack an input."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    value = np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=n)
    rows = [dict(zip("abc", x, strict=True)) for x in (20.0 + X).tolist()]
    for x in rows[5::10]:
        del x["c"]
    y = (50.0 + 10.0 * value).tolist()
    if "classes" in name:
        bounds = [0.5] if name == "two classes" else [-0.7, 0.7]
        y = [f"class {label}" for label in np.searchsorted(bounds, value)]
    return list(zip(rows, y, strict=True))


def later(name):
    """The events after the poison."""
    return events(name)[N:]


def errors(engine, some):
    """The error of each prediction, made before its label was learned: |error|, or 1 minus the
    probability."""
    found = []
    for x, y in some:
        p = engine.predict(x)
        if isinstance(engine, ClassificationEngine):
            assert not p or sum(p.values()) == pytest.approx(1.0)
            assert min(p.values(), default=0.0) >= 0.0
            found.append(1.0 - p.get(y, 0.0))
        else:
            assert np.isfinite(p)
            found.append(abs(p - y))
        if isinstance(engine, AccurateEngine | FastEngine):
            assert np.isfinite(engine.interval(x, 0.9)).all()
        engine.learn(x, y)
    return np.array(found)


@cache
def taught(name):
    engine = MAKERS[name]()
    errors(engine, events(name)[:N])
    return engine


@cache
def without_poison(name):
    """The mean error of the last events."""
    some = later(name)[: LATER.get(name, 3_000)]
    return errors(copy.deepcopy(taught(name)), some)[-LAST:].mean()


def arrays(name):
    """Fields that have numbers, also of a candidate: one is trained after 128 events, too."""
    engine = MAKERS[name]()
    for x, y in events(name)[:131]:
        engine.learn(x, y)
    return [field for field, array in engine.floats() if array.size]


def poisoned(name, field, value=np.nan, *, whole=False):
    engine = copy.deepcopy(taught(name))
    array = dict(engine.floats())[field]
    if whole:
        array[:] = value
    else:
        array.flat[0] = value
    return engine


def of_each_part(*names):
    """One array of each part of these engines."""
    return [(name, field) for name in names for field in one_of_each_part(arrays(name))]


def some_of(cases):
    """Each third one; the others are thorough."""
    return [
        pytest.param(
            *(case if isinstance(case, tuple) else (case,)),
            marks=pytest.mark.thorough if n % 3 else (),
        )
        for n, case in enumerate(cases)
    ]


def assert_healed(engine, name, field):
    """All numbers are finite; the part was reset, or its values are replaced in any case."""
    assert all(all_finite(array) for _, array in engine.floats())
    assert sum(engine.resets.values()) > 0 or any(each in field for each in RENEWED[name])


@ignore_warnings
@pytest.mark.parametrize(
    ("name", "field", "value", "whole"),
    [
        pytest.param(name, *poison, marks=() if poison[2] and n % 3 == 0 else pytest.mark.thorough)
        for name in ("accurate", "fast", "two classes")
        for n, poison in enumerate(poisons(arrays(name)))
    ],
)
def test_every_array_heals(name, field, value, whole):
    """Whatever is poisoned is found soon, and predictions stay finite."""
    engine = poisoned(name, field, value, whole=whole)
    n = 1_100 if field == "changes.trees.rows" else SHORT  # 30,720 numbers, inspected by shares
    errors(engine, later(name)[: 3_000 if name == "fast" else n])
    assert_healed(engine, name, field)


SOME = [*of_each_part("two classes")[::24], *of_each_part("fast")]
OTHERS = [
    pytest.param(name, field, marks=pytest.mark.thorough)
    for name in ("accurate", "fast", "two classes", "ridge", "fixed ridge")
    for field in (one_of_each_part(arrays(name)) if "ridge" in name else arrays(name))
    if (name, field) not in SOME
]


@ignore_warnings
@pytest.mark.parametrize(("name", "field"), SOME + OTHERS)
def test_predictions_are_soon_as_good_as_before(name, field):
    """What was lost is learned again, from the remembered events and the later ones."""
    engine = poisoned(name, field)
    found = errors(engine, later(name)[: LATER.get(name, 3_000)])
    assert_healed(engine, name, field)
    assert found[-LAST:].mean() < 1.2 * without_poison(name)


@ignore_warnings
@pytest.mark.parametrize(
    ("name", "field"), some_of(of_each_part("accurate", "fast", "three classes", "fast classes"))
)
def test_saved_while_it_heals(name, field):
    """Written as bytes while parts are being rebuilt, and read back, it goes on bit for bit."""
    engine, twin = poisoned(name, field), MAKERS[name]()
    errors(engine, later(name)[:5])
    twin.restore(from_bytes(to_bytes(engine.state())))
    assert (errors(engine, later(name)[5:60]) == errors(twin, later(name)[5:60])).all()
    assert same(engine.state(), twin.state())


def test_all_parts_of_the_classifier_have_arrays():
    """Each part of the state that has numbers is one that heals."""
    names = {field.split(".")[0].replace("_", "-") for field in arrays("two classes")}
    assert names == taught("two classes").resets.keys()


@ignore_warnings
@pytest.mark.parametrize("field", some_of(one_of_each_part(arrays("two classes"))))
def test_new_columns_and_classes_while_broken(field):
    """The event that shows the fault brings a column and a class; what heals has room for them."""
    engine = poisoned("two classes", field, whole=True)
    some = enumerate(events("two classes")[:EVERY])
    errors(engine, [({**x, "new": 1.0}, "new" if i % 3 == 0 else y) for i, (x, y) in some])
    assert len(engine.classes) == 3
    assert all(all_finite(array) for _, array in engine.floats())


@ignore_warnings
@pytest.mark.parametrize(
    ("name", "part"), [("accurate", "inputs"), ("accurate", "target"), ("two classes", "inputs")]
)
@pytest.mark.parametrize("row", [0, 5, CHANGED_AT, N_ROWS - 1])
def test_each_row_of_the_statistics(name, part, row):
    """Whichever statistic of an input or of the target is lost, no learning fails meanwhile."""
    engine = copy.deepcopy(taught(name))
    stats = getattr(engine, part).stats
    stats[row] = np.nan
    errors(engine, later(name)[:EVERY])
    assert all_finite(stats)


@ignore_warnings
@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("accurate", "target.stats"),
        ("two classes", "inputs.stats"),
        ("two classes", "mixture.log_weights"),
    ],
)
def test_predicting_heals_nothing(name, field):
    """A prediction changes no state, also if it shows a fault: of classes it is then the
    frequencies. The next event heals, predicted or not, so a replay gives the same state."""
    engine, (x, y) = poisoned(name, field, whole=True), later(name)[0]
    twin, before = copy.deepcopy(engine), engine.state()
    p = engine.predict(x)
    if name == "accurate":
        assert np.isfinite(p)
    else:
        shares = (engine.counts + 1.0) / (engine.counts + 1.0).sum()
        assert list(p.values()) == pytest.approx(shares, abs=1e-4)
    assert same(engine.state(), before)
    engine.learn(x, y)
    twin.learn(x, y)
    assert same(engine.state(), twin.state())
    assert sum(engine.resets.values()) == 1


@ignore_warnings
@pytest.mark.parametrize("name", ["accurate", "two classes"])
def test_only_the_broken_expert_is_rebuilt(name):
    """The others keep their weights; while it is trained on the memory, its prediction is that of
    the mixture, and it ends as good as before.
    """
    engine, some = copy.deepcopy(taught(name)), later(name)
    bank = engine.ridges.bank
    before, drawn_at = bank.theta.copy(), bank.drawn_at.copy()
    bank.theta[1] = np.nan
    engine.learn(*some[0])
    assert np.abs(bank.theta[[0, 2]] - before[[0, 2]]).max() < 0.1
    assert np.array_equal(engine.ridges.asleep, [False, True, False])
    if name == "two classes":
        engine.predict(some[1][0])
        assert engine._experts[1] == pytest.approx(engine._mixtures[0], rel=1e-3)
    errors(engine, some[1:60])
    assert engine.ridges.asleep is False
    assert bank.drawn_at[1] > drawn_at[1]
    assert engine.resets == dict.fromkeys(engine.resets, 0) | {"ridges": 1}


@ignore_warnings
def test_rebuilt_after_the_memory_has_lost_history():
    """An expert without weights takes any candidate, even one that is worse than the expert was;
    else it would sleep for ever.
    """
    engine, some = copy.deepcopy(taught("ridge")), later("ridge")
    errors(engine, some[:1_600])
    engine.ridges.bank.theta[:] = np.nan
    errors(engine, some[1_600:1_700])
    assert engine.ridges.asleep is False
    assert engine.ridges.bank.drawn_at[0] > N + 1_600


@ignore_warnings
def test_a_broken_candidate_is_trained_again():
    """It never takes over, and its expert does not lose its turn."""
    engine = poisoned("ridge", "expert.resampler.candidate.theta")
    found = errors(engine, later("ridge")[:60])
    assert engine.resets["dense"] == 0
    assert engine.ridges.bank.drawn_at[0] > N + 20
    assert np.isfinite(found).all()


@ignore_warnings
@pytest.mark.parametrize(
    ("name", "field", "value", "part"),
    [
        ("accurate", "expert.ridges.bank.theta", 1e9, "ridges"),
        ("accurate", "expert.linear.theta", 1e9, "linear"),
        ("accurate", "expert.forgetting-rls.theta", 1e9, "forgetting-rls"),
        ("fast", "theta", 1e30, "ridge"),
        ("two classes", "ridges.bank.theta", 1e308, "ridges"),
        ("two classes", "linear.theta", 1e308, "linear"),
        ("two classes", "naive_bayes.mean", 1e308, "naive-bayes"),
        ("two classes", "networks.net-smooth.parameters", 3e38, "networks"),
        ("two classes", "correction.weights", 1e308, "correction"),
        ("two classes", "mixture.log_weights", 1e308, "mixture"),
    ],
)
def test_predictions_out_of_all_bounds(name, field, value, part):
    """Finite numbers whose results are not, or that would be clipped to the fence for ever."""
    engine = poisoned(name, field, value, whole=True)
    found = errors(engine, later(name)[:300])
    assert engine.resets[part] == 1
    assert found[100:].mean() < (1.5 if name == "two classes" else 3.0) * without_poison(name)


@ignore_warnings
def test_the_fast_ridge_is_refitted_at_once():
    """From the event that shows the fault on, predictions are about as good as before."""
    engine, some = poisoned("fast", "theta", whole=True), later("fast")
    sound = errors(copy.deepcopy(taught("fast")), some[:100])[1:].mean()
    assert errors(engine, some[:100])[1:].mean() < 1.3 * sound


@ignore_warnings
def test_algorithm_1_heals():
    """Its run begins anew."""
    engine = copy.deepcopy(taught("accurate"))
    engine.first_order.learn_row(np.full(5, np.nan), 0.5)
    errors(engine, later("accurate")[:100])
    assert engine.resets["first-order"] == 1
    assert 0.0 < engine.first_order.alpha_l1 < np.inf


@ignore_warnings
def test_lost_labels_of_past_events():
    """The ring begins again with the memory's events: no label is guessed."""
    engine = poisoned("three classes", "networks.ring.targets", whole=True)
    errors(engine, later("three classes")[: EVERY - N % EVERY])
    ring, memory = engine.networks.ring, engine.memory
    assert engine.resets["networks"] == 1
    assert len(ring) == memory.filled
    assert np.array_equal(dict(ring.floats())["targets"], memory.y[: memory.n])


@ignore_warnings
def test_no_candidate_learns_a_broken_label():
    """It would count as no class, and the finished candidate would take over with weights of 0."""
    engine = poisoned("two classes", "memory.y", np.inf, whole=True)
    drawn_at = engine.bank.drawn_at.copy()
    errors(engine, later("two classes")[:80])
    assert np.array_equal(engine.bank.drawn_at, drawn_at)


@pytest.mark.parametrize(
    ("name", "field", "turns", "part"),
    [("accurate", "drift_means.record", 1, "drift"), ("fast", "intervals.errors", 2, "intervals")],
)
def test_a_fault_that_no_prediction_shows(name, field, turns, part):
    """It is found by the next inspection of its share; until then nothing is healed."""
    engine = copy.deepcopy(taught(name))
    dict(engine.floats())[field].flat[1] = np.nan
    *some, last = later(name)[: turns * EVERY - N % EVERY]
    errors(engine, some)
    assert sum(engine.resets.values()) == 0
    with pytest.warns(IlnWarning, match=rf"{part} was not finite"):
        engine.learn(*last)
    assert engine.resets[part] == 1


def test_warnings_are_no_flood():
    """A part that breaks at each event is warned of once in 1,024 events, and counted each time."""
    engine = copy.deepcopy(taught("fast"))
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        for x, y in later("fast")[: QUIET + 1]:
            engine.record[EVENTS + 1] = np.nan
            engine.learn(x, y)
    assert [warning.category for warning in given] == [IlnWarning] * 2
    assert engine.resets["mixture-rule"] == QUIET + 1


@pytest.mark.parametrize(
    ("index", "part"),
    [
        (EVENTS, "count"),
        (EVENTS + 1, "mixture-rule"),
        (DRIFT + 1, "drift"),
        (LAGS, "last-targets"),
        (HUBER_RECORD, "ridge"),
        (STEPS, "ridge"),
        (KEPT, "memory"),
    ],
)
def test_each_number_of_the_record_heals(index, part):
    """Of profile fast: each is found before the next event is learned, and belongs to one part."""
    engine = copy.deepcopy(taught("fast"))
    engine.record[index] = np.inf
    with pytest.warns(IlnWarning, match=rf"^{part} was not finite"):
        engine.learn(*later("fast")[0])
    assert engine.resets == dict.fromkeys(engine.resets, 0) | {part: 1}
    assert engine.n == N + 1
    assert errors(engine, later("fast")[1:300]).mean() < 3 * without_poison("fast")


def test_what_the_memory_restores():
    """Of profile fast: lags, the target's scale and the number of events are as before."""
    engine, sound = poisoned("fast", "record", whole=True), taught("fast")
    engine.target[:] = engine.inputs.stats[:] = np.nan
    with pytest.warns(IlnWarning):
        engine.healer.heal_all(engine.n)
    for index in (EVENTS, LAGS, LAGS + 1, KEPT):
        assert engine.record[index] == sound.record[index]
    assert np.allclose(engine.target, sound.target)
    assert np.allclose(engine.inputs.stats, sound.inputs.stats)


@ignore_warnings
def test_the_ridge_is_fitted_to_the_memory():
    """Of profile fast: weights are lost, but not units; the next predictions are nearly as good."""
    engine, some = poisoned("fast", "theta", whole=True), later("fast")[:60]
    units = engine.units.copy()
    engine.learn(*some[0])
    assert np.abs(engine.units - units).max() < 0.1
    sound = errors(copy.deepcopy(taught("fast")), some[1:]).mean()
    assert errors(engine, some[1:]).mean() < 1.3 * sound


def test_all_of_the_memory_is_inspected():
    """A share at a time, so that old events are found before units learn from them."""
    engine = MAKERS["fast"]()
    for x, y in events("fast", 2 * MEMORY):
        engine.learn(x, y)
    engine.memory[MEMORY - 10, N_FAST_LAGS] = np.nan
    with pytest.warns(IlnWarning, match="memory was not finite"):
        for x, y in events("fast")[: MEMORY // 4]:
            engine.record[KEPT] = 1.0  # they learn from the last two events only
            engine.learn(x, y)
    assert engine.resets["ridge"] == 0
