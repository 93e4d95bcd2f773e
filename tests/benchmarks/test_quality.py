"""`make quality`: its stored results describe the present code, and its documents show them.

Stored cells that are recomputed are short, and of learners whose figures hardly depend on the
processor. ShrinkingGradient with sampled draws is left out: the last bits of its cosines differ by
processor, and decide its draws.
"""

import itertools
import json
import math
import re

import numpy as np
import pytest
from river import base, dummy, stats
from sklearn.metrics import average_precision_score, roc_auc_score
from typer.testing import CliRunner

from benchmarks.quality.cell import Cell, measured
from benchmarks.quality.commands import app
from benchmarks.quality.documents import DOCUMENTS, all_tables, with_tables
from benchmarks.quality.learners import CONTENDERS
from benchmarks.quality.learners.lags import LAGS
from benchmarks.quality.measures import classification, intervals, regression
from benchmarks.quality.measures.classification import LEAST_PROBABILITY, pr_auc, roc_auc
from benchmarks.quality.measures.regression import ExplodedError
from benchmarks.quality.plan import cells
from benchmarks.quality.store import Store
from benchmarks.quality.streams import STREAMS, checksum
from benchmarks.quality.tolerance import changes
from benchmarks.quality.unavailable import UnavailableError

CELLS = (
    Cell("regression", "iln-accurate", "airline-passengers", 1),
    Cell("regression", "iln-fast", "phishing-signed", 1),
    Cell("regression", "iln-pool", "trump-approval", 1),
    Cell("intervals", "iln-accurate", "chick-weights", 1),
    Cell("classification", "iln-classifier", "phishing", 1),
)
LARGER = (
    Cell("regression", "iln-accurate", "trump-approval", 1),
    Cell("regression", "iln-fast", "planes-2d", 1),
    Cell("intervals", "iln-fast", "friedman", 1),
    Cell("classification", "iln-classifier", "image-segments", 1),
)
GENERATED = [s for s in STREAMS.values() if s.group != "files" and s.id != "adult"]
SMALL = ["--learner", "river-bayesian-linear", "--stream", "airline-passengers"]


@pytest.mark.parametrize(
    "cell",
    [*CELLS, *(pytest.param(cell, marks=pytest.mark.thorough) for cell in LARGER)],
    ids=lambda cell: f"{cell.learner}-{cell.stream}",
)
def test_a_stored_result_is_that_of_the_present_code(cell):
    """A change of accuracy is measured and committed with the change of code that caused it."""
    found = [
        f"{change.figure} {change.stored} -> {change.fresh}"
        for change in changes(cell, Store()[cell], measured(cell))
    ]
    assert not found, (
        f"{cell.measure} of {cell.learner} on {cell.stream}: {', '.join(found)}. The learner "
        "changed. If that is intended, run `python -m benchmarks.quality run --again --learner "
        f"{cell.learner}` and `python -m benchmarks.quality report`, look at the difference, and "
        "commit the results with the code."
    )


def test_documents_show_the_stored_results():
    """Whoever stores new results renews the tables: python -m benchmarks.quality report. A stream
    or a learner that goes takes its results with it."""
    assert set(Store()) <= set(cells())
    tables = all_tables(Store())
    for document in DOCUMENTS:
        text = document.read_text("utf-8")
        assert re.search("quality:(overview|brief):begin", text)
        assert with_tables(text, tables) == text


@pytest.mark.parametrize("stream", GENERATED, ids=lambda stream: stream.id)
def test_events_are_those_of_the_checksum(stream):
    """The events are finite, and those that stored results were measured on."""
    events = stream.events()
    assert checksum(events) == stream.checksum
    assert all(math.isfinite(value) for x, _ in events for value in x.values())
    assert not set(LAGS) & set(events[0][0])


def invoke(*arguments):
    return CliRunner().invoke(app, list(arguments))


