"""Listeners that keep what they hear, and runs of the loop over a few payloads."""

from __future__ import annotations

from typing import Any

from iln_stream.loop import Listener, PrequentialLoop, Step
from iln_stream.records import Command, DeadLetter
from iln_stream.streams import Record, StreamPartition
from support.list_source import LIST, ListSource
from support.web import ask


class Heard(Listener):
    """Keeps all calls: `told` has the kind and the offset of each, in order."""

    def __init__(self) -> None:
        self.told: list[tuple[str, int | None]] = []
        self.steps: list[Step] = []
        self.letters: list[DeadLetter] = []
        self.repeats: list[int] = []
        self.commands: list[Command] = []

    def on_step(self, step: Step) -> None:
        self.told.append(("step", step.offset))
        self.steps.append(step)

    def on_dead_letter(self, letter: DeadLetter) -> None:
        self.told.append(("letter", letter.offset))
        self.letters.append(letter)

    def on_repeat(self, origin: StreamPartition, offset: int) -> None:
        self.told.append(("repeat", offset))
        self.repeats.append(offset)

    def on_command(self, command: Command) -> None:
        self.told.append(("command", command.offset))
        self.commands.append(command)

    def on_idle(self) -> None:
        self.told.append(("idle", None))


def heard_of(learner: Any, *payloads: Any, **options: Any) -> Heard:
    """Run the loop over records, or over payloads at the offsets 0, 1, ..."""
    heard = Heard()
    records = [p if isinstance(p, Record) else Record(i, p, LIST) for i, p in enumerate(payloads)]
    PrequentialLoop(ListSource(records), learner, [heard], **options).run()
    return heard


def scraped_at_each_step(running: Any) -> list[str]:
    """Run a service, and return what /metrics answered at each step."""
    pages: list[str] = []

    class Scraper(Listener):
        def on_step(self, step: Step) -> None:
            pages.append(ask(running.metrics_url)[1])

    running.workers[0].loop.listeners += (Scraper(),)
    running.run()
    return pages
