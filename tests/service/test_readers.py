"""`readers`: which partitions each learner reads."""

import pytest
from support.kafka_topics import create_topic

from iln_stream.service import Settings, source_stream
from iln_stream.service.readers import Reader, readers, seed_of


def of(**values):
    settings = Settings.load(**{"source": "kafka", "seed": 7, **values})
    return readers(settings, source_stream(settings))


def test_file():
    """A source that is not a log has one reader, with the settings' seed."""
    assert of(source="events.jsonl") == [Reader("0", (0,), 7)]


@pytest.mark.parametrize(
    ("partitions", "expected"),
    [
        ("2,0,2", [Reader("0+2", (0, 2), 7)]),
        ("0", [Reader("0", (0,), 7)]),
        ("3", [Reader("3", (3,), seed_of(7, 3))]),
    ],
)
def test_chosen_partitions(partitions, expected):
    """One learner reads all chosen partitions, each once and in ascending order."""
    assert of(partitions=partitions) == expected


def test_learner_per_partition():
    """With a learner per partition, each has its own name and seed."""
    assert of(partitions="0,2", learner_per="partition") == [
        Reader("0", (0,), 7),
        Reader("2", (2,), seed_of(7, 2)),
    ]


@pytest.mark.parametrize(("n", "name"), [(1, "0"), (3, "all")])
def test_all_partitions(n, name, broker):
    """`all` reads every partition of the topic; the name `all` holds when partitions are added."""
    topic = create_topic(broker.bootstrap, partitions=n)
    assert of(topic=topic, bootstrap=broker.bootstrap) == [Reader(name, tuple(range(n)), 7)]
