"""Running learners of several kinds behind one /metrics."""

import datetime as dt
import threading
from collections.abc import Iterator
from pathlib import Path
from time import sleep
from typing import Any

from prometheus_client import CollectorRegistry, start_http_server
from river.datasets import synth

from iln_stream.learners.infinite_layer.classifier import InfiniteLayerClassifier
from iln_stream.learners.infinite_layer.random_feature_ridge import RandomFeatureRidge
from iln_stream.learners.keyed.aggregates import Aggregates
from iln_stream.learners.keyed.regressor import KeyedRegressor, keyed_metrics
from iln_stream.loop import (
    Classification,
    Forecasts,
    Horizon,
    LateLabels,
    LatePolicy,
    Listener,
    PrequentialLoop,
    RecentIds,
    Regression,
    Step,
)
from iln_stream.loop.forgetting import Forgets, Forgotten
from iln_stream.loop.learning import LearningCheck
from iln_stream.loop.metrics import Metrics, ModelMetrics, label_metrics
from iln_stream.loop.progress import HistoryProgress
from iln_stream.records import EnvelopeDecoder
from iln_stream.records.fields import FieldMapping
from iln_stream.records.mapped import MappedDecoder
from iln_stream.records.parsing import parse_json
from iln_stream.records.registry import retries_metric
from iln_stream.records.series import Earlier, SeriesInputs
from iln_stream.records.time_inputs import TimeFeatures
from iln_stream.reporting import MetricSpec
from iln_stream.service import Settings, build_learner
from iln_stream.service.learners import build_details, champion_of
from iln_stream.service.service import build_metric, ready_metric
from iln_stream.snapshots import Checkpoint, Header, Positions, Saver, SnapshotFolder, learner_state
from iln_stream.snapshots.publisher import Publisher
from iln_stream.streams import Record, Sequencer
from iln_stream.streams.river import RiverDatasetSource
from iln_stream.streams.sqlite import SqliteLog, create_topic

HEALTHY: dict[str, Any] = {
    "prediction_intervals": "0.9",
    "prediction_quantiles": "0.1,0.9",
    "challengers": {"pool": {"learner": "pool", "learner_options": {"size": 16}}},
}
SHRINKING: dict[str, Any] = {
    "learner": "shrinking-gradient",
    "learner_options": {"norm_bound": 0.01, "step": 1.0, "draws": 64, "budget": 50},
}
"""A step far too big for so small a bound: every few events |E_t| reaches 16 B."""


class Breather(Listener):
    """Sleeps between events, so that tests get processor time."""

    def on_step(self, step: Step) -> None:
        sleep(0.005)


class LearnersAtWork:
    """The default learner and a shrinking one, each in a thread, behind one /metrics.

    The source of the shrinking learner is disconnected, and its snapshots are an hour old.
    """

    def __init__(self, folder: Path) -> None:
        registry = CollectorRegistry()
        metrics = Metrics(registry, window=200)
        self._loops = [
            _loop(metrics, model, partition, chosen, folder)
            for partition, (model, chosen) in enumerate(
                [("healthy", HEALTHY), ("shrinking", SHRINKING)]
            )
        ]
        self._loops.append(_classifier(metrics, partition=len(self._loops)))
        self._threads = [threading.Thread(target=loop.run, daemon=True) for loop in self._loops]
        self._server, _ = start_http_server(0, "127.0.0.1", registry)
        for thread in self._threads:
            thread.start()

    @property
    def address(self) -> str:
        """URL that Prometheus scrapes."""
        return f"127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        for loop in self._loops:
            loop.stop()
        for thread in self._threads:
            thread.join()
        self._server.shutdown()
        self._server.server_close()


class LateLabelled(RiverDatasetSource):
    """Sends each event without its label, and the label a minute later by its timestamp."""

    def poll(self, timeout: float) -> list[Record]:
        """Return two records for each of the data set."""
        found: list[Record] = []
        for record in super().poll(timeout):
            n, fields = 2 * record.offset, dict(record.payload)  # type: ignore[arg-type]
            label = {"id": str(n), "y": fields.pop("y"), "timestamp": n + 60}
            found += [
                record._replace(offset=n, payload={**fields, "id": str(n), "timestamp": n}),
                record._replace(offset=n + 1, payload=label),
            ]
        return found


def _with_keys() -> KeyedRegressor:
    """Return a model by key that has learned events of a few keys."""
    learner = KeyedRegressor("key", RandomFeatureRidge(4, seed=1))
    for t in range(20):
        learner.learn_one({"key": f"k{t % 3}", "a": float(t)}, float(t % 3))
    return learner


