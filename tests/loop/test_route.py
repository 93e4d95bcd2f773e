"""The application of /live: what it says of all models together."""

import json

import pytest
from river import linear_model
from support.list_source import LIST, ListSource

from iln_stream.loop import Regression, Step
from iln_stream.loop.live import About, LiveModel, live_route
from iln_stream.loop.metrics import ModelMetrics


def made(n_steps=0):
    learner = linear_model.LinearRegression()
    live = LiveModel(ModelMetrics(learner, ListSource([]), "m", Regression(), 10))
    live.about = About("regression", "file.jsonl", "linear", "v1")
    for n in range(n_steps):
        live.on_step(Step(LIST, n, None, None, {}, 1.0, 1.0, 0.0))
    return live


def ask(models, query="", reasons=()):
    """Return the status, the headers and the JSON of an answer."""
    heard = []
    application = live_route(lambda: models, lambda: reasons)
    body = b"".join(application({"QUERY_STRING": query}, lambda *given: heard.extend(given)))
    status, headers = heard
    return status, dict(headers), json.loads(body)


@pytest.mark.parametrize(
    ("states", "reasons", "expected"),
    [
        (["learning", "idle", "ended"], [], "learning"),
        (["idle", "ended"], [], "idle"),
        (["ended", "ended"], [], "ended"),
        ([], ["learning the history"], "waiting: learning the history"),
        (["learning"], ["a", "b"], "waiting: a; b"),
    ],
)
def test_state(states, reasons, expected):
    """The process waits if it has a reason; else it does what the busiest of its models does."""
    models = [made() for _ in states]
    for model, state in zip(models, states, strict=True):
        if state == "idle":
            model.on_idle()
        elif state == "ended":
            model.end()
    assert ask(models, reasons=reasons)[2]["state"] == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [("", [5, 3]), ("after=2", [3, 1]), ("after=2,0", [3, 3]), ("after=4", [1, 0])],
)
def test_after(query, expected):
    """A number is for all models; several numbers are for one each."""
    models = ask([made(5), made(3)], query)[2]["models"]
    assert [len(model["steps"]) for model in models] == expected


@pytest.mark.parametrize("query", ["after=x", "after=", "after=1&after=2", "after=1,,2"])
def test_bad_number(query):
    """A serial number that is none is refused with the remedy."""
    status, _, found = ask([made(5)], query)
    assert status == "400 Bad Request"
    assert found["error"].startswith("after: give the serial number")


def test_each_answer_has_its_own_headers():
    """The server adds the length to the headers of an answer, which must not reach the next."""
    application = live_route(list, list)
    heard = []
    for _ in range(2):
        application({}, lambda status, headers: heard.append(headers))
        heard[-1].append(("Content-Length", "1"))
    assert [name for name, _ in heard[1]].count("Content-Length") == 1
