"""The streams and models of the demo."""

from itertools import islice

import pytest
from river import base

from iln_stream.cli.demo import contenders, shrinking_run, streams
from iln_stream.learners import find_shrinking_gradient


@pytest.mark.parametrize("stream", streams(seed=1), ids=lambda stream: stream.title)
def test_streams(stream):
    """Each stream has as many events as the demo announces, the same for the same seed."""
    (again,) = [each for each in streams(seed=1) if each.title == stream.title]
    events = list(islice(iter(stream.dataset), stream.n_events))
    assert len(events) == stream.n_events
    assert events == list(islice(iter(again.dataset), stream.n_events))


@pytest.mark.parametrize("name", contenders(seed=1))
def test_contenders(name):
    """Each factory makes a new regressor, so that no stream's learning reaches another."""
    make = contenders(seed=1)[name]
    model = make()
    assert isinstance(model, base.Regressor)
    assert model is not make()


def test_shrinking_run():
    """The shrinking run shrinks within a few events."""
    model = shrinking_run(seed=1)
    for x, y in islice(iter(streams(seed=1)[1].dataset), 300):
        model.learn_one(x, y)
    assert find_shrinking_gradient(model).n_shrinks > 0
