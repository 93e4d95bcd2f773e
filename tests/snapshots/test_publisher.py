"""`Publisher`: when a version is published, which number it has, and what failures do."""

import logging
import threading
from time import monotonic, perf_counter, sleep

import numpy as np
import pytest
from river import linear_model

from iln_stream.errors import PublishingError
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor
from iln_stream.loop import Step
from iln_stream.records import Command, DeadLetter
from iln_stream.snapshots import CorruptSnapshotError, read_snapshot
from iln_stream.snapshots.published_file import VersionFile
from iln_stream.snapshots.publisher import Publisher
from iln_stream.streams import StreamPartition


def model():
    return InfiniteLayerRegressor(profile="fast", seed=1)


EVENTS, MORE = StreamPartition("events", 0), StreamPartition("events", 1)


def step(learner, offset, origin=EVENTS, y=1.0):
    """Learn an event; return its step."""
    x = {"a": float(offset)}
    if y is not None:
        learner.learn_one(x, y)
    return Step(origin, offset, None, None, x, y, 0.0, 0.0, ended=perf_counter())


def version_at(path):
    return VersionFile(path).read_header()


def learn_and_publish(publisher, learner, offset):
    """Learn an event, publish as if it were time, and wait until it is written."""
    publisher._due = 0.0
    publisher.on_step(step(learner, offset))
    publisher._writer.wait()


def published(publisher):
    """Wait for the version that is being written; return its header."""
    publisher._writer.wait()
    return version_at(publisher.path)


def test_it_waits_between_versions(path):
    """The first event is published at once, the next ones when the time has come, also where the
    stream pauses, and only once; the end publishes the rest."""
    learner = model()
    with Publisher(path, learner, seconds=3600.0) as publisher:
        publisher.on_step(step(learner, 0))
        assert published(publisher).n_learned == 1
        publisher.on_step(step(learner, 1))
        publisher.on_idle()
        assert published(publisher).n_learned == 1
        for _ in range(2):
            publisher._due = 0.0
            publisher.on_idle()
            assert (published(publisher).version, version_at(path).n_learned) == (2, 2)
        publisher.on_step(step(learner, 2))
    assert version_at(path).n_learned == 3


def test_header(path):
    """A version says what it is: positions after each kind of record, which a letter of an earlier
    event does not move back, counts, names."""
    learner = model()
    with Publisher(
        path, learner, seconds=0.001, name="mine", stream="events", topic_id="t",
        positions={EVENTS: 5, MORE: 6}, n_learned=lambda: 77, configuration="c",
    ) as publisher:  # fmt: skip
        publisher.on_step(step(learner, 9))
        publisher.on_step(step(learner, 10, y=None))
        publisher.on_dead_letter(DeadLetter.of("events", 1, 20, b"", "broken"))
        publisher.on_repeat(MORE, 21)
        publisher.on_dead_letter(DeadLetter.of("events", 0, 3, b"", "an earlier one expired"))
        publisher.on_dead_letter(DeadLetter.of("labels", 2, 30, b"", "broken"))
        publisher.on_command(Command("events", 1, 22, None, "promote", "linear"))
    header = version_at(path)
    assert header.positions == {EVENTS: 11, MORE: 23, StreamPartition("labels", 2): 31}
    assert (header.n_learned, header.task, header.learner) == (77, "regression", "mine")
    assert (header.stream, header.topic_id, header.configuration) == ("events", "t", "c")
    with pytest.raises(CorruptSnapshotError, match="it is a published version"):
        read_snapshot(path)


def test_nothing_after_an_error(path):
    """If the loop fails, the learner may have learned an event that no listener knows of."""
    learner = model()
    publisher = Publisher(path, learner, seconds=3600.0)
    publisher.on_step(step(learner, 0))
    published(publisher)
    publisher.on_step(step(learner, 1))
    with pytest.raises(OSError, match="sink"), publisher:
        raise OSError("sink")
    assert version_at(path).n_learned == 1


