"""Malformed bodies: each gets an error that names the field, and none stops the server."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

BAD = [
    (b"", 400, "body: "),
    (b"\xff\xfe", 400, "body: "),
    (b"{", 400, "body: Invalid JSON"),
    (b"[" * 100_000, 400, "body: Invalid JSON"),
    (b'{"x": {"a": ' + b'{"b":' * 10_000, 400, "body: Invalid JSON"),
    (b'{"x": {"a": "\\ud800"}}', 400, "body: Invalid JSON"),
    (b'{"x": {"a": 1, "a": 2}}', 400, "a: this key occurs more than once"),
    (b'{"x": {}, "x": {}}', 400, "x: this key occurs more than once"),
    (b"null", 422, "body: "),
    (b"[]", 422, "body: "),
    (b"{}", 422, "x: Field required"),
    (b'{"x": null}', 422, "x: "),
    (b'{"x": {"a": NaN}}', 422, "x.a: expected a finite number"),
    (b'{"x": {"a": Infinity}}', 422, "x.a: expected a finite number"),
    (b'{"x": {"a": 1e999}}', 422, "x.a: expected a finite number"),
    (b'{"x": {"a": [1]}}', 422, "x.a: expected a finite number"),
    (b'{"x": {"a": "b", "a=b": 1}}', 422, "two inputs would get the name"),
    (b'{"x": {}, "z": 1}', 422, "z: Extra inputs"),
    (b'{"events": []}', 422, "events: "),
    (b'{"events": {}}', 422, "events: "),
    (b'{"events": [{"x": {}}], "x": {}}', 422, "x: Extra inputs"),
    (b'{"events": [{"x": {}}, {"x": {"b": [1]}}]}', 422, "events.1.x.b: expected a finite"),
    (b'{"events": [{"x": {"a": 1, "a": 1}}]}', 400, "a: this key occurs more than once"),
    (b'{"events": [{"x": {}}], "events": [{"x": {}}]}', 400, "events: this key occurs"),
]


@pytest.mark.parametrize("path", ["/predict", "/events"])
@pytest.mark.parametrize(("body", "status", "words"), BAD)
def test_malformed_bodies(api, path, body, status, words):
    """The error says what is wrong, in one form."""
    answer = api.post_text(path, body)
    assert (answer.status_code, list(answer.json())) == (status, ["error"])
    assert words in answer.json()["error"]


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (b'{"y": 1}', 422, "id: Field required"),
        (b'{"id": "a"}', 422, "y: Field required"),
        (b'{"id": 1, "y": 1}', 422, "id: "),
        (b'{"id": "a", "y": null}', 422, "y: "),
        (b'{"id": "a", "y": NaN}', 422, "y: "),
        (b'{"id": "a", "y": 1, "y": 2}', 400, "y: this key occurs more than once"),
        (b'{"events": [{"id": "a", "y": 1}]}', 422, "events: Extra inputs"),
    ],
)
def test_malformed_labels(api, body, status, words):
    """A label is checked as strictly."""
    answer = api.post_text("/feedback", body)
    assert (answer.status_code, words in answer.json()["error"]) == (status, True)


def test_huge_numbers(api):
    """An integer of a thousand digits is an error, and no crash."""
    for path in ("/predict", "/events"):
        answer = api.post_text(path, b'{"x": {"a": ' + b"9" * 1000 + b"}}")
        assert answer.status_code == 422


@given(st.binary(max_size=200) | st.text(alphabet='{}[]":,xy01eventsNaN \\u', max_size=80))
@settings(max_examples=200, deadline=None)
def test_any_bytes(learner_and_api, body):
    """Whatever is sent, the answer is an error of the request or a success."""
    _, api = learner_and_api
    for path in ("/predict", "/events", "/feedback"):
        assert api.post_text(path, body).status_code in (200, 201, 400, 422)
