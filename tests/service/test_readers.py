"""`readers`: which partitions each learner reads."""

import pytest
from support.embedded_log import settings_of

from iln_stream.service import SettingsError, source_stream
from iln_stream.service.streams import Reader, readers, seed_of
from iln_stream.streams import StreamPartition
from iln_stream.streams.sqlite import create_topic


def label(number):
    return StreamPartition("log-labels", number)


@pytest.fixture
def of(path):
    """Return the readers of a log with three partitions of events, and topics of labels."""
    create_topic(path, "events", 3)
    create_topic(path, "labels", 3)
    create_topic(path, "two", 2)

    def found(**values):
        settings = settings_of(path, seed=7, **values)
        return readers(settings, source_stream(settings))

    return found


@pytest.mark.parametrize(
    ("partitions", "expected"),
    [
        ("all", [Reader("log-events", "all", (0, 1, 2), 7)]),
        ("2,0,2", [Reader("log-events", "0+2", (0, 2), 7)]),
        ("0", [Reader("log-events", "0", (0,), 7)]),
        ("2", [Reader("log-events", "2", (2,), seed_of(7, 2))]),
    ],
)
def test_chosen_partitions(of, partitions, expected):
    """One learner reads all chosen partitions, each once and in ascending order."""
    assert of(partitions=partitions) == expected


def test_learner_per_partition(of):
    """With a learner per partition, each has its own name and seed."""
    assert of(partitions="0,2", learner_per="partition") == [
        Reader("log-events", "0", (0,), 7),
        Reader("log-events", "2", (2,), seed_of(7, 2)),
    ]


def test_labels(of, path):
    """The learner of a single partition reads all labels, as they may be keyed otherwise; one of
    each partition reads those of its number, which must be as many."""
    labels = {"labels": f"sqlite:{path}#labels", "pending_events": 9, "partitions": "1"}
    assert of(**labels)[0].labels == tuple(map(label, range(3)))
    (reader,) = of(**labels, learner_per="partition")
    assert reader.origins == (StreamPartition("log-events", 1), label(1))


def test_labels_with_another_number_of_partitions(of, path):
    """With a learner per partition a label would be in another one."""
    labels = {"labels": f"sqlite:{path}#two", "pending_events": 9}
    with pytest.raises(SettingsError, match=r"learner_per = 'partition'.* has 3 and .* 2: give"):
        of(**labels, learner_per="partition")
