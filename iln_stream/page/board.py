"""All that the page shows, in numbered revisions."""

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from iln_stream.page.flow import Flow
from iln_stream.page.parts import Curves, Part, Tail, Whole

_STEPS = 256
_MOMENTS = 600

_WHOLE = ("contenders", "metrics", "dead_letters", "checkpoints", "commands", "promotions")
_HEAD = ("model", "partition", "task", "source", "learner", "version")


class Model:
    """The parts of one model."""

    def __init__(self) -> None:
        self._flow = Flow()
        self.steps = Tail(_STEPS)
        self.parts: dict[str, Part] = {
            "head": Whole(),
            **{name: Whole() for name in _WHOLE},
            "curves": Curves(),
            "steps": self.steps,
            "flow": Tail(_MOMENTS),
        }

    def update(self, live: Mapping[str, Any], now: float, revision: int) -> None:
        """Take the model's section of the learner's answer."""
        metrics = live["metrics"]
        n_events, lag = metrics.get("iln_events_total") or 0, metrics.get("iln_consumer_lag")
        values = {
            "head": {name: live.get(name) for name in _HEAD},
            **{name: live[name] for name in (*_WHOLE, "curves", "steps")},
            "flow": [self._flow.point(now, n_events, lag)],
        }
        for name, value in values.items():
            self.parts[name].update(value, revision)

    def since(self, revision: int) -> dict[str, Any]:
        """Return the parts that have changed, or what is new of them."""
        found = {name: part.since(revision) for name, part in self.parts.items()}
        return {name: value for name, value in found.items() if value is not None}


class Board:
    """The newest state of the learner.

    Each answer of the learner, and each change of its connection, makes a new *revision*. A browser
    that has an older one gets what is new since then in one message, however many revisions it
    missed: nothing waits for a slow browser.

    Parameters
    ----------
    learner
        Address of the learner.
    now
        POSIX time.

    """

    def __init__(self, learner: str, now: float) -> None:
        self.revision = 0
        self._learner = learner
        self._begun_at = 1  # revision since which the learner's process is the same
        self._connection = ("", "")
        self._reached_at = now
        self._begin(None)
        self._page = Whole()
        self._changed = asyncio.Event()
        self._messages: dict[int, str] = {}
        self.lost("connecting", "", now)

    @property
    def after(self) -> str:
        """Serial numbers of the latest steps that are known, of all models in their order."""
        return ",".join(str(model.steps.last) for model in self._models.values()) or "0"

    def knows(self, live: Mapping[str, Any]) -> bool:
        """Return whether an answer is of the process that gave those before."""
        return bool(live["started_at"] == self._started_at)

    def update(self, live: Mapping[str, Any], now: float) -> None:
        """Take an answer of the learner.

        Raises
        ------
        KeyError, TypeError
            When it is not what a learner of this release answers.

        """
        revision = self.revision + 1
        if not self.knows(live):
            self._begin(live["started_at"])
            self._begun_at = revision
        keys = []
        for each in live["models"]:
            keys.append(f"{each['model']}/{each['partition']}")
            self._models.setdefault(keys[-1], Model()).update(each, now, revision)
        run = {name: live[name] for name in ("release", "started_at", "state")}
        self._run.update({**run, "models": keys}, revision)
        self._set_page({"state": "reached", "problem": "", "since": self._reached_since(now)})

    def lost(self, state: str, problem: str, now: float) -> None:
        """Note that the learner can't be reached; the state before stays."""
        if self._connection != (state, problem):
            self._connection = (state, problem)
            self._set_page({"state": state, "problem": problem, "since": now})

    def message(self, revision: int) -> str:
        """Return what a browser with this revision needs, as JSON."""
        if revision not in self._messages:
            models = {key: model.since(revision) for key, model in self._models.items()}
            parts = {"page": self._page.since(revision), "run": self._run.since(revision)}
            self._messages[revision] = json.dumps(
                {
                    "whole": revision < self._begun_at,
                    **{name: part for name, part in parts.items() if part is not None},
                    "models": {key: found for key, found in models.items() if found},
                },
                separators=(",", ":"),
                ensure_ascii=False,
            )
        return self._messages[revision]

    async def newer_than(self, revision: int, seconds: float) -> bool:
        """Wait for a newer revision, at most this long; return whether there is one."""
        if self.revision == revision:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), seconds)
        return self.revision > revision

    def _begin(self, started_at: float | None) -> None:
        self._started_at = started_at
        self._models: dict[str, Model] = {}
        self._run = Whole()
        self._connection = ("", "")

    def _reached_since(self, now: float) -> float:
        state, _ = self._connection
        if state != "reached":
            self._connection = ("reached", "")
            self._reached_at = now
        return self._reached_at

    def _set_page(self, page: dict[str, Any]) -> None:
        self.revision += 1
        self._page.update({"learner": self._learner, **page}, self.revision)
        self._messages.clear()
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()
