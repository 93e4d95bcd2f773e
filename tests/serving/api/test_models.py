"""Following published models, and the end of it."""

import asyncio
import time
from functools import partial

import pytest
from river.linear_model import LinearRegression
from support.running_api import eventually, publish

from iln_stream.serving.gate import HttpError
from iln_stream.serving.models import Models
from iln_stream.snapshots.follower import Follower
from iln_stream.snapshots.versions import Versions


class Slow(LinearRegression):
    """Takes 10 ms for a prediction, and counts those of all copies."""

    n_predicted = 0

    def predict_one(self, x):
        Slow.n_predicted += 1
        time.sleep(0.01)
        return super().predict_one(x)


class Unusable(LinearRegression):
    """Fails when it is asked what it can do."""

    @property
    def predict_interval(self):
        raise RuntimeError("out of order")


@pytest.fixture
def models(tmp_path):
    """The models in the folder of the test, not started yet."""
    models = Models(tmp_path / "models", 0.9, partial(Follower, allow_pickle=True))
    yield models
    models.close()


def predictor_of(models, name):
    eventually(lambda: dict(models).get(name) and dict(models)[name].predictor)
    return dict(models)[name].predictor


def test_closing_does_not_wait_for_a_slow_learner(tmp_path, models):
    """Events of a batch that were not predicted yet are refused, as are requests that wait."""
    publish(tmp_path, Slow(), n=1, allow_pickle=True)
    models.start()
    predictor = predictor_of(models, "log-events-0")

    async def close_while_it_predicts():
        requests = [asyncio.create_task(predictor.predict([{}] * 500)) for _ in range(2)]
        begun = Slow.n_predicted + 10
        while Slow.n_predicted < begun:
            await asyncio.sleep(0.01)
        models.close()
        return await asyncio.gather(*requests, return_exceptions=True)

    before = Slow.n_predicted
    running, waiting = asyncio.run(close_while_it_predicts())
    assert Slow.n_predicted - before < 500
    assert (type(running), running.status) == (HttpError, 503)
    assert isinstance(waiting, asyncio.CancelledError)


def test_a_model_that_fails_is_the_only_one(tmp_path, models, caplog):
    """The others are followed, and the problem names the model that can't be used; the log says
    once which version of which stream is the first to predict."""
    caplog.set_level("INFO")
    publish(tmp_path, name="b", n=1)
    publish(tmp_path, Unusable(), name="a", n=1, allow_pickle=True)
    models.start()
    assert predictor_of(models, "b").published.header.version == 1
    for version in (2, 3):
        publish(tmp_path, name="b", n=1)
        eventually(lambda version=version: dict(models)["b"].version == version)
    (problem,) = models.problems()
    assert "a.model: it can't be used: " in problem
    assert dict(models)["a"].n_failures == 1
    (first,) = (each for each in caplog.messages if "predicts with version" in each)
    assert "b.model: predicts with version 1 of the stream log-events" in first
    assert first.endswith("newer ones follow")


def test_a_folder_without_models_is_warned_of(models, caplog):
    """Whoever starts the API before the learner, or with a wrong folder, reads why it waits."""
    models.start()
    eventually(lambda: caplog.messages)
    assert "models yet: start `iln-stream run` with --publish" in caplog.text


def test_a_deleted_model_is_none(tmp_path, models):
    """Its folder of kept versions is no model, unless one of them is pinned."""
    for name in "ab":
        publish(tmp_path, name=name, n=1)
        versions = Versions(tmp_path / "models" / f"{name}.model")
        versions.add()
        versions.newest.path.unlink()
    versions.pin(1)
    models.start()
    assert predictor_of(models, "b").published.pinned
    assert [name for name, _ in models] == ["b"]
    assert models.problems() == []


def test_a_pin_of_no_model_is_a_problem(tmp_path, start, caplog):
    """/ready names the model that `pin` has and the ones that there are; the start says that the
    run may remove the version."""
    publish(tmp_path, n=1)
    api = start(pin=["log-event-0=1"])
    assert "`version_keep` newer ones" in caplog.text
    reason = "pin: 'log-event-0' is not published; known: log-events-0; see "
    reason += f"`iln-stream versions {tmp_path / 'models'}`"
    eventually(lambda: api.http.get("/ready").json()["reasons"] == [reason])
