"""What the live page shows: its files and its state in numbered revisions."""

import asyncio
import gzip
import hashlib
import json
import logging
import re
import time
from bisect import bisect_right
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import resources
from pathlib import PurePosixPath
from typing import Any

import httpx
from starlette.requests import Request
from starlette.responses import Response

_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}

HEADERS = {
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
"""Headers of each answer."""

OF_DOCUMENTS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
}
"""Further headers of what a browser shows: it loads nothing from elsewhere, and runs only the
page's own files. Scripts and styles follow the policy of the document."""

_NO_CODE = re.compile(rb"(?m)^\s*(//.*)?\n|^\s+")
"""Comments, empty lines and indentation of scripts, which no browser needs."""


class StaticFile:
    """One file, as it is and compressed."""

    def __init__(self, name: str, content: bytes) -> None:
        kind = PurePosixPath(name).suffix
        if kind == ".js":
            content = _NO_CODE.sub(b"", content)
        self._more = OF_DOCUMENTS if kind in (".html", ".svg") else {}
        self._type = _TYPES[kind]
        self.plain = content
        self.compressed = gzip.compress(content, mtime=0)
        self._tag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'

    def answer(self, request: Request) -> Response:
        """Answer a request; without the content if the browser has it."""
        headers = {
            "Cache-Control": "no-cache",
            "Content-Type": self._type,
            "ETag": self._tag,
            "Vary": "Accept-Encoding",
            **self._more,
        }
        if request.headers.get("if-none-match") == self._tag:
            return Response(status_code=304, headers=headers)
        if "gzip" in request.headers.get("accept-encoding", ""):
            return Response(self.compressed, headers={**headers, "Content-Encoding": "gzip"})
        return Response(self.plain, headers=headers)


def static_files() -> dict[str, StaticFile]:
    """Return the files by path; `/` is index.html."""
    folder = resources.files("iln_stream.serving") / "static"
    files = {f"/{each.name}": StaticFile(each.name, each.read_bytes()) for each in folder.iterdir()}
    return {"/": files.pop("/index.html"), **files}


_RATE_SECONDS = 5.0
"""Time over which a rate is measured."""


class Flow:
    """Measures how fast a learner goes, from the counts at each poll."""

    def __init__(self) -> None:
        self._counts: deque[tuple[float, float]] = deque()
        self._serial = 0

    def point(self, now: float, n_events: float, lag: float | None) -> dict[str, Any]:
        """Return the next point: time, events per second (None at first), and lag."""
        counts = self._counts
        if counts and n_events < counts[-1][1]:
            counts.clear()  # another learner
        counts.append((now, n_events))
        while len(counts) > 2 and counts[1][0] <= now - _RATE_SECONDS:
            counts.popleft()
        begun, n_before = counts[0]
        rate = round((n_events - n_before) / (now - begun), 2) if now > begun else None
        self._serial += 1
        return {"serial": self._serial, "time": round(now, 2), "rate": rate, "lag": lag}


class Whole:
    """A part that is sent whole if it has changed."""

    def __init__(self) -> None:
        self._value: Any = None
        self._changed_at = 0

    def update(self, value: Any, revision: int) -> None:
        """Take the newest value, which belongs to a new revision."""
        if value != self._value:
            self._value = value
            self._changed_at = revision

    def since(self, revision: int) -> Any:
        """Return the value if it is newer."""
        return self._value if self._changed_at > revision else None


class Tail:
    """The latest items of a sequence, each sent once.

    It keeps `most` items.
    """

    def __init__(self, most: int) -> None:
        self.last = 0
        self._items: deque[tuple[int, Mapping[str, Any]]] = deque(maxlen=most)

    def update(self, value: Sequence[Mapping[str, Any]], revision: int) -> None:
        """Take further items; their `serial` numbers increase, and those known are skipped."""
        for item in value:
            if item["serial"] > self.last:
                self.last = item["serial"]
                self._items.append((revision, item))

    def since(self, revision: int) -> Any:
        """Return the newer items."""
        return [item for at, item in self._items if at > revision] or None


class GrowingCurves:
    """Curves that grow at their end, of which only new points are sent.

    When the learner thins them out, or adds a series, they are sent whole. Numbers are rounded to
    six digits, more than a screen shows. With `last`, only so many of the newest points are kept.
    """

    def __init__(self, last: int | None = None) -> None:
        self._last = last
        self._stride = 0
        self._serials: list[int] = []
        self._events: list[int] = []
        self._came_at: list[int] = []  # revision of each point
        self._series: dict[tuple[str, ...], list[float | None]] = {}
        self._whole_at = 0  # revision since which points were only added

    def update(self, value: Mapping[str, Any], revision: int) -> None:
        """Take further points; of those known, multiples of the learner's stride remain."""
        if value["stride"] != self._stride:
            self._thin_out(value["stride"])
            self._whole_at = revision
        last = self._serials[-1] if self._serials else 0
        new = [i for i, serial in enumerate(value["serials"]) if serial > last]
        series = dict(_flat(value["series"]))
        for name in series:
            if name not in self._series:
                self._series[name] = [None] * len(self._serials)
                self._whole_at = revision
        for name, points in self._series.items():
            further = series.get(name)
            digits = 10 if name == ("step", "time") else 6
            points += [None if further is None else _rounded(further[i], digits) for i in new]
        self._serials += [value["serials"][i] for i in new]
        self._events += [value["events"][i] for i in new]
        self._came_at += [revision] * len(new)
        if self._last is not None:
            lists: Any = (self._serials, self._events, self._came_at, *self._series.values())
            for each in lists:
                del each[: -self._last]

    def since(self, revision: int) -> Any:
        """Return new points, and the number of points to keep before them; None: nothing new."""
        kept = 0 if revision < self._whole_at else bisect_right(self._came_at, revision)
        if kept == len(self._serials):
            return None
        series = [[*name, points[kept:]] for name, points in self._series.items()]
        return {"kept": kept, "events": self._events[kept:], "series": series}

    def _thin_out(self, stride: int) -> None:
        remain = [i for i, serial in enumerate(self._serials) if serial % stride == 0]
        for points in (self._serials, self._events, self._came_at, *self._series.values()):
            points[:] = [points[i] for i in remain]  # type: ignore[index]
        self._stride = stride