def resumed(path, learner, **values):
    """Return the publisher of a run that learns again from the beginning."""
    known = {"seconds": 1e-6, "topic_id": "t", "configuration": "c", "stream": "s"}
    known["resumable"] = True
    return Publisher(path, learner, **{**known, **values})


def test_a_replay_publishes_nothing(path):
    """Until each partition is where the version that is there was, that one stays."""
    learner = model()
    with resumed(path, learner) as publisher:
        for offset in range(10):
            publisher.on_step(step(learner, offset, (EVENTS, MORE)[offset % 2]))
    before = version_at(path)
    learner = model()
    with resumed(path, learner) as publisher:
        for offset in range(9):
            publisher.on_step(step(learner, offset, (EVENTS, MORE)[offset % 2]))
            publisher.on_idle()
        publisher.finish()
        assert version_at(path) == before
        publisher._due = 0.0
        publisher.on_step(step(learner, 9, MORE))
        assert published(publisher).version == before.version + 1


@pytest.mark.parametrize(
    "change", [{"topic_id": "u"}, {"configuration": "d"}, {"stream": "other"}, {"resumable": False}]
)
def test_what_a_run_does_not_continue(path, change):
    """A run with another topic or configuration starts over, and so do its versions' contents; the
    numbers still increase."""
    headers = []
    for values, n in (({}, 5), (change, 2)):
        learner = model()
        with resumed(path, learner, **values) as publisher:
            for offset in range(n):
                publisher.on_step(step(learner, offset))
        headers.append(version_at(path))
    assert [header.n_learned for header in headers] == [5, 2]
    assert headers[1].version > headers[0].version


def test_an_untrained_learner_replaces_nothing(path, caplog):
    """A new learner leaves the version that is there until it has learned an event."""
    first, second = model(), model()
    with Publisher(path, first, resumable=True) as publisher:
        learn_and_publish(publisher, first, 0)
    with Publisher(path, second, resumable=True, positions={EVENTS: 1}, seconds=0.0) as publisher:
        publisher.on_idle()
        assert published(publisher).version == 1
        learn_and_publish(publisher, second, 1)
        assert published(publisher).version == 2
    with (
        caplog.at_level(logging.WARNING),
        Publisher(path, model(), resumable=True, topic_id="another", configuration="x"),
    ):
        assert "another topic or other settings" in caplog.text


@pytest.mark.parametrize(("configuration", "n_learned"), [("b", 1), ("a", 0)])
def test_a_rebuilt_learner_replaces_the_version_at_once(path, configuration, n_learned):
    """After a rebuild, the learner is published though no record comes, whether it has other
    settings or learned fewer events: the version that is there is another learner's."""
    first, rebuilt = model(), model()
    with Publisher(path, first, resumable=True, configuration="a") as publisher:
        learn_and_publish(publisher, first, 0)
    rebuilt.learn_one({"a": 1.0}, 3.0)
    more = {"resumable": True, "configuration": configuration, "positions": {EVENTS: 1}}
    with Publisher(path, rebuilt, n_learned=lambda: n_learned, seconds=0.0, **more) as publisher:
        publisher.on_idle()
        found = published(publisher)
        assert (found.version, found.configuration, found.n_learned) == (
            2,
            configuration,
            n_learned,
        )


def test_a_damaged_version_is_replaced(path, caplog):
    """A file that can't be read is no reason not to start, and the log says so."""
    path.parent.mkdir()
    path.write_bytes(b"nonsense")
    learner = model()
    with Publisher(path, learner) as publisher:
        publisher.on_step(step(learner, 0))
    assert version_at(path).version == 1
    assert "will be replaced" in caplog.text


def test_a_file_of_somebody_else(path):
    """If another process has put a higher version there, ours gets a higher one still."""
    learner = model()
    with Publisher(path, learner, seconds=1e-6) as publisher:
        learn_and_publish(publisher, learner, 0)
        with Publisher(path, learner, seconds=1e-6) as other:
            for offset in range(5):
                learn_and_publish(other, learner, offset)
        highest = version_at(path).version
        assert highest > 5
        learn_and_publish(publisher, learner, 1)
        assert version_at(path).version > highest


