"""The log of labels: which settings read it, and which don't fit."""

import pytest

from iln_stream.errors import IlnError
from iln_stream.loop import Classification, Regression
from iln_stream.service import Settings, SettingsError, source_stream
from iln_stream.service.checks import check_labels
from iln_stream.service.streams import (
    build_label_log,
    described_labels,
    label_stream,
    settings_of_labels,
    time_of_records,
)
from iln_stream.streams import Record, StreamPartition

TWO_TOPICS = {"source": "kafka:orders", "labels": "kafka:deliveries", "pending_events": 100}


def settings(**more):
    return Settings(**{**TWO_TOPICS, "start": "earliest", **more})


def decoded(payload, **more):
    return build_label_log(settings(**more), Regression()).decode(payload, 90.0)


def test_labels_in_an_envelope():
    """Unless settings name fields, a label has `id` and `y`, maybe `timestamp` and `weight`."""
    label = decoded(b'{"id": "a", "y": 2, "timestamp": 60, "weight": 3, "z": 1}')
    assert label == (None, 2.0, "a", 60.0, 3.0)
    assert decoded(b'{"id": "a", "y": 2}') == (None, 2.0, "a", 90.0, None)


def test_fields_of_the_source_are_those_of_labels():
    """Labels have the fields of the events, unless they have their own: not the weight."""
    more = {"target": "minutes", "id_field": "order", "time_field": "at", "weight_field": "weight"}
    payload = b'{"order": 7, "minutes": 31, "at": 60, "done": 70, "weight": 12.5}'
    assert decoded(payload, **more) == (None, 31.0, "7", 60.0, None)
    own = {"labels_settings": {"time_field": "done"}}
    assert decoded(payload, **more, **own) == (None, 31.0, "7", 70.0, None)
    own = {"labels_settings": {"time_field": ""}}
    assert decoded(payload, **more, **own) == (None, 31.0, "7", 90.0, None)


def test_named_fields_only():
    """Once a field of labels is named, others such as `weight` have no meaning by their name."""
    more = {"id_field": "order", "labels_settings": {"target": "minutes"}}
    payload = b'{"order": 7, "minutes": 31, "timestamp": "?", "weight": -1}'
    assert decoded(payload, **more) == (None, 31.0, "7", 90.0, None)


def test_labels_of_a_classification():
    """A label of a classification is a class."""
    log = build_label_log(settings(), Classification())
    assert log.stream == "deliveries"
    assert log.decode(b'{"id": "a", "y": "late"}', None).y == "late"


def test_another_broker():
    """Labels may be on another broker, with other options."""
    own = {"bootstrap": "other:9092", "kafka_options": {"security_protocol": "SSL"}}
    options = label_stream(settings(labels_settings=own)).options
    assert (options.bootstrap, options.kafka_options) == ("other:9092", own["kafka_options"])
    assert label_stream(settings()).options.bootstrap == Settings().bootstrap


def test_formats():
    """Labels in JSON beside events in Avro need no registry, and vice versa."""
    registry = {"format": "avro", "registry": "http://127.0.0.1:1"}
    own = settings_of_labels(settings(**registry, labels_settings={"format": "json"}))
    assert (own.format, own.registry) == ("json", None)
    own = settings_of_labels(settings(labels_settings=registry))
    assert (own.format, own.registry) == ("avro", "http://127.0.0.1:1")
    own = settings_of_labels(settings(**registry, labels_settings={"decoder": "a:b"}))
    assert (own.format, own.registry, own.decoder) == ("json", None, "a:b")
    own = settings_of_labels(settings(decoder="a:b", labels_settings={"format": "json"}))
    assert own.decoder is None


def test_times_of_records():
    """Each log has its own field of the time; in an envelope it is `timestamp`."""
    mapped = settings(
        target="y", id_field="id", time_field="at", labels_settings={"time_field": "done"}
    )
    payload = b'{"at": 60, "done": 70, "timestamp": 80}'
    origins = StreamPartition("orders", 0), StreamPartition("deliveries", 0)
    for given, expected in ((mapped, [60.0, 70.0]), (settings(), [80.0, 80.0])):
        time_of = time_of_records(given, source_stream(given))
        assert [time_of(Record(0, payload, origin, 90.0)) for origin in origins] == expected
    assert time_of_records(Settings(), source_stream(Settings())) is None


def test_what_a_snapshot_describes():
    """A snapshot names the log of labels and its fields; None is its absence."""
    assert described_labels(Settings()) is None
    assert described_labels(settings(labels_settings={"target": "minutes"})) == {
        "stream": "deliveries", "target": "minutes", "id_field": "id",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"labels": None, "labels_settings": {"target": "y"}}, "labels_settings: name the log"),
        ({"labels": "labels.csv"}, "labels = 'labels.csv' is not a log: copy it into one"),
        ({"source": "events.jsonl"}, "labels: only a log can be joined"),
        ({"labels": "kafka:orders"}, "labels = 'kafka:orders' is the source: leave labels unset"),
        ({"source": "sqlite:a/l.db", "labels": "sqlite:b/l.db"}, "labels: .* have the same name"),
        ({"pending_events": None}, "labels: set pending_events"),
        ({"target": "y"}, "labels: set id_field"),
        ({"start": 5, "partitions": "0"}, "start = 5: an offset is one of a single log"),
        ({"source": "sqlite:l.db", "start": None}, "start: choose where to begin in kafka:deliv"),
        ({"labels": "kafka:a b"}, "'a b' is not a topic's name"),
        ({"labels_settings": {"features": "a"}}, "labels_settings: features is not one of"),
        ({"labels_settings": {"target": ""}}, "labels_settings: target can't be empty"),
        ({"labels_settings": {"target": "id"}}, "labels_settings: 'id' can't be two of"),
        ({"labels_settings": {"types": {"y": "int"}}}, "labels_settings: types: y = 'int'"),
        ({"labels_settings": {"decimal": ";"}}, "labels_settings: decimal"),
        ({"labels_settings": {"format": "avro"}}, "registry: give the registry's address"),
    ],
)
def test_settings_that_do_not_fit(more, message):
    """Settings of labels that contradict others are errors that name the setting."""
    given = settings(**more)
    with pytest.raises(IlnError, match=message):
        check_labels(given, source_stream(given))


def test_passwords_are_not_shown():
    """An invalid setting of labels is shown without its value, which may hold a password."""
    with pytest.raises(SettingsError) as caught:
        Settings.load(labels_settings='{"kafka_options": {"sasl_plain_password": "secret"}')
    assert "labels_settings" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_settings_that_fit():
    """Two topics of one broker need no further settings."""
    check_labels(settings(), source_stream(settings()))
    check_labels(Settings(), source_stream(Settings()))
