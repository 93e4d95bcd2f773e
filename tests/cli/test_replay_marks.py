"""`ReplayedLetters`: which dead letters were replayed, in a file or a topic beside the letters."""

import datetime as dt
from contextlib import closing

import pytest

from iln_stream.cli.dead_letters import Mark, ReplayedLetters
from iln_stream.errors import IlnError
from iln_stream.records import DeadLetter
from iln_stream.service import Settings

LETTER = DeadLetter.of("s", 0, 9, b"?", "malformed")


@pytest.fixture
def settings(tmp_path):
    """Settings of a run whose dead letters are in a file."""
    return Settings(dead_letters=str(tmp_path / "letters.jsonl"))


def test_letters_of_copies(settings):
    """A letter of a copy belongs to the first record, also of a copy of a copy; only that of the
    last copy says that the record failed again."""
    copy, copy_of_copy = (LETTER.model_copy(update={"offset": offset}) for offset in (12, 15))
    with closing(ReplayedLetters(settings)) as marks:
        marks.add(LETTER, 12)
        assert marks.failed_again(copy)
        marks.add(copy, 15)
    with closing(ReplayedLetters(settings)) as marks:
        assert marks.original(copy) == marks.original(copy_of_copy) == marks.original(LETTER)
        assert not marks.failed_again(copy)
        assert marks.failed_again(copy_of_copy)


def test_a_mark_of_an_earlier_version(settings, tmp_path):
    """A mark without the place of the copy still says that its letter was replayed."""
    place = {"stream": "s", "partition": 0, "offset": 9, "sha256": LETTER.payload_sha256}
    old = Mark(**place, when=dt.datetime.now(dt.UTC))
    (tmp_path / "letters.jsonl.replayed").write_text(old.model_dump_json(exclude={"copy_offset"}))
    with closing(ReplayedLetters(settings)) as marks:
        assert marks.last(LETTER) == old
        assert not marks.failed_again(LETTER)


def test_other_content(settings, tmp_path):
    """A file that contains anything but marks is an error that names the record."""
    (tmp_path / "letters.jsonl.replayed").write_text("nonsense\n")
    with pytest.raises(IlnError, match=r"letters\.jsonl\.replayed: record 0 is not the mark of"):
        ReplayedLetters(settings)
