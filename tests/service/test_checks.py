"""Settings that are valid by themselves but do not fit together, and where a run reads and
writes."""

import re
from typing import Any

import pytest
from river import datasets

from iln_stream.errors import IlnError, IlnWarning
from iln_stream.records import decode
from iln_stream.service import Service, Settings, SettingsError, source_stream
from iln_stream.service.streams import is_transactional

KAFKA = {"source": "kafka:orders", "start": "earliest"}
LABELS = {**KAFKA, "labels": "kafka:deliveries", "pending_events": 100}
LOG = {"source": "sqlite:log.db", "snapshots": "state"}
KEYED = {**LOG, "by_key": "shop"}
LINEAR = {"learner": "support.contenders:linear"}
CONTEST = {**LOG, "learner": "pool", "challengers": {"linear": LINEAR}}
FORECAST = {**LOG, "target": "load", "horizon": "1,3h", "lags": {"load": 2}}
WORKERS = {**LOG, "learner_per": "partition", "workers": 2}
HISTORY = {**LOG, "warm_start": ("h.csv",), "start": "earliest", "target": "y"}


@pytest.mark.parametrize(
    ("base", "more", "message"),
    [
        # Where a run reads and writes
        (
            {},
            {"source": "events.doc"},
            "source = 'events.doc': give kafka, kafka:TOPIC, sqlite:PATH, a file",
        ),
        ({}, {"source": "river:Trump"}, "river:Trump: River has .*TrumpApproval"),
        ({}, {"source": "synthetic:TrumpApproval"}, "River has .*Friedman"),
        ({}, {"source": "river:"}, "names nothing: give river:NAME"),
        ({}, {"source": "river:Higgs"}, r"call river\.datasets\.Higgs\(\)\.download\(\) first"),
        ({}, {"source": "nowhere.jsonl"}, r"can't read nowhere\.jsonl: No such file"),
        ({}, {"source": "kafka:a b", "start": "latest"}, "is not a topic's name"),
        ({}, {"source": "kafka:" + "x" * 250, "start": "latest"}, "is not a topic's name"),
        (KAFKA, {"predictions": "kafka:"}, "kafka:NAME"),
        (KAFKA, {"topic": "b"}, "topic = 'b': source = 'kafka:orders' names the topic"),
        (KAFKA, {"limit": 5}, "limit: a Kafka source has none; set stop_at_end"),
        (KAFKA, {"start": None}, "start: choose where to begin in kafka:orders"),
        ({}, {"source": "a.jsonl", "predictions": "./a.jsonl"}, "^predictions = .* is also the"),
        ({}, {"source": "dead-letters.jsonl"}, "^dead_letters = .* is also the"),
        (KAFKA, {"predictions": "kafka:orders"}, "^predictions = .* is also the"),
        (KAFKA, {"predictions": "kafka:orders-dead-letters"}, "^dead_letters = .* is also the"),
        (LOG, {"predictions": "sqlite:log.db#events"}, "^predictions = .* is also the"),
        # Labels of another log
        (LABELS, {"labels": None, "labels_settings": {"target": "y"}}, "labels_settings: name the"),
        (LABELS, {"labels": "labels.csv"}, "labels = 'labels.csv' is not a log: copy it into one"),
        (LABELS, {"source": "events.jsonl"}, "labels: only a log can be joined"),
        (LABELS, {"labels": "kafka:orders"}, "labels = 'kafka:orders' is the source: leave labels"),
        (LABELS, {"source": "sqlite:a/l.db", "labels": "sqlite:b/l.db"}, "have the same name"),
        (LABELS, {"pending_events": None}, "labels: set pending_events"),
        (LABELS, {"target": "y"}, "set id_field"),
        (LABELS, {"start": 5, "partitions": "0"}, "start = 5: an offset is one of a single log"),
        (LABELS, {"source": "sqlite:l.db", "start": None}, "start: choose where .* kafka:deliv"),
        (LABELS, {"dead_letters": "kafka:deliveries"}, "dead_letters = .* is also labels"),
        (LABELS, {"labels_settings": {"features": "a"}}, "labels_settings: features is not one of"),
        (LABELS, {"labels_settings": {"target": "id"}}, "labels_settings: 'id' can't be two of"),
        (LABELS, {"labels_settings": {"decimal": ";"}}, "labels_settings: decimal"),
        (LABELS, {"labels_settings": {"format": "avro"}}, "registry: give the registry's address"),
        # A model for each key
        (KEYED, {"by_key": None, "keys_in_memory": 5}, "keys_in_memory: set by_key"),
        (KEYED, {"learner": "infinite-layer-classifier"}, "by_key: .* classes"),
        (KEYED, {"challengers": {"pool": {"learner": "pool"}}}, "by_key: challengers"),
        (KEYED, {"publish": "models", "snapshots": None}, "publish: .* keys"),
        (KEYED, {"target": "y", "id_field": "shop"}, "by_key = 'shop': id_field"),
        (KEYED, {"target": "y", "ignore": ("sh*",)}, "by_key = 'shop': features or ignore leaves"),
        (KEYED, {"keys_in_memory": 5, "snapshots": None}, "keys_in_memory: without snapshots"),
        # Champion and challengers
        (CONTEST, {"challengers": {"linear": {**LINEAR, "mixture": True}}}, "mixture .* above the"),
        (CONTEST, {"challengers": {"linear": {}}}, "challengers: linear: learner: missing"),
        (CONTEST, {"challengers": {"a": {**LINEAR, "on_failure": "retry"}}}, "a: on_failure"),
        (CONTEST, {"challengers": {"a/b": LINEAR}}, "'a/b' is no name"),
        (CONTEST, {"challengers": {"pool": LINEAR}}, "'pool' is the name of the learner"),
        (CONTEST, {"challengers": {"mixture": LINEAR}}, "'mixture' is the name of the mixture"),
        (CONTEST, {"challengers": {"a": {"learner": "nothing"}}}, "challengers: a: learner = 'no"),
        (
            CONTEST,
            {"challengers": {"a": {"learner": "infinite-layer-classifier"}}},
            "a .* learns classes",
        ),
        (CONTEST, {"challengers": {}, "mixture": True}, "mixture: set challengers"),
        (
            CONTEST,
            {"challengers": {}, "prediction_challengers": True},
            "challengers: there are none",
        ),
        (CONTEST, {"challengers": {}, "promotion": "evidence"}, "promotion: set challengers"),
        (CONTEST, {"prediction_intervals": [0.9]}, "prediction_intervals: ScaledTarget, .* has no"),
        # What a learner can't do
        (LOG, {"learner": "pool", "prediction_contributions": 2}, "ScaledTarget explains no"),
        (
            LOG,
            {"learner": "infinite-layer-classifier", "prediction_intervals": (0.9,)},
            "has no intervals",
        ),
        (
            LOG,
            {"learner": "infinite-layer-classifier", "prediction_quantiles": (0.5,)},
            "prediction_quantiles: .* unset it",
        ),
        (
            LOG,
            {"learner": "river.naive_bayes:GaussianNB", "target": "y", "weight_field": "n"},
            "weight_field: GaussianNB takes no weights",
        ),
        (
            LOG,
            {"learner": "river.linear_model:LinearRegression", "class_weights": {"true": 2}},
            "class_weights: LinearRegression learns numbers",
        ),
        (LOG, {"target": "y", "pending_events": 10}, "pending_events: set id_field"),
        (LOG, {"decoder": "json:loads"}, r"^target: .*records in json:loads"),
        # Several processes
        (WORKERS, {"learner_per": "topic"}, "workers: set learner_per = partition, as one learner"),
        (WORKERS, {"snapshots": None}, "workers: set snapshots"),
        (WORKERS, {"source": "e.jsonl", "snapshots": None}, "workers: e.jsonl has no partitions"),
        (WORKERS, {"predictions": "p.jsonl"}, "set predictions, now 'p.jsonl', to .* several proc"),
        (WORKERS, {"dead_letters": "d.jsonl"}, "set dead_letters, now 'd.jsonl', to .* several"),
        # Forecasts
        (FORECAST, {"target": None, "lags": {}}, "horizon: name the field whose .*: set target"),
        (FORECAST, {"pending_events": 9, "id_field": "id"}, "pending_events: with horizon the lab"),
        (
            FORECAST,
            {"horizon": (), "lags": {}, "forecast": "change"},
            "forecast: only a forecast learns a change: set horizon",
        ),
        (
            FORECAST,
            {"learner": "infinite-layer-classifier", "forecast": "change"},
            "forecast: infinite-layer-classifier learns classes",
        ),
        (FORECAST, {"horizon": ()}, "lags: 'load' is not an input: set horizon"),
        (FORECAST, {"lags": {"temp": [3]}, "ignore": "temp"}, "lags: 'temp' is not an input: name"),
        # History before the log
        (HISTORY, {"snapshots": None}, "warm_start: set snapshots"),
        (HISTORY, {"warm_start_fields": {"topic": "t"}}, "warm_start_fields: topic is not one of"),
        (HISTORY, {"warm_start_fields": {"decimal": "x"}}, "warm_start_fields: decimal"),
        (HISTORY, {"source": "e.jsonl", "snapshots": None}, "after the history a run goes on"),
    ],
)
def test_settings_that_do_not_fit(base: dict[str, Any], more: dict[str, Any], message: str) -> None:
    """A contradiction is an error before anything is opened, with the setting and the remedy."""
    with pytest.raises(IlnError, match=message):
        Service(Settings(**{**base, **more}))


