"""Commands in the loop: carried out in the order of events, or written to the dead letters."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.list_source import LIST, ListSource
from support.promotable import Promotable
from support.recording_learners import Recording

from iln_stream.loop import (
    Forecasts,
    Horizon,
    LateLabels,
    LatePolicy,
    Listener,
    NothingLearnedError,
    PrequentialLoop,
    RecentIds,
    Regression,
    Step,
)
from iln_stream.records import Command, DeadLetter, MalformedError, promotion
from iln_stream.streams import Record


class Recorder(Listener):
    """Keeps what it gets, in order."""

    def __init__(self) -> None:
        self.got: list[Any] = []

    def on_step(self, step: Step) -> None:
        self.got.append((step.offset, step.y_pred, step.late))

    def on_dead_letter(self, letter: DeadLetter) -> None:
        self.got.append((letter.offset, letter.reason))

    def on_command(self, command: Command) -> None:
        self.got.append(command)


class Passed:
    """A checkpoint that keeps what passed."""

    def __init__(self) -> None:
        self.offsets: list[int] = []

    def passed(self, partition: int, offset: int, ended: float) -> None:
        self.offsets.append(offset)

    def idle(self) -> None:
        pass


def event(number: int, **more: Any) -> bytes:
    return json.dumps({"x": {"a": number}, **more}).encode()


def learned(payloads: list[Any], learner: Any = None, **options: Any) -> list[Any]:
    """Return what listeners got of records at offsets 0, 1, ..."""
    records = [Record(i, payload, LIST, 60.0) for i, payload in enumerate(payloads)]
    recorder = Recorder()
    PrequentialLoop(
        ListSource(records), Promotable() if learner is None else learner, [recorder], **options
    ).run()
    return recorder.got


def test_a_promotion_holds_from_the_next_event_on() -> None:
    """Events before the command are predicted by the old champion, those after it by the new."""
    checkpoint = Passed()
    payloads = [event(0, y=1.0), promotion("two"), event(1, y=1.0), promotion("one"), event(2)]
    assert learned(payloads, checkpoint=checkpoint) == [
        (0, 1.0, False),
        Command("list", 0, 1, 60.0, "promote", "two"),
        (2, 2.001, False),
        Command("list", 0, 3, 60.0, "promote", "one"),
        (4, 1.002, False),
    ]
    assert checkpoint.offsets == [0, 1, 2, 3, 4]


def test_a_command_that_can_not_be_carried_out() -> None:
    """An unknown contender or command is a dead letter that names the remedy; learning goes on."""
    got = learned([promotion("three"), b'{"iln_stream": {}}', event(0, y=1.0)])
    assert got[0] == (0, "promote: no contender 'three'; there are one, two")
    assert "iln_stream.promote: Field required" in got[1][1]
    assert got[2] == (2, 1.0, False)


def test_a_single_learner_has_no_contenders() -> None:
    """A promotion in the log of a single learner is a dead letter that names the setting."""
    ((offset, reason),) = learned([promotion("two")], Recording())
    assert offset == 0
    assert "only one learner, Recording: set challengers" in reason


def test_an_error_of_the_learner_is_a_dead_letter() -> None:
    """If promoting itself fails, the command is kept with the error."""

    class Broken(Promotable):
        def promote(self, name: str) -> None:
            raise ZeroDivisionError("no")

    got = learned([promotion("two"), event(0, y=1.0)], Broken())
    assert got == [(0, "the command failed: ZeroDivisionError: no"), (1, 1.0, False)]


def test_no_decoder_sees_a_command() -> None:
    """A command is recognised whatever the format of the events."""

    class Decoder:
        def __call__(self, payload: Any, written: float | None) -> Any:
            raise MalformedError("not of this format")

    got = learned([promotion("two")], decoder=Decoder())
    assert got == [Command("list", 0, 0, 60.0, "promote", "two")]


def test_commands_are_no_events_of_a_new_learner() -> None:
    """A log in which nothing but commands could be read still says that its format is wrong."""
    with pytest.raises(NothingLearnedError, match="first 1 records"):
        learned([promotion("two"), b"?"], never_learned=True)
    assert len(learned([promotion("three")], never_learned=True)) == 1


def test_a_label_scores_the_prediction_made_before_a_promotion() -> None:
    """With late labels and repeats, a command neither waits nor is a repeat of another."""
    task = Regression()
    got = learned(
        [
            event(0, id="a"),
            promotion("two"),
            promotion("two"),
            json.dumps({"id": "a", "y": 5.0}).encode(),
            event(1, id="b"),
        ],
        task=task,
        late=LateLabels(LatePolicy(10), task, ["list"]),
        recent_ids=RecentIds(10),
    )
    assert [each for each in got if not isinstance(each, Command)] == [
        (0, 1.0, False), (3, 1.0, True), (4, 2.001, False),
    ]  # fmt: skip
    assert len(got) == 5


def test_a_command_is_no_record_of_a_series() -> None:
    """A forecast of the next record's value skips commands."""
    task = Regression()
    got = learned(
        [event(0, y=1.0), promotion("two"), event(1, y=2.0)],
        task=task,
        late=Forecasts(Horizon.of("1"), task),
    )
    assert [each for each in got if not isinstance(each, Command)] == [
        (0, 1.0, False), (2, 1.0, True), (2, 2.001, False),
    ]  # fmt: skip
