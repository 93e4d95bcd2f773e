"""Quality as an operator sees it: /metrics of a run through the embedded log."""

import json
import math
import random
import urllib.request
from collections import deque
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from support.embedded_log import append, values

from iln_stream.loop import Listener, Step
from iln_stream.service import Service, Settings

WINDOW = 100
N = 600
PENDING = 20

SCORES = ("iln_error", "iln_running", "iln_interval", "iln_pinball", "iln_quantile")
OWN = ("measure", "over", "of", "level")

# Requests to this machine bypass any proxy in the environment.
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class LastScrape(Listener):
    """Reads /metrics after the last of `n` records, and keeps all steps."""

    def __init__(self, n: int) -> None:
        self.steps: list[Step] = []
        self.page = ""
        self.service: Service | None = None
        self._n = n

    def on_step(self, step: Step) -> None:
        self.steps.append(step)
        if len(self.steps) == self._n:
            assert self.service is not None
            assert self.service.metrics_url is not None
            with DIRECT.open(self.service.metrics_url, timeout=30) as answer:
                self.page = answer.read().decode()


def records() -> list[bytes]:
    """Events of a random walk that x explains in part; every third label comes 15 records late."""
    random_walk, level = random.Random(3), 5.0
    found: list[bytes] = []
    late: deque[tuple[int, bytes]] = deque()
    for number in range(N):
        a = random_walk.random()
        level += random_walk.gauss(0.0, 0.3)
        y, event_id = level + 3.0 * a, str(number)
        event: dict[str, Any] = {"x": {"a": a}, "id": event_id}
        if number % 3 == 0:
            late.append((number + 15, json.dumps({"id": event_id, "y": y}).encode()))
        else:
            event["y"] = y
        found.append(json.dumps(event).encode())
        if late and late[0][0] <= number:
            found.append(late.popleft()[1])
    return found


def run(path: Path, n: int, **more: object) -> LastScrape:
    """Learn the rest of the log, `n` records, and return what /metrics had at its end."""
    given: dict[str, object] = {
        "source": f"sqlite:{path}",
        "predictions": f"sqlite:{path}#predictions",
        "snapshots": str(path.parent / "state"),
        "stop_at_end": True,
        "learner_options": {"profile": "fast"},
        "prediction_intervals": "0.5,0.9",
        "prediction_quantiles": "0.1,0.9",
        "model": "walk",
        "window": WINDOW,
        "pending_events": PENDING,
        "metrics_port": 0,
    }
    settings = Settings(**{**given, **more})  # type: ignore[arg-type]
    scraper = LastScrape(n)
    scraper.service = Service(settings, listeners=[scraper])
    scraper.service.run()
    assert len(scraper.steps) == n
    return scraper


