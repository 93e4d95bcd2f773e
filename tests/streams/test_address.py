"""Addresses: from them to streams, of users' modules, too, and what a scheme does not support."""

import pytest

from iln_stream.errors import SinkError, SourceError
from iln_stream.streams import AddressError, Scheme, StreamOptions, schemes, stream_at


@pytest.mark.parametrize(
    ("address", "scheme"),
    [
        ("kafka:iln-events", "KafkaScheme"),
        ("river:TrumpApproval", "RiverScheme"),
        ("synthetic:Friedman", "RiverScheme"),
        ("-", "StandardScheme"),
        ("events.jsonl", "FileScheme"),
        ("file:events.jsonl", "FileScheme"),
        ("folder/of:colons/events.jsonl", "FileScheme"),
        ("package.module:source", "ImportedScheme"),
    ],
)
def test_schemes(address, scheme):
    """Each form of address leads to its scheme."""
    assert type(stream_at(address, StreamOptions())).__name__ == scheme


@pytest.mark.parametrize("scheme", ["kafka", "river", "synthetic", "file"])
def test_missing_name(scheme):
    """A scheme without a name is refused, with the correct form."""
    assert scheme in schemes()
    with pytest.raises(AddressError, match=f"'{scheme}:' names nothing: give {scheme}:NAME"):
        stream_at(f"{scheme}:", StreamOptions())


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


@pytest.fixture
def users(tmp_path, monkeypatch):
    """A module of the user's in the current folder."""
    (tmp_path / "users_sources.py").write_text(
        "from iln_stream.streams import StreamOptions\n"
        "from iln_stream.streams.river import RiverDatasetSource\n"
        "ready = RiverDatasetSource([({}, 1.0)], 'ready')\n"
        "def make(options):\n"
        "    return RiverDatasetSource([({}, 1.0)] * 9, 'made', options.limit)\n"
        "class Kept:\n"
        "    def __init__(self, options): self.seed = options.seed\n"
        "    def write(self, key, value, timestamp=None): pass\n"
        "kept = Kept(StreamOptions(seed=5))\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)


def test_object_or_function(users):
    """The path of a source is that source; a function is called with the options."""
    assert stream_at("users_sources:ready", StreamOptions()).source().stream == "ready"
    source = stream_at("users_sources:make", StreamOptions(limit=4)).source()
    assert (source.stream, len(source.poll(0.0))) == ("made", 4)


@pytest.mark.parametrize(("name", "seed"), [("Kept", 3), ("kept", 5)])
def test_sink(users, name, seed):
    """A sink is found in the same way: a class is called with the options, an object is used."""
    assert stream_at(f"users_sources:{name}", StreamOptions(seed=3)).sink().seed == seed


def test_object_of_another_kind(users):
    """A missing attribute, a sink as source, and a source as sink are errors that say what was
    found."""
    with pytest.raises(SourceError, match=r"source = 'users_sources:nothing': .*no attribute"):
        stream_at("users_sources:nothing", StreamOptions()).source()
    with pytest.raises(SourceError, match="source = 'users_sources:kept' is no source, but Kept"):
        stream_at("users_sources:kept", StreamOptions()).source()
    with pytest.raises(SinkError, match="sink = 'users_sources:ready' is no sink, but RiverData"):
        stream_at("users_sources:ready", StreamOptions()).sink()
