"""When a request is sent again."""

import datetime as dt
from email.utils import format_datetime

import pytest

from iln_stream.serving.client_calls import Retries, read_retry_after
from iln_stream.serving.client_messages import (
    AnswerError,
    StatusError,
    TransportError,
    UnavailableError,
)

BROKEN = TransportError("broken")


def waits(retries, errors, draw=0.0):
    """The waits after these errors, on a clock that advances by them."""
    now = [100.0]
    made, found = retries.begin(lambda: now[0], lambda: draw), []
    for error in errors:
        found.append(made.after(error))
        now[0] += found[-1] or 0.0
    return found


def test_waits_double_up_to_the_longest():
    """They begin at `first_wait`, and end after `most`."""
    retries = Retries(most=6, within=1e9, first_wait=0.5, longest_wait=4.0)
    assert waits(retries, [BROKEN] * 7) == [0.5, 1.0, 2.0, 4.0, 4.0, 4.0, None]


def test_clients_do_not_return_together():
    """Chance shortens a wait by up to a half."""
    assert waits(Retries(first_wait=1.0), [BROKEN], draw=0.5) == [0.75]
    assert waits(Retries(first_wait=1.0), [BROKEN], draw=1.0) == [0.5]


def test_time_is_limited():
    """A wait beyond `within` is not begun, that of the server's header included."""
    assert waits(Retries(9, within=3.0, first_wait=1.0), [BROKEN] * 3) == [1.0, 2.0, None]
    assert waits(Retries(9, within=3.0), [UnavailableError(429, "", 3.0)]) == [3.0]
    assert waits(Retries(9, within=3.0), [UnavailableError(429, "", 4.0)]) == [None]


@pytest.mark.parametrize("error", [StatusError(422, ""), AnswerError("")])
def test_what_would_fail_again(error):
    """It is not tried again."""
    assert waits(Retries(), [error]) == [None]


def test_retry_after_as_a_date():
    """A date is the time until then; nonsense is no time."""
    moment = dt.datetime.now(dt.UTC) + dt.timedelta(seconds=100)
    assert read_retry_after(format_datetime(moment, usegmt=True)) == pytest.approx(100, abs=5)
    for text in (None, "", "soon", "-1", "1.5", "²"):
        assert read_retry_after(text) is None
