"""`ImportedScheme`: sources and sinks that a user names by import path."""

import pytest

from iln_stream.errors import SinkError, SourceError
from iln_stream.streams import StreamOptions, stream_at


@pytest.fixture(autouse=True)
def _module(tmp_path, monkeypatch):
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


def test_object():
    """The path of a source is that source."""
    assert stream_at("users_sources:ready", StreamOptions()).source().stream == "ready"


def test_function():
    """A function is called with the options."""
    source = stream_at("users_sources:make", StreamOptions(limit=4)).source()
    assert (source.stream, len(source.poll(0.0))) == ("made", 4)


def test_missing_attribute():
    """A missing attribute is an error that names the setting and the path."""
    with pytest.raises(SourceError, match=r"source = 'users_sources:nothing': .*no attribute"):
        stream_at("users_sources:nothing", StreamOptions()).source()


@pytest.mark.parametrize(("name", "seed"), [("Kept", 3), ("kept", 5)])
def test_sink(name, seed):
    """A sink is found in the same way: a class is called with the options, an object is used."""
    assert stream_at(f"users_sources:{name}", StreamOptions(seed=3)).sink().seed == seed


def test_object_of_another_kind():
    """A sink as source, or a source as sink, is an error that says what was found."""
    with pytest.raises(SourceError, match="source = 'users_sources:kept' is no source, but Kept"):
        stream_at("users_sources:kept", StreamOptions()).source()
    with pytest.raises(SinkError, match="sink = 'users_sources:ready' is no sink, but RiverData"):
        stream_at("users_sources:ready", StreamOptions()).sink()
