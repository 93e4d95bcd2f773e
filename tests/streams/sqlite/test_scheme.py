"""The addresses of embedded logs."""

from contextlib import closing
from pathlib import Path

import pytest
from support.embedded_log import append, values

from iln_stream.errors import NoStreamError, SinkError, SourceError
from iln_stream.streams import StreamOptions, stream_at


def at(address, **options):
    return stream_at(address, StreamOptions(**options))


@pytest.mark.parametrize(
    ("address", "name", "sibling"),
    [
        ("sqlite:log.db", "log-events", "sqlite:log.db#events-x"),
        ("sqlite:/a/b/my log.db#out", "my_log-out", "sqlite:/a/b/my log.db#out-x"),
        ("sqlite:a#b.db#c", "a_b-c", "sqlite:a#b.db#c-x"),
        ("sqlite:dir/state", "state-events", "sqlite:dir/state#events-x"),
    ],
)
def test_addresses(address, name, sibling):
    """The name is that of file and topic, without characters that a folder can't have."""
    stream = at(address)
    assert (stream.name, stream.address) == (name, address)
    assert stream.sibling("x") == sibling
    assert at(sibling).sibling("y") == f"{sibling}-y"
    assert stream.dead_letters() == stream.sibling("dead-letters")


def test_spellings_of_one_place(tmp_path, monkeypatch):
    """A topic has one place, whichever way its address is written."""
    monkeypatch.chdir(tmp_path)
    places = {
        at(address).place
        for address in ("sqlite:log.db", f"sqlite:{tmp_path}/x/../log.db#events", "sqlite:./log.db")
    }
    assert len(places) == 1
    assert at("sqlite:log.db#predictions").place not in places


@pytest.mark.parametrize(
    ("address", "options", "message"),
    [
        ("sqlite:log.db#no name", {}, "is not a topic's name"),
        ("sqlite:log.db#", {}, "is not a topic's name"),
        ("sqlite:.", {}, "give the path of a file"),
        (f"sqlite:{Path(__file__).parent}", {}, "give the path of a file"),
        ("sqlite:log.db", {"limit": 3}, "set stop_at_end instead"),
    ],
)
def test_what_is_refused(address, options, message):
    """A wrong name and options of other sources are refused before anything is opened."""
    with pytest.raises(SourceError, match=message):
        at(address, **options).check()


@pytest.mark.parametrize("address", ["sqlite:log.db#no name", "sqlite:/"])
def test_outputs_that_are_refused(address):
    """A wrong name of an output is refused, too."""
    for opens in (at(address).sink, at(address).appender):
        with pytest.raises(SinkError):
            opens()


def test_a_run_may_start_before_its_appender(path):
    """`prepare` creates file and topic, so that a run can wait for the first event; a run that
    ends at the end of the log creates nothing."""
    finite = at(f"sqlite:{path}", stop_at_end=True)
    finite.prepare()
    with pytest.raises(NoStreamError):
        finite.partitions()
    assert not path.exists()
    stream = at(f"sqlite:{path}")
    stream.prepare()
    with closing(stream.log(0, None)) as log:
        append(path, [b"first"])
        assert [record.payload for record in log.poll(30.0)] == [b"first"]
    stream.prepare()
    assert values(path) == [b"first"]
