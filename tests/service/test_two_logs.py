"""Runs that join events with labels of a second log, both embedded."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from support.embedded_log import append, messages, settings_of, values
from support.saved_state import saved

from iln_stream.cli.dead_letters import replay_letters
from iln_stream.errors import IlnError, LostPlaceError, RefusedError
from iln_stream.loop.loop import NothingLearnedError
from iln_stream.service import Service, Settings, rebuild
from iln_stream.streams import NewRecord, StreamPartition
from iln_stream.streams.sqlite import create_topic

N, DELAY = 300, 60.5
START = 1_700_000_000


def event(number: int) -> NewRecord:
    fields = {"order": number, "km": number % 7 / 7, "bags": number % 3, "at": START + number}
    return NewRecord(json.dumps(fields).encode(), key=str(number))


def label(number: int) -> NewRecord:
    fields = {
        "ref": str(number),
        "minutes": number % 7 / 7 + number % 3,
        "done": START + number + DELAY,
        "courier": {"name": "Kim"},
    }
    return NewRecord(json.dumps(fields).encode(), key=str(number))


def settings(path: Path, **more: Any) -> Settings:
    given = {
        "labels": f"sqlite:{path}#labels",
        "id_field": "order",
        "time_field": "at",
        "labels_settings": {"id_field": "ref", "target": "minutes", "time_field": "done"},
        "pending_events": 200,
        "predictions": f"sqlite:{path}#predictions",
    }
    return settings_of(path, **{**given, **more})


def fill(path: Path, begin: int = 0, end: int = N) -> None:
    append(path, [event(number) for number in range(begin, end)])
    append(path, [label(number) for number in range(begin, end)], "labels")


def run(given: Settings) -> dict[str, int]:
    """Run to the end; return counts of all learners together."""
    service = Service(given)
    service.run()
    counted = [worker.watched for worker in service.workers]
    return {
        "events": sum(each.scores.n_events for each in counted),
        "labelled": sum(each.scores.n_labelled for each in counted),
        "dead_letters": sum(each.n_dead_letters for each in counted),
    }


def test_ids_may_be_the_records_keys(path: Path) -> None:
    """With `@key` as id_field of both logs, predictions are those of ids in fields."""
    fill(path)
    run(settings(path))
    by_field = messages(path)
    other = path.with_name("keys-only.db")
    for topic, make, name in (("events", event, "order"), ("labels", label, "ref")):
        records = [make(number) for number in range(N)]
        fields = [{**json.loads(each.value), name: None} for each in records]
        keys = [
            NewRecord(json.dumps(f).encode(), r.key) for f, r in zip(fields, records, strict=True)
        ]
        append(other, keys, topic)
    given = settings(
        other, id_field="@key", ignore=["order"], snapshots=str(path.with_name("other-state")),
        labels_settings={"id_field": "@key", "target": "minutes", "time_field": "done"},
    )  # fmt: skip
    assert run(given)["labelled"] == N
    by_key = messages(other)
    assert [each["y_pred"] for each in by_key] == [each["y_pred"] for each in by_field]


def test_a_run_ends_if_no_label_can_be_read(path: Path) -> None:
    """The settings of labels are wrong: a hundred dead letters are enough to say so."""
    fill(path)
    given = settings(path, labels_settings={"id_field": "courier", "target": "minutes"})
    with pytest.raises(NothingLearnedError, match="could be learned"):
        run(given)


def test_a_backlog_is_joined_as_live(path: Path) -> None:
    """Of a backlog no more events wait at once than did live, and each label is learned."""
    fill(path)
    waiting = round(DELAY + 1)
    assert run(settings(path, pending_events=waiting)) == {
        "events": N, "labelled": N, "dead_letters": 0,
    }  # fmt: skip
    assert saved(path.parent / "state", "log-events").header.positions == {
        ("log-events", 0): N,
        ("log-labels", 0): N,
    }
    sent = messages(path)
    assert [(each["partition"], each["offset"]) for each in sent] == [(0, n) for n in range(N)]


def test_the_page_names_the_target_of_the_labels(path: Path) -> None:
    """The target is a field of the labels only; without its name a page has that of the log."""
    fill(path)
    service = Service(settings(path, metrics_port=0))
    service.run()
    (live,) = (worker.live for worker in service.workers)
    assert live is not None
    assert live.data(0)["target"] == "minutes"


def test_one_learner_of_any_partitions(path: Path) -> None:
    """One learner reads all partitions of both logs, however many each has."""
    create_topic(path, "events", 3)
    create_topic(path, "labels", 2)
    fill(path)
    assert run(settings(path)) == {"events": N, "labelled": N, "dead_letters": 0}
    positions = saved(path.parent / "state", "log-events", "all").header.positions
    assert positions.keys() == {("log-events", p) for p in range(3)} | {
        ("log-labels", p) for p in range(2)
    }
    assert sum(positions.values()) == 2 * N


def test_a_learner_of_each_partition(path: Path) -> None:
    """Each learner reads the partition of labels that has the number of its events' partition."""
    create_topic(path, "events", 2)
    create_topic(path, "labels", 2)
    fill(path)
    counts = run(settings(path, learner_per="partition"))
    assert counts == {"events": N, "labelled": N, "dead_letters": 0}
    for number in (0, 1):
        header = saved(path.parent / "state", "log-events", number).header
        assert header.positions.keys() == {("log-events", number), ("log-labels", number)}


