"""When a request is sent again."""

import datetime as dt
import random
import time
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from typing import NamedTuple

from iln_stream.client.errors import ClientError, TransportError, UnavailableError


class Retries(NamedTuple):
    """How often and when a request is sent again, if sending it twice does no harm.

    Waits double from `first_wait` on, and each is shortened at random by up to a half, so that
    clients which failed together don't return together. If the server says when to try again, this
    is the shortest wait.

    Parameters
    ----------
    most
        Number of retries.
    within
        Seconds from the first attempt; a wait that would end later is not begun.
    first_wait, longest_wait
        Seconds.

    """

    most: int = 3
    within: float = 30.0
    first_wait: float = 0.1
    longest_wait: float = 5.0

    def begin(
        self,
        now: Callable[[], float] = time.monotonic,
        draw: Callable[[], float] = random.random,
    ) -> "Waits":
        """Return the waits of one request, whose time begins now."""
        return Waits(self, now, draw)


class Waits:
    """The waits between attempts of one request.

    Parameters
    ----------
    retries
        Their limits.
    now
        Returns monotonic seconds.
    draw
        Returns a number in [0, 1).

    """

    def __init__(
        self, retries: Retries, now: Callable[[], float], draw: Callable[[], float]
    ) -> None:
        self._retries = retries
        self._now = now
        self._draw = draw
        self._n = 0
        self._deadline = now() + retries.within

    def after(self, error: ClientError) -> float | None:
        """Return how long to wait after an error, in seconds; None: don't try again."""
        if not isinstance(error, TransportError | UnavailableError):
            return None
        limits = self._retries
        if self._n >= limits.most:
            return None
        wait = min(limits.first_wait * 2.0**self._n, limits.longest_wait)
        wait *= 1.0 - 0.5 * self._draw()
        if isinstance(error, UnavailableError) and error.retry_after is not None:
            wait = max(wait, error.retry_after)
        self._n += 1
        return None if self._now() + wait > self._deadline else wait


def read_retry_after(text: str | None) -> float | None:
    """Return the seconds in a header Retry-After, a number or a date; None if there are none.

    Examples
    --------
    >>> from iln_stream.client.retries import read_retry_after
    >>> read_retry_after("2"), read_retry_after("Wed, 21 Oct 2015 07:28:00 GMT")
    (2.0, 0.0)

    """
    if text is None:
        return None
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        return None
    return max(0.0, (moment - dt.datetime.now(dt.UTC)).total_seconds())
