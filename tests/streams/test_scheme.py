"""`Scheme`: what a kind of stream does not support is an error with its address."""

import pytest

from iln_stream.errors import SinkError, SourceError
from iln_stream.streams import Scheme, StreamOptions


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda scheme: scheme.source(), SourceError),
        (lambda scheme: scheme.partitions(), SourceError),
        (lambda scheme: scheme.log(0, "earliest"), SourceError),
        (lambda scheme: scheme.written(), SourceError),
        (lambda scheme: scheme.sink(), SinkError),
        (lambda scheme: scheme.transactional_sink(None, "0"), SinkError),
        (lambda scheme: scheme.sibling("replayed"), SinkError),
    ],
)
def test_unsupported(call, error):
    """Each method that a scheme does not override raises an error with the address."""
    with pytest.raises(error, match="queue:events"):
        call(Scheme("queue", "events", StreamOptions()))


def test_defaults():
    """A scheme can be checked and waited for without overriding anything."""
    scheme = Scheme("queue", "events", StreamOptions())
    scheme.check()
    scheme.wait()
    assert (scheme.address, scheme.peer, scheme.place) == ("queue:events",) * 3
    assert scheme.dead_letters() == "dead-letters.jsonl"
