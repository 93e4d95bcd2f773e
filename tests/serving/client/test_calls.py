"""`Calls`: requests, retries and answers, without a transport."""

import datetime as dt
import json
from email.utils import format_datetime

import pytest

from iln_stream.serving.client_calls import Calls, Pause, Reply, Request, Retries, read_retry_after
from iln_stream.serving.client_messages import (
    AnswerError,
    Appended,
    Interval,
    Model,
    ModelVersion,
    NewEvent,
    NewLabel,
    Prediction,
    Readiness,
    StatusError,
    TransportError,
    UnavailableError,
)

VERSION = {"name": "m", "version": 3, "age_seconds": 0.25, "n_learned": None}
RETRIES = Retries(most=2, within=10.0)
BROKEN = TransportError("broken")


def driven(call, answer):
    """The steps of a call, answered by `answer(request)`, and its result or error."""
    steps, reply = [], None
    try:
        step = next(call)
        while True:
            steps.append(step)
            reply = None if isinstance(step, Pause) else answer(step)
            step = call.throw(reply) if isinstance(reply, Exception) else call.send(reply)
    except StopIteration as end:
        return steps, end.value
    except Exception as error:
        return steps, error


def calls(batch_events=1000, batch_bytes=1 << 20, retries=RETRIES):
    return Calls(retries, batch_events, batch_bytes)


def reply(content, status=200, retry_after=None):
    return Reply(status, json.dumps(content).encode(), retry_after)


def predicted(request):
    xs = [each["x"] for each in json.loads(request.content)["events"]]
    return reply({"predictions": [{"y_pred": x["a"]} for x in xs], "model": VERSION})


class Log:
    """Appends as the server does, at most `most` events at a time."""

    def __init__(self, most=10**9):
        self.events, self.most = [], most

    def __call__(self, request):
        ((_, events),) = json.loads(request.content).items()
        if len(events) > self.most:
            return reply({"error": "body: too large"}, 413)
        first = len(self.events)
        self.events += events
        places = [{"partition": 0, "offset": first + i, "is_new": True} for i in range(len(events))]
        return reply({"appended": places}, 201)


def test_answers():
    """Intervals, probabilities, models and readiness are read into their types."""
    version = ModelVersion("m", 3, 0.25, None)
    content = {
        "predictions": [
            {
                "y_pred": 2,
                "interval": {"lower": 1, "upper": 2.5, "level": 0.9},
                "quantiles": {"0.9": 2.2},
            },
            {"y_pred": "cat", "probabilities": {"cat": 0.75, "dog": 0.25}},
            {"y_pred": True, "interval": None, "probabilities": None},
            {"y_pred": 1.5, "appended": {"partition": 1, "offset": 7, "is_new": False}},
        ],
        "model": VERSION,
    }
    _, found = driven(calls().predict_many([{}] * 4, None), lambda _: reply(content))
    assert found == [
        Prediction(2, version, Interval(1.0, 2.5, 0.9), quantiles={"0.9": 2.2}),
        Prediction("cat", version, None, {"cat": 0.75, "dog": 0.25}),
        Prediction(True, version),
        Prediction(1.5, version, appended=Appended(1, 7, False)),
    ]
    described = {
        **VERSION, "learner": "L", "task": "regression", "positions": {"0": 5, "11": 7},
        "published_at": 1.5, "inputs": ["a"],
    }  # fmt: skip
    _, model = driven(calls().model(None), lambda _: reply(described))
    assert model == Model(version, "L", "regression", {0: 5, 11: 7}, 1.5, ["a"])
    not_ready = reply({"ready": False, "reasons": ["no model"], "degraded": ["old"]}, 503)
    steps, readiness = driven(calls().ready(), lambda _: not_ready)
    assert (len(steps), readiness) == (1, Readiness(False, ["no model"], ["old"]))
    _, readiness = driven(calls().ready(), lambda _: reply({"ready": True, "reasons": []}))
    assert readiness == Readiness(True, [], [])  # a server of an older release


@pytest.mark.parametrize(
    "content",
    [
        b"<html>", b"{}", b"[]", b'{"predictions": [], "model": null}',
        b'{"predictions": [{"y_pred": [1]}], "model": %s}',
        b'{"predictions": [{"y_pred": 1, "interval": {"lower": 0}}], "model": %s}',
        b'{"predictions": [{"y_pred": 1}, {"y_pred": 1}], "model": %s}',
        b'{"predictions": [{"y_pred": 1, "appended": {"offset": 1}}], "model": %s}',
    ],
)  # fmt: skip
def test_another_answer(content):
    """An answer of another server, or of another number of predictions, is an error."""
    answer = Reply(200, content.replace(b"%s", json.dumps(VERSION).encode()))
    _, error = driven(calls().predict({}, None), lambda _: answer)
    assert isinstance(error, AnswerError)


def test_model_is_chosen():
    """A model's name is sent with each batch."""
    steps, _ = driven(calls(batch_events=1).predict_many([{"a": 1}, {"a": 2}], "m"), predicted)
    assert [json.loads(step.content)["model"] for step in steps] == ["m", "m"]


