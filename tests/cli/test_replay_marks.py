"""`Marks`: which dead letters were replayed, in a file or a topic beside the letters."""

import datetime as dt
from contextlib import closing

import pytest

from iln_stream.cli.replay_marks import Mark, Marks
from iln_stream.errors import IlnError
from iln_stream.events import DeadLetter
from iln_stream.service import Settings

LETTER = DeadLetter.of("s", 0, 9, b"?", "malformed")


@pytest.fixture(params=["file", "topic"])
def settings(request, tmp_path):
    """Settings of a run whose dead letters are in a file or a topic."""
    if request.param == "file":
        return Settings(dead_letters=str(tmp_path / "letters.jsonl"))
    broker, topic = (request.getfixturevalue(name) for name in ("broker", "topic"))
    return Settings(bootstrap=broker.bootstrap, dead_letters=f"kafka:{topic}")


def test_a_mark_lasts(settings):
    """A letter is marked for this and later processes, a letter with other bytes is not."""
    with closing(Marks(settings)) as marks:
        assert marks.when(LETTER) is None
        marks.add(LETTER)
        assert marks.when(LETTER) is not None
    with closing(Marks(settings)) as marks:
        age = dt.datetime.now(dt.UTC) - marks.when(LETTER)
        assert dt.timedelta(0) <= age < dt.timedelta(minutes=1)
        assert marks.when(DeadLetter.of("s", 0, 9, b"!", "malformed")) is None


def test_the_same_letter_twice():
    """A letter that was written twice, with another reason, has one mark."""
    again = LETTER.model_copy(update={"reason": "another"})
    assert Mark.of(again).key == Mark.of(LETTER).key


def test_other_content(tmp_path):
    """A file that contains anything but marks is an error that names the record."""
    (tmp_path / "letters.jsonl.replayed").write_text("nonsense\n")
    with pytest.raises(IlnError, match=r"letters\.jsonl\.replayed: record 0 is not the mark of"):
        Marks(Settings(dead_letters=str(tmp_path / "letters.jsonl")))
