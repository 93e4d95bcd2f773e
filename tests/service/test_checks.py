"""Settings that are valid by themselves but do not fit together."""

import pytest

from iln_stream.errors import IlnWarning, SourceError
from iln_stream.service import Settings, SettingsError
from iln_stream.service.checks import check_settings
from iln_stream.streams import AddressError


def check(**values):
    check_settings(Settings.load(**values))


def test_limit_of_kafka():
    """`limit` with a Kafka source is an error, as it would have no effect."""
    with pytest.raises(SourceError, match="limit: a Kafka source has none; set stop_at_end"):
        check(source="kafka", start="earliest", limit=5)


def test_start_of_kafka():
    """Kafka without snapshots needs `start`: a default could skip records."""
    with pytest.raises(SettingsError, match="start: choose where to begin in kafka:iln-events"):
        check(source="kafka")


def test_settings_that_only_a_log_has():
    """Settings that only apply to logs get a warning with a file."""
    ignored = "topic, start, learner_per: ignored, as e.jsonl is not a log"
    with pytest.warns(IlnWarning, match=ignored):
        check(source="e.jsonl", topic="a", start="earliest", learner_per="partition")


def test_two_topics():
    """Two topics in the settings are an error."""
    with pytest.raises(SettingsError, match="topic = 'b': source = 'kafka:a' names the topic"):
        check(source="kafka:a", topic="b", start="earliest")


@pytest.mark.parametrize("name", ["//host/topic", "a b", "x" * 250])
def test_invalid_topic_name(name):
    """An invalid topic name is an error."""
    with pytest.raises(SourceError, match="is not a topic's name"):
        check(source=f"kafka:{name}", start="earliest")


@pytest.mark.parametrize("address", ["kafka", "kafka:"])
def test_output_that_names_no_topic(address):
    """An output address needs a topic name after `kafka:`."""
    with pytest.raises(AddressError, match="kafka:NAME"):
        check(source="kafka", start="earliest", predictions=address)
