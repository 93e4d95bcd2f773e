"""Asks several HTTP servers at the same time."""

import urllib.error
import urllib.request
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

_SECONDS = 2.0
"""Time for an answer: well below the interval at which Prometheus scrapes."""


class Answer(NamedTuple):
    """What a server answered: status and text."""

    status: int
    text: str


class Scraper:
    """Asks servers of this machine, each on a thread.

    Parameters
    ----------
    n
        Number of servers to ask at a time.

    """

    def __init__(self, n: int) -> None:
        # Requests to this machine bypass any proxy in the environment.
        self._direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        self._threads = ThreadPoolExecutor(n, thread_name_prefix="scrape")

    def ask(self, urls: Sequence[str | None]) -> list[Answer | None]:
        """Return the answer of each server; None: it gave none, or there is no URL."""
        return list(self._threads.map(self._one, urls))

    def close(self) -> None:
        """End the threads."""
        self._threads.shutdown(wait=False)

    def _one(self, url: str | None) -> Answer | None:
        if url is None:
            return None
        try:
            with self._direct.open(url, timeout=_SECONDS) as response:
                return Answer(response.status, response.read().decode())
        except urllib.error.HTTPError as error:
            return Answer(error.code, error.read().decode())
        except OSError:
            return None
