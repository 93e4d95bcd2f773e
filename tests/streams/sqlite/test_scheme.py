"""The addresses of embedded logs."""

from contextlib import closing
from pathlib import Path

import pytest
from support.embedded_log import append, values

from iln_stream.errors import NoStreamError, SinkError, SourceError
from iln_stream.streams import Scheme, StreamOptions, stream_at
from iln_stream.streams.sqlite import create_topic


def at(address: str, **options: object) -> Scheme:
    return stream_at(address, StreamOptions(**options))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("address", "name", "sibling"),
    [
        ("sqlite:log.db", "log-events", "sqlite:log.db#events-x"),
        ("sqlite:/a/b/my log.db#out", "my_log-out", "sqlite:/a/b/my log.db#out-x"),
        ("sqlite:a#b.db#c", "a_b-c", "sqlite:a#b.db#c-x"),
        ("sqlite:dir/state", "state-events", "sqlite:dir/state#events-x"),
    ],
)
def test_addresses(address: str, name: str, sibling: str) -> None:
    """The name is that of file and topic, without characters that a folder can't have."""
    stream = at(address)
    assert (stream.name, stream.address) == (name, address)
    assert stream.sibling("x") == sibling
    assert at(sibling).sibling("y") == f"{sibling}-y"
    assert stream.dead_letters() == stream.sibling("dead-letters")


def test_spellings_of_one_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
        ("sqlite:log.db", {"limit": 3}, "set stop_at_end instead"),
    ],
)
def test_what_is_refused(address: str, options: dict[str, object], message: str) -> None:
    """A wrong name and options of other sources are refused before anything is opened."""
    with pytest.raises(SourceError, match=message):
        at(address, **options).check()


@pytest.mark.parametrize("address", ["sqlite:log.db#no name", "sqlite:/"])
def test_outputs_that_are_refused(address: str) -> None:
    """A wrong name of an output is refused, too."""
    for opens in (at(address).sink, at(address).appender):
        with pytest.raises(SinkError):
            opens()


def test_all_that_it_opens(path: Path) -> None:
    """The scheme opens logs, sinks, appenders and what sinks have written, of one topic."""
    create_topic(path, "events", n_partitions=2)
    stream = at(f"sqlite:{path}", stop_at_end=True)
    with closing(stream.appender()) as appender:
        assert appender.stream == "log-events"
    with closing(stream.sink(1)) as sink:
        sink.write(None, b"1")
    with closing(stream.log(1, None)) as log:
        assert (log.stream, log.n_partitions, log.partitions) == ("log-events", 2, (1,))
        assert [record.payload for record in log.poll(1.0)] == [b"1"]
        predictions = at(f"sqlite:{path}#out")
        with closing(predictions.transactional_sink(log, "0")) as publisher:
            publisher.publish(1, 0, None, b"p")
        with closing(predictions.transactional_sink(log, "0")) as publisher:
            assert publisher.committed() == {1: 1}
        with closing(predictions.log(1, None)) as published:
            assert [record.payload for record in published.poll(1.0)] == [b"p"]
        with closing(predictions.partitioned_sink(2)) as sink:
            sink.write_to(0, None, b"q")  # type: ignore[attr-defined]
        with closing(predictions.written()) as written:
            assert [record.payload for record in written.poll(1.0)] == [b"q"]
            assert written.exhausted
    assert list(stream.partitions()) == [0, 1]


def test_a_run_may_start_before_its_appender(path: Path) -> None:
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
