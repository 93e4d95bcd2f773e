"""`iln-stream dead-letters` on a real broker, and on a file."""

import hashlib
import json
import re

import pytest
from support.embedded_log import append, read, values
from support.kafka_topics import create_topic, produce, read_topic
from support.saved_state import saved

from iln_stream.cli.dead_letters import ReplayedLetters
from iln_stream.records import DeadLetter
from iln_stream.streams import NewRecord

GOOD = b'{"x": {"a": 1}, "y": 2}'
LONG = b'{"x": ' + b"[" * 100_000


def test_list_and_replay(broker, command):
    """The list shows each letter's position, reason and the beginning of its payload. A replay
    appends the original bytes to the same partitions, with their keys and times, even if the letter
    has only the beginning of them, or if they are not text. A record without a value is not sent:
    it would come back with an empty one."""
    topic = create_topic(broker.bootstrap, partitions=2)
    produce(broker.bootstrap, topic, [(b"k", v) for v in (GOOD, b'{"x": {"a": "[b]"', LONG, None)])
    produce(broker.bootstrap, topic, [(None, b"\xff\xfe"), (None, GOOD)], partition=1)
    where = "--bootstrap", broker.bootstrap, "--topic", topic
    run = "--start=earliest", "--stop-at-end", "--partitions=all", "--metrics-port=0"
    command("run", *where, *run).ok()
    done = command("dead-letters", "list", *where).ok()
    places = [f"{topic}/{place}" for place in ("0/1", "0/2", "0/3", "1/0")]
    for shown in (*places, '"[b]"', "100,006"):
        assert shown in done.out.replace("\n", "")
    done = command("dead-letters", "list", *where, "--reason", "no value")
    assert [place in done.out for place in places] == [False, False, True, False]
    wrong = ("--kafka-options", '{"sasl_mechanisms": 1}')
    done = command("dead-letters", "replay", *where, *wrong).refused()
    assert "sasl_mechanisms" in done.err
    done = command("dead-letters", "replay", *where).ok()
    assert f"3 records sent to kafka:{topic} again" in done.err
    assert "1 records have no value" in done.err
    _, second, third, _, *again = read_topic(broker.bootstrap, topic)
    assert [(each.key, each.value) for each in again] == [
        (b"k", b'{"x": {"a": "[b]"'), (b"k", LONG),
    ]  # fmt: skip
    assert [each.timestamp for each in again] == [second.timestamp, third.timestamp]


def test_many_binary_records(command, tmp_path):
    """Originals and keys that letters can't hold are read from an embedded log, too, in passing,
    whatever lies between them, and the list shows each record once although a crash wrote letters
    twice."""
    binary = [b"\xff%d" % n for n in range(60)]
    rows = [NewRecord(each, "\udcff") for value in binary for each in (value, GOOD)]
    append(tmp_path / "log.db", rows)
    where = "--source", "sqlite:log.db"
    for _ in range(2):  # without snapshots it starts over, as after a crash
        command("run", *where, "--start=earliest", "--stop-at-end", "--metrics-port=0").ok()
    listed = command("dead-letters", "list", *where).out
    assert listed.count("log-events/0/") == 60
    assert re.search(r"^ +60  event: Invalid JSON: .*column …", listed, re.MULTILINE)
    assert "60 records sent" in command("dead-letters", "replay", *where).err
    assert values(tmp_path / "log.db")[120:] == binary
    assert {each.key for each in read(tmp_path / "log.db")} == {"\udcff"}


def test_file(command, tmp_path):
    """Letters in a file are listed, too; a file with other content is an error, as is to replay
    them to a file."""
    (tmp_path / "events.jsonl").write_bytes(GOOD + b"\nnonsense\n")
    assert command("run", "--source", "events.jsonl", "--metrics-port", "0").code == 0
    arguments = ("dead-letters", "list", "--source", "events.jsonl")
    assert "nonsense" in command(*arguments).out
    done = command(*arguments, "--dead-letters", "events.jsonl").refused()
    assert "events.jsonl: record 0 is not a dead letter" in done.err
    done = command("dead-letters", "replay", "--source", "events.jsonl").refused()
    assert "source = 'events.jsonl': dead letters can only be replayed to a log" in done.err
    assert (tmp_path / "events.jsonl").read_bytes() == GOOD + b"\nnonsense\n"


def lines(path):
    return [json.loads(line) for line in path.read_bytes().splitlines()]


