"""Streams: what an id stands for never changes."""

import math

import pytest

from benchmarks.quality.streams import FILES, STREAMS, Stream, checksum
from benchmarks.quality.unavailable import UnavailableError

GENERATED = [
    stream for stream in STREAMS.values() if stream.group != "files" and stream.id != "adult"
]


@pytest.mark.parametrize("stream", GENERATED, ids=lambda stream: stream.id)
def test_events_are_those_of_the_checksum(stream):
    """The events are those that stored results were measured on, and the same each time."""
    events = stream.events()
    assert checksum(events) == stream.checksum
    assert events == stream.events()


@pytest.mark.parametrize("stream", GENERATED, ids=lambda stream: stream.id)
def test_every_event_has_the_same_finite_inputs(stream):
    """A peer that holds columns by place, or stops at NaN, is not beaten by the data's form."""
    events = stream.events()
    names = list(events[0][0])
    for x, y in events:
        assert list(x) == names
        assert all(math.isfinite(value) for value in x.values())
        assert stream.group == "classes" or math.isfinite(y)


def test_checksums_tell_streams_apart():
    """No two streams share a checksum: also not those that begin alike and drift later."""
    sums = [stream.checksum for stream in STREAMS.values()]
    assert len(set(sums)) == len(sums)


def test_checksum_sees_a_change():
    """A changed input, target, name or length is another stream."""
    events = [({"a": 1.0, "b": 2.0}, 3.0)] * 30
    changed = [
        [({"a": 1.1, "b": 2.0}, 3.0), *events[1:]],
        [({"a": 1.0, "b": 2.0}, 3.1), *events[1:]],
        [({"a": 1.0, "c": 2.0}, 3.0), *events[1:]],
        events[1:],
    ]
    assert len({checksum(c) for c in [events, *changed]}) == 5


def test_strings_become_columns_of_zeros_and_ones():
    """A category's columns are there in every event, also before its first occurrence."""
    raw = [({"sky": "grey", "t": 1}, 0.0), ({"sky": "blue", "t": 2}, 1.0)]
    stream = Stream("s", "ten", "", lambda: iter(raw), "")
    assert stream.events() == [
        ({"sky=blue": 0.0, "sky=grey": 1.0, "t": 1.0}, 0.0),
        ({"sky=blue": 1.0, "sky=grey": 0.0, "t": 2.0}, 1.0),
    ]


@pytest.mark.parametrize("stream", FILES, ids=lambda stream: stream.id)
def test_missing_data_says_what_to_set(stream, monkeypatch, tmp_path):
    """Without the data folder, or the file in it, one reads what to do about it."""
    monkeypatch.delenv("ILN_DATA", raising=False)
    with pytest.raises(UnavailableError, match="set ILN_DATA"):
        stream.events()
    monkeypatch.setenv("ILN_DATA", str(tmp_path))
    with pytest.raises(UnavailableError, match=r"\.gz is not in ILN_DATA"):
        stream.events()


def test_a_line_that_ends_in_a_comma_has_no_further_input(monkeypatch, tmp_path):
    """bank32nh's lines do; the nameless last cell is no input."""
    import gzip

    header = ",".join(["a", "b", "rej"])
    with gzip.open(tmp_path / "bank32nh.csv.gz", "wt") as file:
        file.write(f"{header}\n1.0,2.0,3.0,\n")
    monkeypatch.setenv("ILN_DATA", str(tmp_path))
    assert STREAMS["bank32nh"].events() == [({"a": 1.0, "b": 2.0}, 3.0)]
