"""Commands in the loop: carried out in the order of events, or written to the dead letters."""

import json

import pytest
from support.heard import heard_of
from support.list_source import LIST
from support.promotable import Promotable
from support.recording_learners import Recording

from iln_stream.loop import (
    Forecasts,
    Horizon,
    LateLabels,
    LatePolicy,
    NothingLearnedError,
    RecentIds,
    Regression,
)
from iln_stream.records import Command, MalformedError, promotion
from iln_stream.streams import Record


class Passed:
    """A checkpoint that keeps what passed."""

    def __init__(self):
        self.offsets = []

    def passed(self, records):
        self.offsets += [record.offset for record in records]


def event(number, **more):
    return json.dumps({"x": {"a": number}, **more}).encode()


def learned(*payloads, learner=None, **options):
    """Return what is heard of records at offsets 0, 1, ..."""
    records = [Record(i, payload, LIST, 60.0) for i, payload in enumerate(payloads)]
    return heard_of(learner or Promotable(), *records, **options)


def predictions(heard):
    return [(step.offset, step.y_pred, step.late) for step in heard.steps]


def test_a_promotion_holds_from_the_next_event_on():
    """Events before the command are predicted by the old champion, those after it by the new."""
    checkpoint = Passed()
    heard = learned(
        *(event(0, y=1.0), promotion("two"), event(1, y=1.0), promotion("one"), event(2)),
        checkpoint=checkpoint,
    )
    assert predictions(heard) == [(0, 1.0, False), (2, 2.001, False), (4, 1.002, False)]
    assert heard.commands == [
        Command("list", 0, 1, 60.0, "promote", "two"),
        Command("list", 0, 3, 60.0, "promote", "one"),
    ]
    assert checkpoint.offsets == [offset for _, offset in heard.told] == [0, 1, 2, 3, 4]


def test_a_command_that_can_not_be_carried_out():
    """An unknown contender or command is a dead letter that names the remedy, as is one that fails;
    learning goes on."""
    heard = learned(promotion("three"), b'{"iln_stream": {}}', event(0, y=1.0))
    unknown, malformed = (letter.reason for letter in heard.letters)
    assert unknown == "promote: no contender 'three'; there are one, two"
    assert 'a command is {"iln_stream": {"promote": "NAME"}}' in malformed
    assert predictions(heard) == [(2, 1.0, False)]

    class Broken(Promotable):
        def promote(self, name):
            raise ZeroDivisionError("no")

    (failed,) = learned(promotion("two"), event(0, y=1.0), learner=Broken()).letters
    assert (failed.offset, failed.reason) == (0, "the command failed: ZeroDivisionError: no")


def test_a_single_learner_has_no_contenders():
    """A promotion in the log of a single learner is a dead letter that names the setting."""
    (letter,) = learned(promotion("two"), learner=Recording()).letters
    assert "only one learner, Recording: set challengers" in letter.reason


def test_no_decoder_sees_a_command():
    """A command is recognised whatever the format of the events."""

    def decoder(payload, written):
        raise MalformedError("not of this format")

    assert learned(promotion("two"), decoder=decoder).told == [("command", 0)]


def test_commands_are_no_events_of_a_new_learner():
    """A log in which nothing but commands could be read still says that its format is wrong."""
    with pytest.raises(NothingLearnedError, match="first 1 records"):
        learned(promotion("two"), b"?", never_learned=True)
    assert learned(promotion("three"), never_learned=True).told == [("letter", 0)]


def test_a_label_scores_the_prediction_made_before_a_promotion():
    """With late labels and repeats, a command neither waits nor is a repeat of another."""
    task = Regression()
    heard = learned(
        event(0, id="a"),
        promotion("two"),
        promotion("two"),
        json.dumps({"id": "a", "y": 5.0}).encode(),
        event(1, id="b"),
        task=task,
        late=LateLabels(LatePolicy(10), task, ["list"]),
        recent_ids=RecentIds(10),
    )
    assert predictions(heard) == [(0, 1.0, False), (3, 1.0, True), (4, 2.001, False)]
    assert len(heard.commands) == 2


def test_a_command_is_no_record_of_a_series():
    """A forecast of the next record's value skips commands."""
    task = Regression()
    late = Forecasts(Horizon.of("1"), task)
    heard = learned(event(0, y=1.0), promotion("two"), event(1, y=2.0), task=task, late=late)
    assert predictions(heard) == [(0, 1.0, False), (2, 1.0, True), (2, 2.001, False)]
