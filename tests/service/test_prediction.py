"""`predict`: a stream's predictions, from a learner that does not learn."""

import json

import pytest
from river import dummy, stats

from iln_stream.service import Service, Settings, predict
from iln_stream.streams import Record, StreamPartition


def learner():
    model = dummy.StatisticRegressor(stats.Mean())
    model.learn_one({}, 3.0)
    return model


def test_nothing_is_learned(tmp_path):
    """Labels are scored but not learned; malformed records become dead letters."""
    events = [{"x": {"a": 1}, "y": 5}, {"x": {"a": 2}}, {"x": {"a": 1}, "y": 4}]
    (tmp_path / "e.jsonl").write_text("\n".join([*map(json.dumps, events), "nonsense"]))
    model = learner()
    done = predict(Settings(source="e.jsonl", predictions="p.jsonl"), model)
    found = [json.loads(line) for line in (tmp_path / "p.jsonl").read_text().splitlines()]
    assert [each["y_pred"] for each in found] == [3.0, 3.0, 3.0]
    assert (done.scores.n_events, done.scores.n_labelled, done.n_dead_letters) == (3, 2, 1)
    assert done.scores.running_error == 1.5
    assert model.statistic.n == 1


def test_many_dead_letters(tmp_path):
    """A stream of malformed records only becomes dead letters, however many; it is no error."""
    (tmp_path / "e.jsonl").write_text("nonsense\n" * 150)
    assert predict(Settings(source="e.jsonl"), learner()).n_dead_letters == 150


def test_snapshots_are_ignored(tmp_path):
    """Predicting neither reads nor writes the snapshots that the settings name."""
    (tmp_path / "e.jsonl").write_text('{"x": {"a": 1}}')
    assert predict(Settings(source="e.jsonl", snapshots="s"), learner()).scores.n_events == 1
    assert not (tmp_path / "s").exists()


class Outage:
    """A source that loses its broker once."""

    stream, partitions, lag, exhausted = "outage", (0,), None, False

    def __init__(self, options):
        self.n_polls = 0

    @property
    def connected(self):
        return self.n_polls not in (2, 3)

    def poll(self, timeout):
        self.n_polls += 1
        self.exhausted = self.n_polls >= 5
        origin = StreamPartition("outage", 0)
        return [Record(self.n_polls, {"x": {"a": 1}}, origin)] if self.n_polls in (1, 4) else []

    def close(self):
        pass


def test_an_outage_is_logged(caplog):
    """A prediction logs the outage of its broker, and the end of it, as a run does."""
    done = predict(Settings(source="service.test_prediction:Outage"), learner())
    assert done.scores.n_events == 2
    lost, found = caplog.messages
    assert "is unreachable; waiting " in lost
    assert "is reachable again after 0." in found


@pytest.mark.filterwarnings("ignore:.*nothing was learned")
def test_an_outage_of_a_source_of_ones_own_is_logged(caplog):
    """A run logs it, too, though the source is no log that it could resume from."""
    Service(Settings(source="service.test_prediction:Outage", metrics_port=None)).run()
    told = [each for each in caplog.messages if "reachable" in each]
    assert ["is unreachable" in each for each in told] == [True, False]