@pytest.mark.thorough
def test_check_passes_on_what_run_stored_and_fails_on_what_was_tampered_with(tmp_path):
    """`check` exits with 0 where nothing changed and with 1 where a stored ratio is not met; what
    is stored is not run again."""
    results = ["--results", str(tmp_path)]
    assert invoke("check", *SMALL, *results).exit_code == 1
    assert invoke("missing", *SMALL, *results).output == "river-bayesian-linear on ten: 1\n"
    assert invoke("run", *SMALL, *results).exit_code == 0
    assert invoke("missing", *SMALL, *results).output == ""
    same = invoke("check", *SMALL, *results)
    assert same.exit_code == 0, same.output
    assert "1 cells compared, 0 figures changed" in same.output

    file = tmp_path / "river-bayesian-linear.json"
    stored = json.loads(file.read_text())
    stored["cells"][0]["ratio"] /= 1.05
    file.write_text(json.dumps(stored))
    invoke("run", *SMALL, *results)
    changed = invoke("check", *SMALL, *results)
    assert changed.exit_code == 1
    assert "worse: river-bayesian-linear on airline-passengers" in changed.output
    assert "freidman" in invoke("run", "--stream", "freidman", *results).output


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("contender", CONTENDERS.values(), ids=lambda contender: contender.id)
def test_every_contender_runs(contender):
    """Each can be made from a seed, learns some events, and then predicts something finite."""
    try:
        model = contender.make(1)
    except UnavailableError as reason:
        pytest.skip(str(reason))
    of_classes = contender.task == "classification"
    stream = STREAMS["phishing" if of_classes else "chick-weights"]
    for x, y in itertools.islice(stream.events(), 40):
        model.learn_one(x, y)
    found = model.predict_proba_one(x).values() if of_classes else [model.predict_one(x)]
    assert all(map(math.isfinite, found))


class Scripted(base.Regressor, base.Classifier):
    """Predicts what the event's input "says", with an interval of +-1 around it."""

    def learn_one(self, x, y):
        pass

    def predict_one(self, x):
        return x["says"]

    predict_proba_one = predict_one

    def predict_interval(self, x, level):
        return x["says"] - 1, x["says"] + 1


def events(*pairs):
    return [({"says": says}, y) for says, y in pairs]


def test_errors_are_ratios_to_the_running_mean():
    """The first event is only learned; a prediction that is no number can't hide in a mean."""
    stream = [({"a": 1.0}, float(t * t % 7)) for t in range(50)]
    figures = regression(dummy.StatisticRegressor(stats.Mean()), stream)
    assert figures["ratio"] == figures["rmse_ratio"] == 1.0
    figures = regression(Scripted(), events((1e9, 4.0), (4.0, 5.0), (5.0, 7.0)))
    # |4 - 5| and |5 - 7|; the running mean's are |4 - 5| and |4.5 - 7|.
    assert figures["mae"] == 1.5
    assert figures["ratio"] == float(f"{3 / 3.5:.5g}")
    assert figures["rmse_ratio"] == float(f"{math.sqrt(5 / 7.25):.5g}")
    for says in (math.nan, math.inf, None):
        with pytest.raises(ExplodedError, match="at event 3"):
            regression(Scripted(), events((0.0, 1.0), (0.0, 1.0), (says, 1.0), (0.0, 1.0)))


def test_figures_of_classes():
    """Accuracy and log-loss by hand; areas as scikit-learn's, of random scores with many ties."""
    answers = [
        ({}, "a"),
        ({"a": 0.8, "b": 0.2}, "a"),
        ({"a": 0.6, "b": 0.4}, "b"),
        ({"a": 1.0}, "b"),
    ]
    figures = classification(Scripted(), events(*answers))
    losses = [0.8, 0.4, LEAST_PROBABILITY]
    assert figures["accuracy"] == pytest.approx(1 / 3, abs=1e-4)
    assert figures["log_loss"] == round(-sum(map(math.log, losses)) / 3, 5)
    rng = np.random.default_rng(0)
    for _ in range(20):
        positive = rng.random(200) < 0.2
        scores = np.round(rng.random(200) + 0.3 * positive, 1)
        assert roc_auc(scores, positive) == pytest.approx(roc_auc_score(positive, scores))
        assert pr_auc(scores, positive) == pytest.approx(average_precision_score(positive, scores))


def test_figures_of_intervals():
    """From event 101 on, coverage and score are means; misses cost 20 a unit at 90 %."""
    quiet = [(0.0, 0.5)] * 100
    figures = intervals(Scripted(), events(*quiet, *[(0.0, 0.5)] * 9, (0.0, 3.0)))
    assert (figures["n_scored"], figures["coverage"]) == (10, 0.9)
    assert figures["score"] == pytest.approx(2.0 + 20 * 2.0 / 10)
    assert figures["rolling_score"] == pytest.approx(1.0 + 20 * 2.5 / 10)