def test_settings_that_only_a_log_has() -> None:
    """Settings that only apply to logs get a warning with a file."""
    ignored = "topic, start, learner_per: ignored, as river:TrumpApproval is not a log"
    more = {"topic": "a", "start": "earliest", "learner_per": "partition"}
    with pytest.warns(IlnWarning, match=ignored):
        Service(Settings(source="river:TrumpApproval", metrics_port=None, **more)).close()


def test_passwords_are_not_shown() -> None:
    """An invalid setting of labels is shown without its value, which may hold a password."""
    with pytest.raises(SettingsError) as caught:
        Settings.load(labels_settings='{"kafka_options": {"sasl_plain_password": "secret"}')
    assert "labels_settings" in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("name", [n for n in vars(datasets.synth) if re.match("[AFS][a-z]+$", n)])
def test_synthetic_source(name: str) -> None:
    """A synthetic stream of River can be a source, and the seed determines its draws."""

    def first(seed: int) -> list[Any]:
        settings = Settings(source=f"synthetic:{name}", seed=seed, limit=20)
        return [record.payload for record in source_stream(settings).source().poll(0)]

    assert len(first(1)) == 20
    assert all(decode(payload).y is not None for payload in first(1))
    assert first(1) == first(1) != first(2)


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, True),
        ({"transactional": False}, False),
        ({"predictions": "p.jsonl"}, False),
        ({"source": "kafka"}, True),
        ({"source": "kafka", "predictions": "kafka:p"}, False),
    ],
)
def test_when_predictions_are_published_in_transactions(
    more: dict[str, Any], expected: bool
) -> None:
    """By default, whenever the source is a log and the predictions go to an embedded log."""
    given = {**LOG, "predictions": "sqlite:log.db#predictions", **more}
    assert is_transactional(Settings(**given)) == expected
