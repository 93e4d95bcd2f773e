"""Malformed bodies: each gets an error that names the field, and none stops the server."""

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iln_stream.records import ClassEvent
from iln_stream.serving.gate import HttpError
from iln_stream.serving.messages import ClassEventBatch, PredictBatch, PredictOne, decoded_batch

BAD = [
    (b"", 400, "body: "),
    (b"\xff\xfe", 400, "body: "),
    (b"[" * 100_000, 400, "body: Invalid JSON"),
    (b'{"x": {"a": ' + b'{"b":' * 10_000, 400, "body: Invalid JSON"),
    (b'{"x": {"a": "\\ud800"}}', 400, "body: Invalid JSON"),
    (b'{"x": {"a": 1, "a": 2}}', 400, "a: this key occurs more than once"),
    (b"null", 422, "body: "),
    (b"{}", 422, "x: missing"),
    (b'{"a": 1, "b": "c"}', 422, '; put the inputs under "x": {"x": {"a": 1, "b": "c"}}'),
    (b'{"a": {"b": 1}}', 422, '; put the inputs under "x": {"x": {"temperature": 21.5}}'),
    (b'{"events": [{"a": 1}]}', 422, '; put the inputs under "x": {"x": {"a": 1}}'),
    (b'{"x": {"a": NaN}}', 422, "x.a: expected a finite number"),
    (b'{"x": {"a": 1e999}}', 422, "x.a: expected a finite number"),
    (b'{"x": {"a": %s}}' % (b"9" * 1000), 422, "x.a: expected a finite number"),
    (b'{"x": {"a": [1]}}', 422, "x.a: expected a finite number"),
    (b'{"x": {"a": "b", "a=b": 1}}', 422, "two inputs would get the name"),
    (b'{"x": {}, "z": 1}', 422, "z: unknown name"),
    (b'{"events": []}', 422, "events: "),
    (b'{"events": [{"x": {}}], "x": {}}', 422, "x: unknown name"),
    (b'{"events": [{"x": {}}, {"x": {"b": [1]}}]}', 422, "events.1.x.b: expected a finite"),
    (
        b'{"events": [{"x": {}}, 1, 2]}',
        422,
        "events.1: expected an object: names and values, got 1",
    ),
    (b'{"events": [{"x": {"a": 1, "a": 1}}]}', 400, "a: this key occurs more than once"),
]
BAD_LABELS = [
    (b'{"y": 1}', 422, "id: missing"),
    (b'{"id": "a"}', 422, "y: missing"),
    (b'{"id": 1, "y": 1}', 422, 'got 1 (ids are text: send "1")'),
    (b'{"id": "a", "y": NaN}', 422, "y: "),
    (b'{"id": "a", "y": 1, "y": 2}', 400, "y: this key occurs more than once"),
    (b'{"events": [{"id": "a", "y": 1}]}', 422, "events: unknown name"),
    (b'{"labels": []}', 422, "labels: "),
    (b'{"labels": [{"id": "a", "y": 1}], "y": 1}', 422, "y: unknown name"),
    (b'{"labels": [{"id": "a", "y": 1}, {"id": "b", "y": []}]}', 422, "labels.1.y: "),
    (b'{"labels": [{"id": "a", "y": 1, "y": 1}]}', 400, "y: this key occurs more than once"),
    (b'{"labels": [%s]}' % b",".join([b"0"] * 1001), 413, "labels: 1,001 in a request"),
]


@pytest.mark.parametrize(
    ("path", "bad"), [("/predict", BAD), ("/events", BAD), ("/feedback", BAD_LABELS)]
)
def test_malformed_bodies(api, path, bad):
    """The error says what is wrong, in one form; only the first wrong event is described."""
    for body, status, words in bad:
        answer = api.post_text(path, body)
        assert (answer.status_code, list(answer.json())) == (status, ["error"]), body[:100]
        assert words in answer.json()["error"]


HOSTILE = {
    "unknown fields": (b"{%s}", b'"%d":0', 90_000, 422, "body: more than 3,000 errors"),
    "wrong inputs of one event": (
        b'{"events":[{"x":{%s}}]}',
        b'"%d":[]',
        80_000,
        422,
        "body: more than 3,000 errors",
    ),
    "a long list of no events": (b'{"events":[%s]}', b"%d", 130_000, 413, "events: 130,000 in a"),
    "a long list of events": (b'{"events":[%s]}', b'{"x":{"%d":0}}', 1001, 413, "events: 1,001 in"),
}


@pytest.mark.parametrize(
    ("one", "batch"), [(PredictOne, PredictBatch), (ClassEvent, ClassEventBatch)]
)
@pytest.mark.parametrize(
    ("form", "part", "n", "status", "words"), HOSTILE.values(), ids=HOSTILE.keys()
)
def test_the_work_for_a_hostile_body_is_limited(one, batch, form, part, n, status, words):
    """No body of 900 kB stops the event loop for seconds, by errors that all are described."""
    body = form % b",".join(part % i for i in range(n))

    def refused():
        with pytest.raises(HttpError) as caught:
            decoded_batch(body, one, batch, most=1000)
        return caught.value

    error, described = errors_described(refused)
    assert (error.status, str(error)[: len(words)]) == (status, words)
    assert described <= 2 * 3000


def errors_described(function):
    """Call a function; return its result, and how many errors pydantic described meanwhile."""
    described = 0

    def count(frame, event, called):
        nonlocal described
        if event == "c_call" and called.__name__ == "errors":
            described += called.__self__.error_count()

    sys.setprofile(count)
    try:
        return function(), described
    finally:
        sys.setprofile(None)


def test_a_long_batch_is_refused_before_its_events_are_checked():
    """Its length is the error, whatever is in it."""
    for events in (b"0,0", b'{"x":{}},0'):
        with pytest.raises(HttpError, match="events: 2 in a request, and at most 1 are") as caught:
            decoded_batch(b'{"events":[%s]}' % events, ClassEvent, ClassEventBatch, most=1)
        assert caught.value.status == 413


@given(st.binary(max_size=200) | st.text(alphabet='{}[]":,xy01eventsNaN \\u', max_size=80))
@settings(max_examples=60, deadline=None)
def test_any_bytes(learner_and_api, body):
    """Whatever is sent, the answer is an error of the request or a success."""
    _, api = learner_and_api
    for path in ("/predict", "/events", "/feedback"):
        assert api.post_text(path, body).status_code in (200, 201, 400, 422)
