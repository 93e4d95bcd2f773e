"""A published model, and a server of it."""

from contextlib import ExitStack

import pytest
from support.running_api import RunningApi, publish


@pytest.fixture
def start(tmp_path):
    """Return a function that starts a server with these settings."""
    with ExitStack() as running:
        yield lambda **settings: running.enter_context(RunningApi(tmp_path, **settings))


@pytest.fixture(scope="session")
def learner_and_api(tmp_path_factory):
    """A learner, and a server that is ready and has its published version."""
    folder = tmp_path_factory.mktemp("api")
    learner = publish(folder)
    with RunningApi(folder) as api:
        yield learner, api.ready()


@pytest.fixture
def api(learner_and_api):
    """The server that tests share."""
    return learner_and_api[1]