def test_batches():
    """Events are split by number and bytes; results are in their order, whatever the split."""
    xs = [{"a": i, "text": "x" * (7 * i % 50)} for i in range(40)]
    for most, most_bytes in ((1000, 1 << 20), (7, 1 << 20), (1000, 300), (1, 1)):
        made = calls(most, most_bytes)
        steps, found = driven(made.predict_many(iter(xs), None), predicted)
        assert [each.y_pred for each in found] == list(range(40))
        for step in steps:
            n = len(json.loads(step.content)["events"])
            assert n <= most
            assert len(step.content) <= most_bytes or n == 1
    assert driven(calls().predict_many([], None), predicted) == ([], [])


def test_a_batch_too_large_is_sent_in_halves():
    """Every event arrives once and in order, however small the server's limit is."""
    log = Log(most=3)
    events = [NewEvent({"a": i}, id=f"e{i}") for i in range(20)]
    _, found = driven(calls().append_many(events), log)
    assert [each["id"] for each in log.events] == [event.id for event in events]
    assert found == [Appended(0, i, True) for i in range(20)]
    _, error = driven(calls().append_many(events[:1]), Log(most=0))
    assert isinstance(error, StatusError)
    assert (error.status, str(error)) == (413, "body: too large")


def test_a_failure_says_what_was_appended():
    """The error of a later batch has the places of the earlier ones."""
    log = Log()

    def answer(request):
        return log(request) if len(log.events) < 6 else reply({"error": "x: bad"}, 422)

    _, error = driven(calls(batch_events=3).append_many([{"a": i} for i in range(9)]), answer)
    assert str(error) == "x: bad"
    assert [each.offset for each in error.appended] == list(range(6))


def requests(steps):
    return [step for step in steps if isinstance(step, Request)]


@pytest.mark.parametrize("status", [408, 429, 502, 503, 504])
def test_busy_servers_are_asked_again(status):
    """They are asked after waits that grow; an event without an id is sent once."""
    busy = reply({"error": "busy"}, status)
    made = calls()
    for call, n in (
        (made.predict({}, None), 3), (made.model(None), 3), (made.feedback(NewLabel("e", 1.0)), 3),
        (made.append(NewEvent({}, id="e")), 3), (made.append(NewEvent({})), 1),
        (made.append_many([NewEvent({}, id="e"), NewEvent({})]), 1),
    ):  # fmt: skip
        steps, error = driven(call, lambda _: busy)
        assert len(requests(steps)) == n
        assert isinstance(error, UnavailableError)
        waits = [step.seconds for step in steps if isinstance(step, Pause)]
        assert all(0.05 * 2**i <= wait <= 0.1 * 2**i for i, wait in enumerate(waits))


@pytest.mark.parametrize("status", [400, 404, 413, 500])
def test_other_refusals_are_final(status):
    """What the server will not do later either, is not asked again."""
    steps, error = driven(calls().predict({}, None), lambda _: reply({"error": "no"}, status))
    assert len(steps) == 1
    assert (type(error), error.status, str(error)) == (StatusError, status, "no")


def test_a_redirection_is_no_answer():
    """The server never redirects, so a redirection is not followed with the token."""
    _, error = driven(calls().model(None), lambda _: Reply(302, b""))
    assert isinstance(error, AnswerError)


@pytest.mark.parametrize("content", [b"<h1>Bad Gateway</h1>", b'["error"]', b""])
def test_errors_of_others(content):
    """An error in another form, such as a proxy's, shows status and text."""
    _, error = driven(calls().predict({}, None), lambda _: Reply(500, content))
    assert str(error) == f"status 500: {content.decode()}".removesuffix(": ")


def test_the_server_says_when():
    """Retry-After is the shortest wait; one beyond the time allowed is not waited for."""
    steps, _ = driven(calls().predict({}, None), lambda _: reply({"error": "busy"}, 429, "3"))
    assert [step.seconds for step in steps if isinstance(step, Pause)] == [3.0, 3.0]
    steps, error = driven(calls().predict({}, None), lambda _: reply({"error": "busy"}, 429, "60"))
    assert len(steps) == 1
    assert error.retry_after == 60.0


def test_broken_connections_are_tried_again():
    """A transport's error is final after the last retry, and at once without an id."""
    steps, error = driven(calls().predict({}, None), lambda _: BROKEN)
    assert (len(requests(steps)), error) == (3, BROKEN)
    steps, error = driven(calls().append(NewEvent({})), lambda _: BROKEN)
    assert (len(steps), error) == (1, BROKEN)


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


def test_retry_after_as_a_date():
    """A date is the time until then; nonsense is no time."""
    moment = dt.datetime.now(dt.UTC) + dt.timedelta(seconds=100)
    assert read_retry_after(format_datetime(moment, usegmt=True)) == pytest.approx(100, abs=5)
    for text in (None, "", "soon", "-1", "1.5", "²"):
        assert read_retry_after(text) is None
