"""`SqliteImporter`: records and their positions in one transaction."""

from contextlib import closing

import pytest
from support.embedded_log import values
from support.list_source import LIST

from iln_stream.errors import SinkError
from iln_stream.streams import Record
from iln_stream.streams.sqlite import SqliteImporter


def records(*texts):
    return [Record(0, text, LIST, 1.0) for text in texts]


@pytest.fixture
def importer(tmp_path):
    with closing(SqliteImporter(tmp_path / "a.db", "events", "there", "id")) as opened:
        yield opened


def test_positions(importer, tmp_path):
    """They are those of the last records stored, by partition and by stream."""
    assert importer.position(0) is None
    importer.append(0, records(b"1", b"2"), None, 7, by_key=False)
    importer.append(0, [], 7, 9, by_key=False)
    assert (importer.position(0), importer.position(1)) == (9, None)
    with closing(SqliteImporter(tmp_path / "a.db", "events", "there", "other")) as other:
        assert other.position(0) is None
    importer.forget()
    assert importer.position(0) is None
    assert values(tmp_path / "a.db") == [b"1", b"2"]


def test_two_imports_at_the_same_time(importer, tmp_path):
    """The second one stores nothing twice."""
    importer.append(0, records(b"1"), None, 1, by_key=False)
    second = SqliteImporter(tmp_path / "a.db", "events", "there", "id")
    with closing(second), pytest.raises(SinkError, match="does the same import of there"):
        second.append(0, records(b"1"), None, 1, by_key=False)
    assert values(tmp_path / "a.db") == [b"1"]


def test_neither_records_nor_position(importer, tmp_path):
    """Where records can't be stored, the position stays."""
    with pytest.raises(SinkError, match="is not text that UTF-8 can encode"):
        importer.append(
            0, [*records(b"1"), Record(0, b"2", LIST, 1.0, "\ud800")], None, 2, by_key=False
        )
    assert importer.position(0) is None
    assert values(tmp_path / "a.db") == []
