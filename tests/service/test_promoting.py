"""Promotions by command: a record of the log, whose place every replay repeats."""

import json
from pathlib import Path
from typing import Any

import pytest
from support.embedded_log import append, messages, settings_of, values
from support.saved_state import saved

from iln_stream.service import Service, Settings, promote, rebuild
from iln_stream.streams import Appended, NewRecord
from iln_stream.streams.sqlite import create_topic


def event(number: int) -> NewRecord:
    fields = {"x": {"a": number % 7 / 7}, "y": number % 5, "id": str(number)}
    return NewRecord(json.dumps(fields).encode(), key=str(number))


def fill(path: Path, first: int, count: int) -> None:
    append(path, [event(number) for number in range(first, first + count)])


def settings(path: Path, **more: Any) -> Settings:
    given = {
        "predictions": f"sqlite:{path}#predictions",
        "snapshot_pickle": True,
        "learner": "support.promotable:Promotable",
        "learner_options": {},
    }
    return settings_of(path, **{**given, **more})


def predicted(path: Path, topic: str = "predictions", partition: int = 0) -> list[int]:
    """Return the whole part of each prediction, which is the champion's number."""
    return [int(value["y_pred"]) for value in messages(path, topic, partition)]


def test_a_promotion_has_a_place_among_the_events(path: Path) -> None:
    """The new champion predicts from the command on, also in a resumed run and in a rebuild."""
    fill(path, 0, 50)
    assert promote(settings(path), "two") == [Appended(0, 50)]
    fill(path, 50, 50)
    Service(settings(path)).run()
    fill(path, 100, 50)
    assert promote(settings(path), "one") == [Appended(0, 151)]
    assert promote(settings(path), "three") == [Appended(0, 152)]
    fill(path, 150, 50)
    Service(settings(path)).run()
    assert predicted(path) == [1] * 50 + [2] * 100 + [1] * 50
    resumed = saved(path.parent / "state", "log-events")
    (letter,) = map(json.loads, values(path, "events-dead-letters"))
    assert letter["reason"] == "promote: no contender 'three'; there are one, two"
    assert (resumed.n_dead_letters, resumed.state["counts"]["n_commands"]) == (1, 2)

    whole = settings(path, snapshots=str(path.parent / "whole"), predictions=f"sqlite:{path}#q")
    Service(whole).run()
    assert saved(path.parent / "whole", "log-events").bits == resumed.bits
    assert values(path, "q") == values(path, "predictions")
    rebuild(settings(path))
    assert saved(path.parent / "state", "log-events").bits == resumed.bits


@pytest.mark.parametrize(("learner_per", "n_commands"), [("partition", 3), ("topic", 1)])
def test_each_learner_gets_it_once(path: Path, learner_per: str, n_commands: int) -> None:
    """Learners of one partition each get a record of their own, and one learner of all gets one."""
    create_topic(path, "events", n_partitions=3)
    own = settings(path, learner_per=learner_per)
    fill(path, 0, 60)
    Service(own).run()
    places = promote(own, "two")
    assert [place.partition for place in places] == list(range(n_commands))
    Service(own).run()
    fill(path, 60, 60)
    Service(own).run()
    for partition in range(3):
        found = messages(path, "predictions", partition)
        champions = {int(each["id"]) < 60: int(each["y_pred"]) for each in found}
        assert champions == {True: 1, False: 2}


def test_in_the_log_of_labels(path: Path) -> None:
    """A command may come in the second log, of labels, too; it is none of its labels."""
    append(path, [event(0)])
    append(path, [b'{"id": "0", "y": 3}', b'{"iln_stream": {"promote": "two"}}'], "labels")
    own = settings(path, labels=f"sqlite:{path}#labels", pending_events=10)
    Service(own).run()
    found = saved(path.parent / "state", "log-events")
    assert (found.n_dead_letters, found.state["counts"]["n_commands"]) == (0, 1)
    assert found.header.positions == {("log-events", 0): 1, ("log-labels", 0): 2}


def test_in_history(path: Path) -> None:
    """A command in a file of history is carried out at its place there."""
    history = path.parent / "history.jsonl"
    lines = [event(0).value, b'{"iln_stream": {"promote": "two"}}', event(1).value]
    history.write_bytes(b"\n".join(lines) + b"\n")
    fill(path, 0, 3)
    Service(settings(path, warm_start=str(history), start="earliest")).run()
    assert predicted(path) == [2, 2, 2]
