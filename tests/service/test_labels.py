"""The log of labels: which settings read it."""

from iln_stream.loop import Regression
from iln_stream.records import Example
from iln_stream.service import Settings
from iln_stream.service.streams import build_label_log, label_stream, settings_of_labels

TWO_TOPICS = {"source": "kafka:orders", "labels": "kafka:deliveries", "pending_events": 100}


def settings(**more):
    return Settings(**{**TWO_TOPICS, "start": "earliest", **more})


def decoded(payload, **more):
    return build_label_log(settings(**more), Regression()).decode(payload, 90.0)


def test_labels_in_an_envelope():
    """Unless settings name fields, a label has `id` and `y`, maybe `timestamp` and `weight`."""
    label = decoded(b'{"id": "a", "y": 2, "timestamp": 60, "weight": 3, "z": 1}')
    assert label == Example(None, 2.0, "a", 60.0, 3.0)
    assert decoded(b'{"id": "a", "y": 2}') == Example(None, 2.0, "a", 90.0)


def test_fields_of_the_source_are_those_of_labels():
    """Labels have the fields of the events, unless they have their own: not the weight."""
    more = {"target": "minutes", "id_field": "order", "time_field": "at", "weight_field": "weight"}
    payload = b'{"order": 7, "minutes": 31, "at": 60, "done": 70, "weight": 12.5}'
    assert decoded(payload, **more) == Example(None, 31.0, "7", 60.0)
    own = {"labels_settings": {"time_field": "done"}}
    assert decoded(payload, **more, **own) == Example(None, 31.0, "7", 70.0)
    own = {"labels_settings": {"time_field": ""}}
    assert decoded(payload, **more, **own) == Example(None, 31.0, "7", 90.0)


def test_named_fields_only():
    """Once a field of labels is named, others such as `weight` have no meaning by their name."""
    more = {"id_field": "order", "labels_settings": {"target": "minutes"}}
    payload = b'{"order": 7, "minutes": 31, "timestamp": "?", "weight": -1}'
    assert decoded(payload, **more) == Example(None, 31.0, "7", 90.0)


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