@pytest.mark.thorough
def test_a_recreated_log_of_labels(path: Path) -> None:
    """A log of labels that was deleted and created again is noticed."""
    other = path.with_name("labels.db")
    more = {"labels": f"sqlite:{other}#labels"}
    append(path, [event(number) for number in range(N)])
    append(other, [label(number) for number in range(N)], "labels")
    run(settings(path, **more))
    for name in (other, other.with_name("labels.db-wal"), other.with_name("labels.db-shm")):
        name.unlink(missing_ok=True)
    append(other, [label(number) for number in range(N + 50)], "labels")
    with pytest.raises(LostPlaceError, match="topic labels-labels, partition 0 was deleted and re"):
        Service(settings(path, **more))
    with pytest.raises(NothingLearnedError, match="none of 300 records has a label"):
        rebuild(settings(path, **more))  # the model that has learned stays


def test_other_labels_are_refused(path: Path) -> None:
    """A snapshot of a run with other labels, or other fields of them, is not resumed."""
    fill(path)
    run(settings(path))
    append(path, [label(0)], "more")
    others: list[tuple[dict[str, Any], str]] = [
        ({"labels": f"sqlite:{path}#more"}, "labels.stream was 'log-labels' and is 'log-more'"),
        ({"labels_settings": {"id_field": "ref"}}, "labels.target was 'minutes' and is 'y'"),
        ({"labels": None, "labels_settings": {}}, "labels was {"),
    ]
    for more, told in others:
        with pytest.raises(RefusedError, match=re.escape(f"saved with other settings: {told}")):
            Service(settings(path, **more))


def test_rebuild(path: Path) -> None:
    """A rebuild learns both logs up to the snapshot; it can leave out a label."""
    fill(path)
    counts = run(settings(path))
    before = saved(path.parent / "state", "log-events")
    assert rebuild(settings(path)) == [{("log-events", 0): N, ("log-labels", 0): N}]
    assert saved(path.parent / "state", "log-events").learner == before.learner
    rebuild(settings(path), skip={StreamPartition("log-labels", 0): [range(5, 6)]})
    after = saved(path.parent / "state", "log-events")
    assert (after.n_events, after.n_labelled) == (N, counts["labelled"] - 1)


def test_history_before_two_logs(path: Path) -> None:
    """Events of files wait for labels in the log of labels."""
    fill(path, 100)
    append(path, [label(number) for number in range(90, 100)], "labels")
    lines = [{**json.loads(event(n).value), **json.loads(label(n).value)} for n in range(100)]
    for each in lines[90:]:
        del each["minutes"]
    file = path.with_name("history.jsonl")
    file.write_text("\n".join(map(json.dumps, lines)))
    fields = {"target": "minutes", "ignore": ["ref", "done", "courier"]}
    more = {"warm_start": (str(file),), "warm_start_fields": fields, "start": "earliest"}
    counts = run(settings(path, **more))
    assert counts == {"events": N - 100, "labelled": N - 90, "dead_letters": 0}


def test_dead_letters_of_labels(path: Path) -> None:
    """A record that is no label is a dead letter with its log and partition, and is replayed
    there."""
    fill(path)
    append(path, [b'{"ref": "1"}'], "labels")
    assert run(settings(path))["dead_letters"] == 1
    (letter,) = map(json.loads, values(path, "events-dead-letters"))
    assert (letter["stream"], letter["partition"], letter["offset"]) == ("log-labels", 0, N)
    assert "minutes: missing or null" in letter["reason"]
    replay_letters(settings(path), "", failed_again=False, again=False, console=Console())
    assert values(path, "labels")[N:] == [b'{"ref": "1"}'] * 2


@pytest.mark.parametrize("n_events", [0, 1])
def test_labels_that_are_all_wrong(path: Path, n_events: int) -> None:
    """If the first records are labels that can't be read, the error names their log, also after an
    event that can't be read."""
    create_topic(path, "events")
    append(path, [b"no event"] * n_events)
    append(path, [b'{"id": 1}'] * 100, "labels")
    n = 100 - n_events
    with pytest.raises(IlnError, match=f"log-labels: none of the first {n} records could be learn"):
        run(settings(path))
