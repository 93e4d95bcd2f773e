"""The small studies run at a tiny size, and their documents show what is stored."""

import doctest
import importlib
import json
import pkgutil
from collections.abc import Iterator

import numpy as np
import pytest

import benchmarks.endurance
import benchmarks.quality
from benchmarks import forecasts, missing, quantiles
from benchmarks.ablation import classes, decades
from benchmarks.ablation.ingredients import INGREDIENTS, Lacking
from benchmarks.ablation.streams import STREAMS as ABLATION_STREAMS
from benchmarks.forecasts import Series
from benchmarks.long_streams import curve, document, learners, plot, results, streams
from benchmarks.promotions import document as promotions
from benchmarks.promotions import watching
from benchmarks.promotions.differences import CHUNK
from iln_stream import InfiniteLayerClassifier


def modules() -> Iterator[str]:
    for suite in (benchmarks.endurance, benchmarks.quality):
        for module in pkgutil.walk_packages(suite.__path__, f"{suite.__name__}."):
            if not module.name.endswith("__main__"):
                yield module.name


@pytest.mark.parametrize("name", [*modules()])
def test_examples(name):
    """Every example in the suites, which are no installed package, gives what it says."""
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.parametrize("ingredient", ["networks", "krls-t", "neighbours"])
def test_an_expert_that_is_left_out_has_no_weight(ingredient):
    """The ablation leaves out what it names, at the start and after events."""
    learner, rng = Lacking(1, INGREDIENTS[ingredient]), np.random.default_rng(0)
    for n in (0, 200):
        for a in rng.normal(size=n).tolist():
            learner.learn_one({"a": a, "b": a * a}, a)
        left_out = [
            weight
            for name, weight in learner.expert_weights.items()
            if name.startswith("net-" if ingredient == "networks" else ingredient)
        ]
        assert left_out
        assert not any(left_out)


def test_ablation():
    """Errors are by decade, and the table compares them with those of the whole learner."""
    cell = decades.run("networks, krls-t", "products", 1_000)
    assert len(cell["errors"]) == 2
    assert all(0.3 < error < 1.5 for error in cell["errors"])
    stored = {
        "1000 products nothing": {"errors": [1.0, 0.5], "us": 9.0},
        "1000 products krls-t": {"errors": [1.0, 0.6], "us": 9.0},
    }
    assert decades.table(1_000, stored)[2] == "| krls-t | +0.0 % | +20.0 % | 1 |"
    stream = next(iter(ABLATION_STREAMS.values()))
    assert stream() == stream()


def test_ablation_of_classes():
    """Mixtures that lack nothing lose what the learner loses; the table shows what others lose."""
    rng, model = np.random.default_rng(0), InfiniteLayerClassifier(profile="fast", seed=1)
    whole = 0.0
    X = rng.normal(size=(150, 2)).tolist()
    events = [({"a": a, "b": b}, str(a > b)) for a, b in X]
    for x, y in events:
        p = model.predict_proba_one(x)
        whole -= np.log(p[y]) if len(p) > 1 else 0.0  # of a lone class, the mixtures are sure
        model.learn_one(x, y)
    found, n = classes.losses(events, "fast")
    assert n == 150
    assert found["nothing"].sum() == pytest.approx(whole, rel=1e-6)
    assert found["linear"].sum() != found["nothing"].sum()
    stored = {"one": {"nothing": np.array([4.0, 2.0]), "trees": np.array([5.0, 2.0])}}
    assert classes.table(stored, 150)[2] == "| `trees` | +25.0 % | +0.0 % | one +16.7 % |"


class Counts:
    """A model of a series that rises by 1: it forecasts the next values."""

    def learn_one(self, y, x=None):
        self.last = y

    def forecast(self, horizon, xs=None):
        return [self.last + 1 + k for k in range(horizon)]


def test_forecasts():
    """Each contender's forecast is of the value that many records later, and ours are all made."""
    rows = [{"at": 3600.0 * i, "v": float(i)} for i in range(60)]
    mapping = {"target": "v", "time_field": "at"}
    rising = Series("rising", rows, "v", (1, 6), 12, mapping, lambda _: {"a": 1.0}, {})
    for horizon, found in forecasts.rivers(rising, Counts(), with_inputs=True).items():
        assert found[: 60 - horizon].tolist() == [i + horizon for i in range(60 - horizon)]
    for horizon, found in forecasts.persistence(rising, 12).items():
        known = found[20:]
        assert np.all(known <= np.arange(20, 60))
        assert np.all((np.arange(20, 60) + horizon - known) % 12 == 0)
    for horizon, found in forecasts.ours(rising, "fast", change=True).items():
        assert found[20 : 60 - horizon] == pytest.approx(np.arange(20 + horizon, 60), abs=2.0)
        assert np.isnan(found[60 - horizon :]).all()


def test_missing_values_are_the_same_however_they_are_missing():
    """The learner gets the same inputs for null, absent fields and NA in CSV as from a user."""
    records = list(missing.stream("friedman", 300, 0.3))
    assert any(None in fields.values() for fields, _ in records)
    found = [[inputs(fields) for fields, _ in records] for inputs in missing.ways().values()]
    assert found == [found[0]] * len(found)


def test_long_streams(tmp_path):
    """A learner that follows the target has errors below the running mean's, segment by segment."""
    cell = curve.run("river-linear", "skewed", 1, 1_500)
    assert len(cell["errors"]) == sum(end < 1_500 for end in curve.ENDS) + 1
    assert 0.1 < cell["errors"][1] < 1.0
    results.put("1000 skewed river-linear 1", cell, tmp_path / "cells.json")
    stored = results.load(tmp_path / "cells.json")
    assert results.seeds(stored, "skewed", "river-linear", 1_000) == [cell]
    plot.draw(stored, 1_000, curve.ENDS, tmp_path / "curves.png")
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")


def test_the_document_of_long_streams_shows_what_is_stored():
    """Whoever stores cells renews the table: python -m benchmarks.long_streams --report. A stream
    or learner that goes takes its cells with it."""
    stored = results.load()
    text = document.DOCUMENT.read_text("utf-8")
    assert document.BEGIN in text
    assert document.with_tables(text, stored) == text
    for key in stored:
        _, stream, learner, _ = key.split(" ")
        assert stream in streams.STREAMS
        assert learner in learners.LEARNERS


def test_promotions():
    """Of clear improvements all are found at the first decision, and of none nothing is; the
    document has the table of what is stored."""
    better = iter([np.full((CHUNK, 2), 0.5)] * 2)
    assert watching.events_to_promotion(better, 2, 2 * CHUNK).tolist() == [512.0, 512.0]
    equal = iter([np.zeros((CHUNK, 2))] * 2)
    assert watching.events_to_promotion(equal, 2, 2 * CHUNK).tolist() == [np.inf, np.inf]
    text = promotions.DOCUMENT.read_text("utf-8")
    cells = results.load(promotions.RESULTS)
    assert promotions.power(cells) in text
    assert promotions.with_table(text, cells) == text


def test_quantiles():
    """The document shows the stored losses of quantiles."""
    stored = json.loads(quantiles.RESULTS.read_text("utf-8"))
    assert quantiles.documented(stored) == quantiles.DOCUMENT.read_text("utf-8")