@pytest.fixture
def bad_line(broker, command):
    """A topic with one event and one malformed record, whose runs resume."""
    topic = create_topic(broker.bootstrap)
    produce(broker.bootstrap, topic, [(None, GOOD), (None, b"nonsense")])
    where = "--bootstrap", broker.bootstrap, "--source", f"kafka:{topic}"

    def run(*more):
        command(
            *("run", *where, "--start=earliest", "--stop-at-end", "--snapshots=state"),
            *("--metrics-port=0", *more),
        ).ok()

    return topic, where, run


@pytest.mark.thorough
def test_a_record_that_fails_again_is_not_sent_by_itself(bad_line, command, broker):
    """A replay from a timer would send a record that never succeeds for ever: it needs an option.
    Each copy that fails has a letter, but a record is sent only once by each replay."""
    topic, where, run = bad_line
    run()
    replay = "dead-letters", "replay", *where
    listed = "dead-letters", "list", *where, "--json"
    (letter,) = map(json.loads, command(*listed).out.splitlines())
    assert (letter["stream"], letter["offset"], letter["payload"]) == (topic, 1, "nonsense")
    assert (letter["replayed"], letter["failed_again"]) == (None, False)
    assert command(*listed, "--reason", "no such reason").out == ""

    def sent(*more):
        done = command(*replay, *more).ok()
        run()
        return done.err

    assert f"1 records sent to kafka:{topic} again" in sent()
    for _ in range(2):
        said = sent()
        assert "0 records sent" in said
        assert "1 records were replayed and failed again" in said
        assert "were replayed before" not in said
    for option in ("--failed-again", "--again"):
        said = sent(option)
        assert "1 records sent" in said
        assert "before" not in said
    letters = read_topic(broker.bootstrap, f"{topic}-dead-letters")
    assert [json.loads(letter.value)["offset"] for letter in letters] == [1, 2, 3, 4]
    marks = read_topic(broker.bootstrap, f"{topic}-dead-letters-replayed")
    marks = [json.loads(mark.value) for mark in marks]
    assert [(mark["offset"], mark["copy_offset"]) for mark in marks] == [(1, 2), (1, 3), (1, 4)]
    assert command("dead-letters", "list", *where).out.count("failed again") == 1


def test_a_record_that_was_learned_is_not_sent_with_one_that_failed(command, tmp_path):
    """`--failed-again` sends only records that failed again, or they would be learned twice."""
    (tmp_path / "bad.jsonl").write_bytes(b"a\nb\n")
    assert command("log", "import", "bad.jsonl", "sqlite:log.db").code == 0
    letters = tmp_path / "letters"

    def fail(offset, payload):
        letter = DeadLetter.of("log-events", 0, offset, payload, "wrong")
        with letters.open("ab") as file:
            file.write(letter.model_dump_json().encode() + b"\n")

    def replay(*more):
        where = "--source", "sqlite:log.db", "--dead-letters", "letters"
        return command("dead-letters", "replay", *where, *more).err

    fail(0, b"a")
    fail(1, b"b")
    assert "2 records sent" in replay()
    fail(3, b"b")
    said = replay()
    assert "0 records sent" in said
    assert "1 records were replayed and failed again" in said
    assert "1 records were replayed before" in said
    assert "1 records sent" in replay("--failed-again")
    marks = lines(tmp_path / "letters.replayed")
    assert [mark["copy_offset"] for mark in marks] == [2, 3, 4]
    assert "1 records were replayed" not in replay("--again")
    assert [mark["offset"] for mark in lines(tmp_path / "letters.replayed")][3:] == [0, 1]


