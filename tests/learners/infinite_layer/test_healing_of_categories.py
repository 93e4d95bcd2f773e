"""The effects of hashed categories heal: each of their numbers is poisoned in turn."""

import copy
import math
from functools import cache

import numpy as np
import pytest
from support.states import same

from iln_stream.errors import IlnWarning
from iln_stream.learners import InfiniteLayerClassifier, InfiniteLayerRegressor
from iln_stream.state import all_finite

pytestmark = pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")

N, LATER, LAST = 800, 1_500, 600
"""Events before the poison, after it, and those whose error counts."""


@cache
def events():
    """Ids with effects, and a number."""
    rng = np.random.default_rng(0)
    of_id = 3.0 * rng.normal(size=60)
    found = []
    for i, a, noise in zip(
        rng.integers(60, size=N + LATER).tolist(),
        rng.normal(size=N + LATER).tolist(),
        rng.normal(size=N + LATER).tolist(),
        strict=True,
    ):
        found.append(({f"id={i}": 1.0, "a": a}, a + float(of_id[i]) + 0.3 * noise))
    return found


def errors(model, some):
    """The error of each prediction, made before its label was learned."""
    found = []
    for x, y in some:
        if isinstance(model, InfiniteLayerRegressor):
            found.append(abs(model.predict_one(x) - y))
            model.learn_one(x, y)
        else:
            p = model.predict_proba_one(x)
            assert len(p) < 2 or sum(p.values()) == pytest.approx(1.0)
            found.append(1.0 - p.get(y > 0.0, 0.0))
            model.learn_one(x, y > 0.0)
        assert math.isfinite(found[-1])
    return found


MAKERS = {
    "accurate": lambda: InfiniteLayerRegressor(seed=1),
    "fast": lambda: InfiniteLayerRegressor("fast", seed=1),
    "classifier": lambda: InfiniteLayerClassifier(seed=1),
}


@cache
def taught(name):
    model = MAKERS[name]()
    errors(model, events()[:N])
    return model


@cache
def without_poison(name):
    return np.mean(errors(copy.deepcopy(taught(name)), events()[N:])[-LAST:])


def poison(effects, where):
    """Break a number, and what follows from it."""
    if where == "table":
        effects.table[:] = np.nan
    elif where == "squares":
        effects.squares["id"] = math.inf
    elif where == "field":
        field = effects.fields["id"]
        field.regrets[0] = field.sums[0][0] = math.inf
        field._weigh()
    elif where == "log_weights":
        effects.log_weights[0] = math.nan
        effects._weigh()
    elif isinstance(getattr(effects, where), float):
        setattr(effects, where, math.inf)
    else:
        getattr(effects, where)[0] = math.nan


@pytest.mark.parametrize(
    ("name", "where"),
    [
        pytest.param("accurate", "table", marks=pytest.mark.thorough),
        ("fast", "table"),
        *(
            pytest.param(name, where, marks=pytest.mark.thorough)
            for name, wheres in (
                ("fast", ("field", "errors", "predicted", "squares")),
                ("classifier", ("log_weights", "table", "predicted", "squares")),
            )
            for where in wheres
        ),
    ],
)
def test_heals(name, where):
    """Predictions stay finite, and are soon nearly as good as without the poison; it is counted."""
    model = copy.deepcopy(taught(name))
    poison(model._categories.effects, where)
    found = errors(model, events()[N:])
    assert model.resets["hashed-categories"] == 1
    assert all(all_finite(np.asarray(share)) for share in model.relevance.values())
    assert np.mean(found[-LAST:]) < 1.1 * without_poison(name) + 0.01


@pytest.mark.parametrize("name", ["fast", "classifier"])
def test_predicting_heals_nothing(name):
    """A prediction changes no state, also if it shows a fault; the event that is learned heals, and
    a restored learner counts on."""
    model = copy.deepcopy(taught(name))
    model._categories.effects.table[:] = np.nan
    before, (x, y) = model.state(), events()[N]
    errors(copy.deepcopy(model), [(x, y)])
    model.predict_one(x)
    assert same(before, model.state())
    assert "hashed-categories" not in model.resets
    with pytest.warns(IlnWarning, match="effects of hashed categories were not finite"):
        errors(model, [(x, y)])
    twin = MAKERS[name]()
    twin.restore(model.state())
    assert twin.resets["hashed-categories"] == model.resets["hashed-categories"] == 1
