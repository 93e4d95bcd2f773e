"""`predecessor`: whose learner a reader without snapshots may take over."""

import pytest

from iln_stream.errors import RefusedError
from iln_stream.service.recovery import predecessor
from iln_stream.service.streams import Reader


@pytest.fixture
def learned(tmp_path):
    """Return a function that makes folders with a snapshot for readers of these names."""

    def make(*names):
        for name in names:
            (tmp_path / name).mkdir()
            (tmp_path / name / "000001-00000000000000000001.snapshot").touch()
        return tmp_path

    return make


ALL, ONE, SOME = (
    Reader("log-events", "all", (0, 1, 2), 1),
    Reader("log-events", "1", (1,), 1),
    Reader("log-events", "0+1", (0, 1), 1),
)


def test_one_over_all_takes_over_from_one(learned):
    """The learner of the only partition continues as the learner of all partitions."""
    folder = learned("t-0", "other-1", "t-x-2")
    assert predecessor(folder, "t", ALL).path == folder / "t-0"


@pytest.mark.parametrize("reader", [ALL, ONE, SOME])
def test_no_predecessor(learned, reader):
    """Readers of another topic, and the reader itself, are not taken over."""
    assert predecessor(learned("other-0", f"t-{reader.name}"), "t", reader) is None


@pytest.mark.parametrize(
    ("names", "reader", "per"),
    [
        (("t-0", "t-1"), ALL, "partition"),
        (("t-0+1",), ALL, "topic"),
        (("t-all",), ONE, "topic"),
        (("t-0+1",), ONE, "topic"),
        (("t-all",), SOME, "topic"),
    ],
)
def test_nothing_is_learned_twice_in_silence(learned, names, reader, per):
    """A run is refused if other learners have learned some of its partitions; the error names the
    setting that resumes them."""
    message = rf"holds learners of some of these partitions .*\(--learner-per {per}, or"
    with pytest.raises(RefusedError, match=message):
        predecessor(learned(*names), "t", reader)


def test_other_partitions(learned):
    """Readers of other partitions are not taken over."""
    assert predecessor(learned("t-0", "t-2"), "t", ONE) is None
