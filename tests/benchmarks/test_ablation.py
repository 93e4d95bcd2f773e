import numpy as np
import pytest
from ablation import decades
from ablation.ingredients import INGREDIENTS, Lacking
from ablation.streams import STREAMS

EXPERTS = Lacking(1, INGREDIENTS["nothing"]).expert_weights.keys()
NETWORKS = [name for name in EXPERTS if name.startswith("net-")]


def experts_in(ingredient):
    """The names of the experts that an ingredient names."""
    named = []
    for part in ingredient.split(", "):
        of_net = [name for name in NETWORKS if name.startswith(part) or part == "networks"]
        named += of_net or [part]
    return named


def taught(ingredient, n=200):
    """A learner that lacks an ingredient, and has learned n events of a random walk."""
    learner, rng = Lacking(1, INGREDIENTS[ingredient]), np.random.default_rng(0)
    ys = 10.0 * np.cumsum(rng.normal(size=n))
    for a, y in zip(rng.normal(size=n).tolist(), ys.tolist(), strict=True):
        learner.predict_one({"a": a})
        learner.learn_one({"a": a, "b": a * a}, a + y)
    return learner


def test_each_expert_can_be_left_out():
    """Ingredients name the experts of the accurate profile; only the running mean always stays."""
    named = {name for ingredient in INGREDIENTS for name in experts_in(ingredient)}
    assert EXPERTS - named == {"running-mean"}
    assert named - EXPERTS == {
        "nothing", "redraws", "relevance", "redraws after 2,048 events", "Huber weights", "sleep"
    }  # fmt: skip


@pytest.mark.parametrize(
    "ingredient", [name for name in INGREDIENTS if set(experts_in(name)) <= EXPERTS]
)
def test_an_expert_that_is_left_out_has_no_weight(ingredient):
    """At the start, and after events that would have given it some."""
    for learner in (taught(ingredient, 0), taught(ingredient)):
        weights = learner.expert_weights
        assert not any(weights[name] for name in experts_in(ingredient))
        assert sum(weights.values()) > 0.0


def test_without_redraws_the_first_units_stay():
    """With nothing left out, they are redrawn."""
    assert set(taught("redraws").redrawn_at.values()) == {0}
    assert min(taught("nothing").redrawn_at.values()) > 64


def test_without_relevance_units_are_drawn_as_at_first():
    """What was learned of the inputs' relevance is forgotten: they are alike."""
    assert taught("relevance").relevance == {"a": 0.5, "b": 0.5}
    assert taught("nothing").relevance != {"a": 0.5, "b": 0.5}


def test_without_huber_weights_predictions_differ():
    """Large errors count by their squares, and something else is learned."""
    x = {"a": 0.5, "b": 0.25}
    assert taught("Huber weights").predict_one(x) != taught("nothing").predict_one(x)


def test_without_sleep_the_ridges_stay_awake():
    """They never have been awake long enough."""
    assert taught("sleep")._engine.sleepers.n_learned == 0
    assert taught("nothing")._engine.sleepers.n_learned == 200


def test_decades():
    """Errors are by decade, and the table compares them with those of the whole learner."""
    cell = decades.run("networks, krls-t", "products", 1_000)
    assert len(cell["errors"]) == 2
    assert all(0.3 < error < 1.5 for error in cell["errors"])
    stored = {
        "1000 products nothing": {"errors": [1.0, 0.5], "us": 9.0},
        "1000 products krls-t": {"errors": [1.0, 0.6], "us": 9.0},
    }
    assert decades.table(1_000, stored) == [
        "| without | 0-100 | 100-1,000 | streams |",
        "|---|---|---|---|",
        "| krls-t | +0.0 % | +20.0 % | 1 |",
    ]


@pytest.mark.parametrize("name", STREAMS)
def test_streams_can_be_learned(name):
    """Each has hundreds of events or thousands, of floats, and is the same each time."""
    stream = STREAMS[name]()
    assert 400 < len(stream) < 10_000
    assert stream == STREAMS[name]()
    x, y = stream[-1]
    assert all(isinstance(value, float) for value in (*x.values(), y))