def metric(publisher, name):
    """Return a metric's value."""
    return next(each.read() for each in publisher.metrics() if each.name == name)


def test_a_folder_that_can_not_be_written(path, caplog):
    """A failure is counted each time and logged once; learning goes on; the rest is published as
    soon as that is possible, though no event comes."""
    caplog.set_level(logging.INFO)
    path.parent.write_text("a file where the folder should be")
    learner = model()
    with Publisher(path, learner, seconds=1e-6) as publisher:
        for offset in range(3):
            learn_and_publish(publisher, learner, offset)
        assert metric(publisher, "iln_publish_failures_total") == 3
        assert metric(publisher, "iln_published_timestamp_seconds") is None
        assert caplog.text.count("can't publish") == 1
        path.parent.unlink()
        publisher._due = 0.0
        publisher.on_idle()
        assert published(publisher).n_learned == 3
    assert "again" in caplog.text


def test_a_learner_that_is_not_finite(path, caplog):
    """A broken learner is not published; the version before stays, and a healed one follows."""
    learner = model()
    with Publisher(path, learner, seconds=1e-6) as publisher:
        publisher.on_step(step(learner, 0))
        published(publisher)
        whole = learner._engine.theta.copy()
        learner._engine.theta[:] = np.nan
        publisher._unpublished = True
        for _ in range(2):
            publisher._due = 0.0
            publisher.on_idle()
        assert published(publisher).version == 1
        assert metric(publisher, "iln_publish_failures_total") == 2
        assert caplog.text.count("not finite") == 1
        learner._engine.theta[:] = whole
    assert version_at(path).version == 2


def test_a_learner_that_can_not_be_published(path):
    """A River learner needs a pickle; the error at the start says how to allow it. A negative time
    is refused, too."""
    with pytest.raises(PublishingError, match="snapshot_pickle"):
        Publisher(path, linear_model.LinearRegression())
    with pytest.raises(ValueError, match="seconds = -1"):
        Publisher(path, model(), seconds=-1)


class Slow(linear_model.LinearRegression):
    """A learner whose pickle takes a while."""

    def __getstate__(self):
        sleep(0.02)
        return self.__dict__


def test_slow_copies_are_rare(path):
    """A slow pickle is taken less often: copies take a twentieth of the time at most."""
    learner = Slow()
    publisher = Publisher(path, learner, seconds=0.01, allow_pickle=True)
    began, pauses = monotonic(), []
    while len(pauses) < 3 and monotonic() - began < 60.0:
        publisher.learned()
        if publisher._pauses and publisher._pauses[-1] not in pauses:
            pauses.append(publisher._pauses[-1])
    publisher.close()
    assert 0.0 < sum(pauses[:2]) <= 0.05 * (monotonic() - began)


def test_a_slow_disk_does_not_stop_learning(path, monkeypatch):
    """While a version is being written the loop goes on, and skips versions."""
    learner, go_on = model(), threading.Event()
    publisher = Publisher(path, learner, seconds=1e-6)
    write = publisher._file.write

    def slow(*values):
        assert go_on.wait(30)
        return write(*values)

    monkeypatch.setattr(publisher._file, "write", slow)
    for offset in range(5):
        publisher._due = 0.0
        publisher.on_step(step(learner, offset))
    go_on.set()
    assert published(publisher).n_learned == 1
    publisher.finish()
    publisher.close()
    assert (version_at(path).version, version_at(path).n_learned) == (2, 5)


def test_metrics(path):
    """Metrics have no value before the first version, and tell of the last one after it."""
    learner = model()
    with Publisher(path, learner) as publisher:
        names = [each.name for each in publisher.metrics()]
        assert [each.read() for each in publisher.metrics()] == [None] * 3 + [0]
        publisher.on_step(step(learner, 0))
    values = dict(zip(names, (each.read() for each in publisher.metrics()), strict=True))
    assert values["iln_published_timestamp_seconds"] == version_at(path).published_at
    assert 0.0 < values["iln_publish_pause_seconds"] < 60.0
    assert 0.0 < values["iln_publish_duration_seconds"] < 60.0