def _of_series() -> list[MetricSpec]:
    """Return the metrics of series, of which one has an error."""
    forecasts = Forecasts(Horizon.of("1"), Regression(), several=True)
    forecasts._of(("a",)).score(1.0, 2.0)
    inputs = SeriesInputs(Earlier(TimeFeatures(()), None, None))
    return [
        *(m for m in forecasts.metrics() if m.name == "iln_series_error_ratio"),
        *inputs.metrics(),
    ]


def _loop(
    metrics: Metrics, model: str, partition: int, chosen: dict[str, Any], folder: Path
) -> PrequentialLoop:
    settings = Settings(**chosen)
    learner = build_learner(settings)
    decoder: MappedDecoder | EnvelopeDecoder = EnvelopeDecoder()
    of_fields: dict[str, Any] = {"code": "7"}
    if chosen is HEALTHY:
        decoder = MappedDecoder(FieldMapping(target="y"), parse_json)
        of_fields = {"shop.open": "true", "shop.size": "7", "shop.rank": None}
    kind = LateLabelled if chosen is SHRINKING else RiverDatasetSource
    source = kind(_events_with_garbage(of_fields), model, limit=10**9)
    source.partitions = (partition,)
    watched = metrics.watch(
        learner, source, model, None, settings.prediction_intervals, settings.prediction_quantiles
    )
    metrics.export(watched.labels, [ready_metric(list), build_metric(settings.learner)])
    if chosen is HEALTHY:
        metrics.export(watched.labels, keyed_metrics(_with_keys()))
        metrics.export(watched.labels, Aggregates({}).metrics())
        metrics.export(watched.labels, _of_series())
    old = dt.timedelta()
    if chosen is SHRINKING:
        source.connected = False
        old = dt.timedelta(hours=1)
    checkpoint = _checkpoint(learner, watched, folder / model, old)
    late = LateLabels(LatePolicy(10), Regression(), ["list"])
    metrics.export(
        watched.labels, [*checkpoint.metrics(), *late.metrics(), *RecentIds(10).metrics()]
    )
    listeners: list[Listener] = [watched, Breather()]
    if chosen is HEALTHY:
        publisher = Publisher(folder / "healthy.model", champion_of(learner))
        metrics.export(watched.labels, publisher.metrics())
        listeners.append(publisher)
        check = LearningCheck(model, late)
        listeners.append(check)
        metrics.export(watched.labels, check.metrics())
        metrics.export(watched.labels, HistoryProgress(1).metrics())
        forgets = Forgets(Forgotten(folder), (parse_json, None), {}, 10)
        metrics.export(watched.labels, forgets.metrics())
        metrics.export(watched.labels, [retries_metric(lambda: 0.0)])
        metrics.export(watched.labels, label_metrics(_two_logs(folder / "log.db")))
    metrics.export(watched.labels, decoder.metrics())
    return PrequentialLoop(
        source, learner, listeners, checkpoint=checkpoint, late=late, decoder=decoder,
        details=build_details(
            learner, settings.prediction_intervals, settings.prediction_contributions
        ),
    )  # fmt: skip


def _two_logs(path: Path) -> Sequencer:
    """Return a source that joins events with a log of labels, both empty."""
    create_topic(path, "events")
    create_topic(path, "labels")
    labels = SqliteLog(path, "labels", "log-labels")
    return Sequencer([SqliteLog(path, "events", "log-events"), labels])


def _classifier(metrics: Metrics, partition: int) -> PrequentialLoop:
    events = ((x, y > 14.0) for x, y in synth.Friedman(seed=2))
    source = RiverDatasetSource(events, "classifier", limit=10**9)
    source.partitions = (partition,)
    learner, task = InfiniteLayerClassifier(seed=1), Classification()
    watched = metrics.watch(learner, source, "classifier", task)
    metrics.export(watched.labels, [ready_metric(list), build_metric("classifier")])
    return PrequentialLoop(source, learner, [watched, Breather()], task=task)


def _checkpoint(learner: Any, watched: ModelMetrics, folder: Path, old: dt.timedelta) -> Checkpoint:
    folder.mkdir()

    def header(positions: Positions) -> Header:
        saved_at = (dt.datetime.now(dt.UTC) - old).isoformat()
        return Header("events", positions, None, 1, 1, {}, 1, saved_at)

    parts = {"learner": lambda: learner_state(learner, False), "counts": watched.state}
    return Checkpoint(Saver(SnapshotFolder(folder)), header, parts, 200, 1.0, {0: 0})


def _events_with_garbage(more: dict[str, Any]) -> Iterator[tuple[dict[Any, Any], Any]]:
    for number, (x, y) in enumerate(synth.Friedman(seed=1)):
        yield {**x, **more}, "no number" if number % 50 == 0 else y
