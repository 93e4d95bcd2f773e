"""`iln-stream log list`, `create`, `tail` and `trim`."""

import signal

import pytest
from support.embedded_log import append
from support.running_api import eventually
from support.running_command import Command

from iln_stream.streams import NewRecord
from iln_stream.streams.sqlite import Retention, create_topic, topics


@pytest.fixture
def log(tmp_path):
    """A log with a topic of 30 records."""
    append(tmp_path / "log.db", [NewRecord(b"v%d" % i, f"k{i}", None, i) for i in range(30)])
    return tmp_path / "log.db"


def rows(text):
    """The cells of a table's rows."""
    lines = [line for line in text.splitlines() if line[:1] in "│┃"]
    return [[cell.strip() for cell in line.strip("│┃").split("│")] for line in lines]


def test_create_and_list(command, tmp_path):
    """A topic has the partitions and the retention that it was created with."""
    done = command(
        *("log", "create", "sqlite:log.db#a", "--partitions=2", "--keep-records=1000"),
        *("--keep-seconds=60", "--keep-bytes=5000"),
    )
    kept = "1,000 records, 60 s, 5,000 bytes"
    assert f"topic a created in log.db; partitions: 2; keeps {kept}" in done.err
    (state,) = topics(tmp_path / "log.db")
    assert state.topic.retention == Retention(1000, 60.0, 5000)
    append(tmp_path / "log.db", [b"12345", b"1"], "b")
    listed = rows(command("log", "list").out)[1:]
    assert listed == [
        ["a", "0", "0", "0", "0", kept],
        ["a", "1", "0", "0", "0", kept],
        ["b", "0", "0", "2", "6", "everything"],
    ]
    assert len(rows(command("log", "list", "sqlite:log.db#b").out)) == 2
    assert command("log", "list", "sqlite:log.db#c").out == "sqlite:log.db#c has no topics\n"


def test_list_shows_how_far_a_learner_is(command, log):
    """A run that writes predictions to the same file is listed with its committed offset."""
    event = b'{"x": {"a": 1}, "y": 2}'
    append(log, [event] * 7, "learned")
    run = ("run", "--source=sqlite:log.db#learned", "--predictions=sqlite:log.db#out")
    settings = ("--learner=pool", "--start=earliest", "--stop-at-end", "--metrics-port=0")
    assert command(*run, *settings).code == 0
    append(log, [event] * 3, "learned")
    assert ["learned", "0", "out", "7", "3"] in rows(command("log", "list").out)


def test_tail(command, log):
    """The last records, or those from somewhere, as they are; with --positions, where they are."""
    assert command("log", "tail", "sqlite:log.db").out.split() == [f"v{i}" for i in range(20, 30)]
    assert command("log", "tail", "sqlite:log.db", "-n", "1").out == "v29\n"
    assert command("log", "tail", "sqlite:log.db", "-n", "99").out.count("\n") == 30
    for begin in ("27", "1970-01-01T00:00:27Z"):
        assert command("log", "tail", "sqlite:log.db", "--from", begin).out == "v27\nv28\nv29\n"
    assert command("log", "tail", "sqlite:log.db", "--from=latest").out == ""
    assert command("log", "tail", "sqlite:log.db", "--from=earliest").out.count("\n") == 30
    shown = command("log", "tail", "sqlite:log.db", "-n1", "--positions").out
    assert shown == "0:29\t1970-01-01T00:00:29.000000Z\tk29\tv29\n"


def test_tail_of_several_partitions(command, tmp_path):
    """Each has its own last records; offsets name their partition."""
    create_topic(tmp_path / "log.db", "events", 3)
    append(tmp_path / "log.db", [NewRecord(b"v%d" % i, f"k{i}") for i in range(30)])
    (state,) = topics(tmp_path / "log.db")
    ends = [each.next_offset for each in state.partitions]
    assert min(ends) > 2
    assert command("log", "tail", "sqlite:log.db", "-n2").out.count("\n") == 6
    only = command("log", "tail", "sqlite:log.db", "-n9", "--partition=1", "--positions").out
    assert {line.split(":")[0] for line in only.splitlines()} == {"1"}
    begin = f"0:{ends[0]},2:{ends[2] - 1},1:{ends[1] - 2}"
    assert command("log", "tail", "sqlite:log.db", "--from", begin).out.count("\n") == 3


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--from", "31"), "--from 31: partition 0 has offsets 0 to 30"),
        (("--from", "1:3"), "--from 1:3: there is no partition 1"),
        (("--from", "2026-01-31"), "or a time with a UTC offset"),
        (("--partition", "1"), "--partition 1: sqlite:log.db has no such partition"),
    ],
)
def test_tail_from_nowhere(command, log, flags, message):
    """A place that the topic does not have is an error that names the flag."""
    assert message in command("log", "tail", "sqlite:log.db", *flags).refused().err


def test_follow(log, tmp_path):
    """New records are written as they come, until Ctrl-C, which is no error."""
    out = tmp_path / "out"
    shell = ("sh", "-c", f'exec "$@" > {out}', "-")
    with Command(tmp_path, "log", "tail", "sqlite:log.db", "-f", "-n1", under=shell) as running:
        eventually(lambda: out.exists() and out.read_text() == "v29\n")
        append(log, [b"new"])
        eventually(lambda: out.read_text() == "v29\nnew\n")
        running.signal(signal.SIGINT)
        assert running.wait() == 0
    assert running.said == ""


def test_a_reader_that_leaves(log, tmp_path):
    """`| head` ends a tail without an error."""
    append(log, [b"x" * 1_000] * 10_000)
    head = '"$@" | head -n 1 > first; exit ${PIPESTATUS[0]}'
    words = ("log", "tail", "sqlite:log.db", "-n99999")
    with Command(tmp_path, *words, under=("bash", "-c", head, "-")) as piped:
        assert piped.wait() == 128 + signal.SIGPIPE
    assert piped.said == ""
    assert (tmp_path / "first").read_text() == "v0\n"


def test_trim(command, log):
    """Records beyond the limits are deleted, and only then; --from-now-on sets the retention."""
    done = command("log", "trim", "sqlite:log.db", "--keep-records=20")
    assert "10 records of sqlite:log.db deleted" in done.err
    (state,) = topics(log)
    assert state.partitions[0].first_offset == 10
    assert state.topic.retention == Retention()
    done = command("log", "trim", "sqlite:log.db").refused()
    assert "sqlite:log.db keeps everything: say what to keep" in done.err
    done = command("log", "trim", "sqlite:log.db", "--keep-bytes=6", "--from-now-on")
    assert "18 records of sqlite:log.db deleted; from now on it keeps 6 bytes" in done.err
    assert "0 records of sqlite:log.db deleted" in command("log", "trim", "sqlite:log.db").err
    append(log, [b"999"])
    (state,) = topics(log)
    assert (state.partitions[0].first_offset, state.topic.retention.bytes) == (29, 6)


@pytest.mark.parametrize("word", ["list", "tail", "trim"])
def test_no_log(command, tmp_path, word):
    """A missing file is an error with the remedy, and is not created, as is the address of anything
    but an embedded log."""
    done = command("log", word, "events.jsonl").refused()
    assert "'events.jsonl' is no embedded log: give sqlite:PATH" in done.err
    done = command("log", word, "sqlite:absent.db").refused()
    assert "there is no log at absent.db: correct the path, or create it" in done.err
    assert list(tmp_path.iterdir()) == []
