"""`rebuild`: learning the log again, up to a position and without records."""

import datetime as dt
import logging
from pathlib import Path
from typing import Any

import pytest
from service.test_recovery import fill, ids, run, snapshot
from support.embedded_log import append, settings_of
from support.saved_state import Saved

from iln_stream.loop import NothingLearnedError
from iln_stream.service import Settings, SettingsError, rebuild
from iln_stream.streams import StreamPartition
from iln_stream.streams.sqlite import create_topic

EVENTS = StreamPartition("log-events", 0)
POISON = b'{"x": {"a": 1e6, "b": 0, "c": 0}, "y": -1e9, "id": "poison"}'


def clean(path: Path, count: int) -> Saved:
    """Return the snapshot of a run on the first events alone, in a log of its own."""
    other = path.parent / f"of {count}" / path.name
    other.parent.mkdir()
    fill(other, count)
    run(other)
    return snapshot(other)


def test_skipped_records_are_not_learned(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The rebuilt model and its counts equal, to the last bit, those of a run without the skipped
    records; the next run resumes after the last record, even if that was skipped."""
    outputs: dict[str, Any] = {"predictions": f"sqlite:{path}#p", "transactional": False}
    fill(path, 30)
    append(path, [POISON])
    fill(path, 30, first=30)
    append(path, [POISON, POISON])
    run(path, **outputs)
    expected = clean(path, 60)
    assert snapshot(path).learner != expected.learner
    skip = {EVENTS: [range(30, 31), range(61, 63)]}
    with caplog.at_level(logging.INFO):
        assert rebuild(settings_of(path), skip=skip) == [{EVENTS: 63}]
    assert "log-events:0: skipped offsets 30, 61-62" in caplog.text
    rebuilt = snapshot(path)
    assert rebuilt.learner == expected.learner
    assert rebuilt.state["counts"]["scores"] == expected.state["counts"]["scores"]
    assert dict(rebuilt.header.positions) == {EVENTS: 63}
    fill(path, 20, first=60)
    run(path, **outputs)
    assert snapshot(path).learner == clean(path, 80).learner
    published = ids(path)
    assert len(published) == len(set(published)) + 2 == 83  # nothing again: three of the poison


@pytest.mark.parametrize("transactional", [False, True])
def test_until_an_offset(path: Path, transactional: bool) -> None:
    """The rebuilt model has learned the records before the offset; a run resumes there and
    publishes the later predictions again, with `transactional` only uncommitted ones."""
    outputs = {"predictions": f"sqlite:{path}#p", "transactional": transactional}
    fill(path, 60)
    run(path, **outputs)
    assert rebuild(settings_of(path), until=40) == [{EVENTS: 40}]
    assert snapshot(path).learner == clean(path, 40).learner
    assert snapshot(path).n_events == 40
    fill(path, 5, first=60)
    run(path, **outputs)
    assert snapshot(path).learner == clean(path, 65).learner
    again = [] if transactional else list(range(40, 60))
    assert ids(path) == [f"e{number}" for number in [*range(60), *again, *range(60, 65)]]


def test_a_rebuild_is_never_beyond_what_was_learned(path: Path) -> None:
    """A rebuild does not learn records that no run has published: predictions would be missing. It
    begins where the log does, also after runs with `start = latest`."""
    fill(path, 20)
    run(path)
    fill(path, 10, first=20)
    assert rebuild(settings_of(path), until=25) == [{EVENTS: 20}]
    later = dt.datetime.now(dt.UTC) + dt.timedelta(hours=1)
    assert rebuild(settings_of(path, start="latest"), until=later) == [{EVENTS: 20}]
    assert snapshot(path).n_events == 20


def test_refused(path: Path) -> None:
    """Errors about `until` and `skip` name the valid values, before anything is learned."""
    create_topic(path, "events", 2)
    fill(path, 10)
    run(path)
    settings = settings_of(path)
    with pytest.raises(SettingsError, match="until = 5: an offset needs a single partition, and 2"):
        rebuild(settings, until=5)
    with pytest.raises(SettingsError, match="events:2 is not learned; give one of log-events:0"):
        rebuild(settings, skip={StreamPartition("log-events", 2): [range(1)]})
    with pytest.raises(SettingsError, match=r"skip: offset 10 of .*: name offsets before 10"):
        rebuild(settings, skip={EVENTS: [range(3, 11)]})


def test_a_model_without_labels_replaces_none(path: Path) -> None:
    """If no record has a label with the new settings, the model that has learned some stays, and
    the error says why events {"x", "y"} have none any more."""
    fill(path, 20)
    run(path)
    before = snapshot(path)
    for forget in (False, True):
        with pytest.raises(NothingLearnedError, match=r"has learned 20\. .* so set target, too"):
            rebuild(settings_of(path, time_features=["hour"]), forget=forget)
    assert snapshot(path).learner == before.learner
    assert rebuild(settings_of(path, time_features=["hour"], target="y")) == [{EVENTS: 20}]


def test_a_source_that_is_no_log(tmp_path: Path) -> None:
    """A rebuild checks its settings as a run does: a file is refused, and no folder is created."""
    settings = Settings(source="events.jsonl", snapshots=str(tmp_path / "s"))
    with pytest.raises(
        SettingsError,
        match=r"resume reading events\.jsonl.*`iln-stream log import events.* --warm-start",
    ):
        rebuild(settings)
    assert not (tmp_path / "s").exists()
