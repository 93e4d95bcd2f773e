"""`readers`: which partitions each learner reads."""

import pytest
from support.kafka_topics import create_topic

from iln_stream.service import Settings, SettingsError, source_stream
from iln_stream.service.streams import Reader, readers, seed_of
from iln_stream.streams import StreamPartition
from iln_stream.streams.sqlite import create_topic as create_embedded_topic


def of(**values):
    settings = Settings.load(**{"source": "kafka", "seed": 7, **values})
    return readers(settings, source_stream(settings))


@pytest.fixture
def logs(tmp_path):
    """Return settings of embedded logs of events and labels, with so many partitions."""

    def make(n_events, n_labels, **values):
        path = tmp_path / "log.db"
        create_embedded_topic(path, "events", n_events)
        create_embedded_topic(path, "labels", n_labels)
        address = f"sqlite:{path}"
        return of(source=address, labels=f"{address}#labels", pending_events=9, **values)

    return make


def label(number):
    return StreamPartition("log-labels", number)


def test_one_learner_reads_all_labels(logs):
    """One learner reads all partitions of labels, whatever it reads of the events."""
    assert logs(3, 2) == [Reader("log-events", "all", (0, 1, 2), 7, (label(0), label(1)))]


def test_one_partition_of_events(logs):
    """The learner of a single partition reads all labels, as they may be keyed otherwise."""
    assert logs(2, 2, partitions="1")[0].labels == (label(0), label(1))


def test_labels_per_partition(logs):
    """With a learner per partition each reads the labels in the partition of its number."""
    found = logs(2, 2, learner_per="partition")
    assert [(each.partitions, each.labels, each.name) for each in found] == [
        ((p,), (label(p),), str(p)) for p in (0, 1)
    ]


def test_labels_of_one_of_the_partitions(logs):
    """So does one that reads only some of the partitions."""
    (reader,) = logs(2, 2, learner_per="partition", partitions="1")
    assert reader.origins == (StreamPartition("log-events", 1), label(1))


@pytest.mark.parametrize("n_labels", [1, 3])
def test_labels_with_another_number_of_partitions(logs, n_labels):
    """With a learner per partition the numbers must be equal, or a label is in another one."""
    with pytest.raises(SettingsError, match=r"learner_per = 'partition': .*give both topics as"):
        logs(2, n_labels, learner_per="partition")


def test_file():
    """A source that is not a log has one reader, with the settings' seed."""
    assert of(source="events.jsonl") == [Reader("events.jsonl", "0", (0,), 7)]


@pytest.mark.parametrize(
    ("partitions", "expected"),
    [
        ("2,0,2", [Reader("iln-events", "0+2", (0, 2), 7)]),
        ("0", [Reader("iln-events", "0", (0,), 7)]),
        ("3", [Reader("iln-events", "3", (3,), seed_of(7, 3))]),
    ],
)
def test_chosen_partitions(partitions, expected):
    """One learner reads all chosen partitions, each once and in ascending order."""
    assert of(partitions=partitions) == expected


def test_learner_per_partition():
    """With a learner per partition, each has its own name and seed."""
    assert of(partitions="0,2", learner_per="partition") == [
        Reader("iln-events", "0", (0,), 7),
        Reader("iln-events", "2", (2,), seed_of(7, 2)),
    ]


@pytest.mark.parametrize(("n", "name"), [(1, "0"), (3, "all")])
def test_all_partitions(n, name, broker):
    """`all` reads every partition of the topic; the name `all` holds when partitions are added."""
    topic = create_topic(broker.bootstrap, partitions=n)
    assert of(topic=topic, bootstrap=broker.bootstrap) == [Reader(topic, name, tuple(range(n)), 7)]
