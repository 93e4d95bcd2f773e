"""Asks the learner for its state, however many browsers show it."""

import asyncio
import logging
import time
from contextlib import suppress
from typing import Any

import httpx

from iln_stream.page.board import Board

log = logging.getLogger(__name__)

_ANSWER_SECONDS = 5.0
_LONGEST = 200
"""Characters of a learner's answer in a warning."""

_UNWATCHED = 10.0
"""Factor of the time between two requests while no browser shows the page."""


class Poller:
    """Updates the board.

    Parameters
    ----------
    learner
        Address of the learner's HTTP server.
    board
        Gets the answers.
    seconds
        Time between two requests.

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
