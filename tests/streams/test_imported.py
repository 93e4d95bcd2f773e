"""`ImportedScheme`: sources that a user names by import path."""

import pytest

from iln_stream.errors import SourceError
from iln_stream.streams import StreamOptions, stream_at


@pytest.fixture(autouse=True)
def _module(tmp_path, monkeypatch):
    """A module of the user's in the current folder."""
    (tmp_path / "users_sources.py").write_text(
        "from iln_stream.streams.river import RiverDatasetSource\n"
        "ready = RiverDatasetSource([({}, 1.0)], 'ready')\n"
        "def make(options):\n"
        "    return RiverDatasetSource([({}, 1.0)] * 9, 'made', options.limit)\n"
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