def _flat(series: Mapping[str, Any]) -> Any:
    """Yield the points of each series by metric, or by metric and label."""
    for metric, points in series.items():
        if isinstance(points, Mapping):
            for label, each in points.items():
                yield (metric, label), each
        else:
            yield (metric,), points


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else float(f"{value:.{digits}g}")


_STEPS = 256
_MOMENTS = 600
_RECENT_POINTS = 40

_WHOLE = (
    *("contenders", "metrics", "dead_letters", "checkpoints", "worst_series", "commands"),
    *("promotions", "calibration", "slices", "window"),
)
_HEAD = ("model", "partition", "task", "source", "learner", "version", "target", "unit")


class ModelParts:
    """The parts of one model.

    Revisions are numbered from 1. A browser that has revision 0 has nothing.
    """

    def __init__(self) -> None:
        self._flow = Flow()
        self.steps = Tail(_STEPS)
        self.parts: dict[str, Whole | Tail | GrowingCurves] = {
            "head": Whole(),
            **{name: Whole() for name in _WHOLE},
            "curves": GrowingCurves(),
            "recent": GrowingCurves(_RECENT_POINTS),
            "steps": self.steps,
            "flow": Tail(_MOMENTS),
        }

    def update(self, live: Mapping[str, Any], now: float, revision: int) -> None:
        """Take the model's section of the learner's answer."""
        n_events = live["metrics"].get("iln_events_total") or 0
        lag = live["metrics"].get("iln_consumer_lag_records")
        values = {
            "head": {name: live.get(name) for name in _HEAD},
            **{name: live.get(name, []) for name in _WHOLE},  # an older learner has fewer
            **{name: live[name] for name in ("curves", "steps")},
            **{name: live[name] for name in ("recent",) if name in live},
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
            self._models.setdefault(keys[-1], ModelParts()).update(each, now, revision)
        run = {name: live[name] for name in ("release", "started_at", "state")}
        self._run.update({**run, "models": keys}, revision)
        if self._connection[0] != "reached":
            self._connection = ("reached", "")
            self._reached_at = now
        self._set_page({"state": "reached", "problem": "", "since": self._reached_at})

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
        self._models: dict[str, ModelParts] = {}
        self._run = Whole()
        self._connection = ("", "")

    def _set_page(self, page: dict[str, Any]) -> None:
        self.revision += 1
        self._page.update({"learner": self._learner, **page}, self.revision)
        self._messages.clear()
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()


log = logging.getLogger(__name__)

_ANSWER_SECONDS = 5.0
_LONGEST = 200
"""Characters of a learner's answer in a warning."""

_UNWATCHED = 10.0
"""Factor of the time between two requests while no browser shows the page."""


class Poller:
    """Updates the board.

    It asks the learner's HTTP server every `seconds`.
    """

    def __init__(self, learner: str, board: Board, seconds: float) -> None:
        self.n_browsers = 0
        self._learner = learner.rstrip("/")
        self._board = board
        self._seconds = seconds
        self._came = asyncio.Event()
        self._warned_of = ""

    async def run(self) -> None:
        """Ask until cancelled."""
        async with httpx.AsyncClient(trust_env=False, timeout=_ANSWER_SECONDS) as http:
            while True:
                await self._ask(http)
                self._came.clear()
                factor = 1.0 if self.n_browsers else _UNWATCHED
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._came.wait(), self._seconds * factor)

    def enter(self) -> None:
        """Count a browser; the first one gets the newest state at once."""
        self.n_browsers += 1
        if self.n_browsers == 1:
            self._came.set()

    def leave(self) -> None:
        """Count a browser off."""
        self.n_browsers -= 1

    async def _ask(self, http: httpx.AsyncClient) -> None:
        board = self._board
        try:
            live = await self._live(http, board.after)
            if not board.knows(live):  # a new process: what it had before `after` is missing
                live = await self._live(http, "0")
            board.update(live, time.time())
            return
        except httpx.HTTPStatusError as error:
            said = f"{error.response.status_code}: {error.response.text.strip()[:_LONGEST]}"
            problem = f"{self._learner}/live answers {said}"
            if problem != self._warned_of:  # it runs, and has to be set up differently
                self._warned_of = problem
                log.warning("%s (`live` of its settings must be on)", problem)
        except httpx.HTTPError as error:
            problem = f"{type(error).__name__}: {error}"
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            problem = f"{self._learner}/live is not that of a learner of this release ({error!r})"
        log.debug("%s", problem)
        board.lost("gone", problem, time.time())

    async def _live(self, http: httpx.AsyncClient, after: str) -> dict[str, Any]:
        answer = await http.get(f"{self._learner}/live", params={"after": after})
        return answer.raise_for_status().json()  # type: ignore[no-any-return]