def test_a_record_that_a_rebuild_has_learned_is_not_sent(command, tmp_path):
    """With corrected settings a rebuild learns the records that had become dead letters: a replay
    after it would let the model learn them a second time. The run's own letters are replayed."""
    texts = [*(["2.5", "free"] * 10), "oops"]
    rows = [json.dumps({"price": text, "y": n}) for n, text in enumerate(texts)]
    (tmp_path / "rows.jsonl").write_text("\n".join(rows))
    assert command("log", "import", "rows.jsonl", "sqlite:log.db").code == 0
    where = "--source=sqlite:log.db", "--snapshots=state", "--dead-letters=letters"
    fields = "--target=y", '--types={"price": "number"}'
    more = "--learner=pool", "--metrics-port=0", "--start=earliest", "--stop-at-end"

    def done(name, *arguments):
        done = command(*name.split(), *where, *arguments).ok()
        return done.err

    def learned():
        return saved(tmp_path / "state", "log-events").n_events

    done("run", *more, *fields)
    assert learned() == 10
    done("rebuild", "--learner=pool", *fields, "--null-values=free")
    assert learned() == 20
    said = done("dead-letters replay", *fields, "--null-values=free")
    assert "0 records sent" in said
    assert "11 records were read by `iln-stream rebuild`" in said

    (tmp_path / "late.jsonl").write_text('{"price": "never", "y": 3}')
    assert command("log", "import", "late.jsonl", "sqlite:log.db").code == 0
    done("run", *more, *fields, "--null-values=free")
    assert learned() == 20
    assert "1 records sent" in done("dead-letters replay", *fields, "--null-values=free")
    said = done("dead-letters replay", *fields, "--null-values=free", "--again")
    assert "12 records sent" in said
    assert "rebuild" not in said


def test_the_model_of_its_key_learns_a_replayed_record(command, tmp_path):
    """Where the records' keys choose the model, a replayed record reaches the model of its key."""
    decoder = (
        "import json, pathlib\n"
        "def decode(payload):\n"
        "    fields = json.loads(payload)\n"
        "    if fields['y'] > 1 and not pathlib.Path('corrected').exists():\n"
        "        raise ValueError('not yet')\n"
        "    return fields\n"
    )
    (tmp_path / "corrected_later.py").write_text(decoder)
    rows = [NewRecord(b'{"a": 1, "y": %d}' % y, key) for y, key in enumerate("cdc")]
    append(tmp_path / "log.db", rows)
    where = "--source=sqlite:log.db", "--dead-letters=letters", "--snapshots=state"
    run = (
        *("run", *where, "--start=earliest", "--stop-at-end", "--metrics-port=0"),
        *("--target=y", "--decoder=corrected_later:decode", "--by-key=@key"),
        *("--learner-options", '{"profile": "fast"}'),
    )

    def events(key):
        shown = command("inspect", "state", "--key", key).out.splitlines()
        (row,) = (line for line in shown if line.split()[1:2] == ["events"])
        return int(row.split()[-2])

    command(*run).ok()
    assert (events("c"), events("d")) == (1, 1)
    (tmp_path / "corrected").touch()
    assert "1 records sent" in command("dead-letters", "replay", *where).err
    command(*run).ok()
    assert (events("c"), events("d")) == (2, 1)


def test_replayed_letters_in_a_file(bad_line, command, broker, tmp_path):
    """Marks of letters in a file are in a file beside it; the list shows them, --again ignores
    them, and a letter that was written twice is replayed once. This holds for the other client."""
    topic, where, run = bad_line
    more = "--dead-letters", "letters", "--kafka-client", "confluent"
    where += more
    run(*more)
    with (tmp_path / "letters").open("ab") as file:
        file.write((tmp_path / "letters").read_bytes())
    assert "1 records sent" in command("dead-letters", "replay", *where).err
    (mark,) = lines(tmp_path / "letters.replayed")
    assert (mark["stream"], mark["partition"], mark["offset"]) == (topic, 0, 1)
    assert (mark["sha256"], mark["copy_offset"]) == (hashlib.sha256(b"nonsense").hexdigest(), 2)
    listed = command("dead-letters", "list", *where).out
    assert "replayed" in listed
    assert mark["when"].replace("T", " ").removesuffix("Z") in listed
    assert "0 records sent" in command("dead-letters", "replay", *where).err
    assert "1 records sent" in command("dead-letters", "replay", *where, "--again").err
    assert len(lines(tmp_path / "letters.replayed")) == 2
    assert [r.value for r in read_topic(broker.bootstrap, topic)] == [GOOD] + 3 * [b"nonsense"]


def test_record_is_stored_before_its_mark(bad_line, command, broker, monkeypatch):
    """A letter is marked only after its record is in the topic."""
    topic, where, run = bad_line
    run()
    in_topic = []

    def look(marks, letter, copy_offset):
        in_topic.extend(record.value for record in read_topic(broker.bootstrap, topic))

    monkeypatch.setattr(ReplayedLetters, "add", look)
    patient = '{"linger_ms": 60000}'  # what is not flushed is not sent either
    assert command("dead-letters", "replay", *where, "--kafka-options", patient).code == 0
    assert in_topic == [GOOD, b"nonsense", b"nonsense"]