def samples(page: str) -> dict[str, float]:
    """The scores on a page, by name and label."""
    return {
        " ".join(
            [sample.name, *(sample.labels[each] for each in OWN if each in sample.labels)]
        ): sample.value
        for family in text_string_to_metric_families(page)
        for sample in family.samples
        if sample.name.startswith(SCORES)
    }


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The log of the run without a pause."""
    return tmp_path_factory.mktemp("whole") / "log.db"


@pytest.fixture(scope="module")
def uninterrupted(log: Path) -> LastScrape:
    """A run without a pause over all records."""
    all_of_them = records()
    append(log, all_of_them)
    return run(log, len(all_of_them))


def test_baselines_are_those_computed_from_the_records(uninterrupted: LastScrape) -> None:
    """Each event is predicted by the labels that came before it; late labels count when they come.

    Errors are computed here from the records alone, with sums over all labels so far.
    """
    labels: list[float] = []
    predicted: dict[str, tuple[float, float]] = {}
    errors: list[tuple[float, float]] = []
    for record in map(json.loads, records()):
        if "x" in record:
            predicted[record["id"]] = (fmean(labels or [0.0]), (labels or [0.0])[-1])
        if (y := record.get("y")) is not None:
            errors.append(tuple(abs(p - y) for p in predicted.pop(record["id"])))  # type: ignore[arg-type]
            labels.append(y)
    found = samples(uninterrupted.page)
    for name, of_it in zip(("running_mean", "last_value"), zip(*errors, strict=True), strict=True):
        assert found[f"iln_error mae window {name}"] == pytest.approx(fmean(of_it[-WINDOW:]))
        assert found[f"iln_error mae all {name}"] == pytest.approx(fmean(of_it))


def test_the_learner_is_scored_on_the_same_events(uninterrupted: LastScrape) -> None:
    """The learner's mean and the baselines' are over the same events, so they can be compared."""
    found = samples(uninterrupted.page)
    own = [abs(step.y_pred - step.y) for step in uninterrupted.steps if step.y is not None]
    assert found["iln_error mae window model"] == pytest.approx(fmean(own[-WINDOW:]))
    # On a random walk the last value is far better than the mean.
    trivial = [found[f"iln_error mae window {name}"] for name in ("last_value", "running_mean")]
    assert trivial[0] < trivial[1]
    assert all(math.isfinite(value) for value in found.values())


def test_coverage_is_that_of_the_published_intervals(log: Path, uninterrupted: LastScrape) -> None:
    """The share is counted here from the predictions that were published and the records."""
    published = {each["id"]: each for each in map(json.loads, values(log, "predictions"))}
    labelled = [each for each in map(json.loads, records()) if "y" in each][-WINDOW:]
    found = samples(uninterrupted.page)
    for level in ("0.5", "0.9"):
        intervals = [published[each["id"]]["intervals"][level] for each in labelled]
        hits = [
            low <= each["y"] <= high for each, (low, high) in zip(labelled, intervals, strict=True)
        ]
        assert found[f"iln_interval_coverage_ratio observed {level}"] == fmean(hits)
        assert found[f"iln_interval_coverage_ratio promised {level}"] == float(level)


def test_quantiles_are_scored_as_published(log: Path, uninterrupted: LastScrape) -> None:
    """Losses and shares are counted here from what was published; the baseline from labels."""
    published = {each["id"]: each for each in map(json.loads, values(log, "predictions"))}
    labelled = [each for each in map(json.loads, records()) if "y" in each]
    labels, found = [each["y"] for each in labelled], samples(uninterrupted.page)
    for level in ("0.1", "0.9"):
        tau, losses, usual, below = float(level), [], [], []
        for n in range(len(labels) - WINDOW, len(labels)):
            value = published[labelled[n]["id"]]["quantiles"][level]
            before = sorted(labels[n - WINDOW : n])[int(tau * WINDOW)]
            below.append(labels[n] <= value)
            for of, q in ((losses, value), (usual, before)):
                of.append(max(tau * (labels[n] - q), (tau - 1) * (labels[n] - q)))
        assert found[f"iln_pinball_loss model {level}"] == pytest.approx(fmean(losses))
        assert found[f"iln_pinball_loss recent_labels {level}"] == pytest.approx(fmean(usual))
        assert found[f"iln_quantile_coverage_ratio observed {level}"] == fmean(below)
        assert found[f"iln_quantile_coverage_ratio promised {level}"] == tau
    assert found["iln_pinball_loss model 0.9"] < 0.5 * found["iln_pinball_loss recent_labels 0.9"]


def test_classes_are_compared_with_their_frequencies(tmp_path: Path) -> None:
    """Log loss and accuracy of the trivial classifiers are counted again from the labels, all but
    the first: no class was known."""
    labels = ["a"] * 5 + random.Random(1).choices("abc", [6, 3, 1], k=295)  # no majority is shared
    path = tmp_path / "log.db"
    append(path, [json.dumps({"x": {"a": 1.0}, "y": y}).encode() for y in labels])
    scraped = run(
        path,
        300,
        learner="infinite-layer-classifier",
        learner_options={},
        prediction_intervals=(),
        prediction_quantiles=(),
        pending_events=None,
    )
    shares = [labels[:n].count(labels[n]) / n for n in range(1, 300)]
    losses = [-math.log(max(share, 1e-15)) for share in shares]
    misses = [labels[n] != max("abc", key=labels[:n].count) for n in range(1, 300)]
    found = samples(scraped.page)
    for over, last in (("window", WINDOW), ("all", 300)):
        loss = found[f"iln_error loss {over} class_frequencies"]
        assert loss == pytest.approx(fmean(losses[-last:]))
        wrong = found[f"iln_error misclassification {over} majority_class"]
        assert wrong == pytest.approx(fmean(misses[-last:]))


def test_a_restart_goes_on_bit_for_bit(uninterrupted: LastScrape, tmp_path: Path) -> None:
    """Two runs, with events that wait for labels in between, export the numbers of one run."""
    path, all_of_them = tmp_path / "log.db", records()
    append(path, all_of_them[:437])
    run(path, 437)
    append(path, all_of_them[437:])
    second = run(path, len(all_of_them) - 437)
    assert samples(second.page) == samples(uninterrupted.page)
