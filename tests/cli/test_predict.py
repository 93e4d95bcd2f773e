"""`iln-stream predict`: predictions of a snapshot's learner, which does not learn."""

import json
import os
import re
import runpy
import signal
import subprocess
from pathlib import Path

import pytest
from support.command_line import COMMAND, environment, iln
from support.kafka_topics import create_topic, produce

import iln_stream

FOLDER = Path(__file__).parents[1] / "snapshots" / "golden"
GOLDEN = FOLDER / "0.2.0-fast.snapshot"
event = runpy.run_path(str(FOLDER / "make.py"))["event"]


def line(number, labelled):
    x, y = event(number)
    return json.dumps({"x": x, "id": f"e{number}"} | ({"y": y} if labelled else {})).encode()


def lines(data):
    return [json.loads(line) for line in data.splitlines()]


def expected(numbers):
    learner = iln_stream.load(GOLDEN)
    return [learner.predict_one(event(number)[0]) for number in numbers]


def test_labelled_or_not(command, tmp_path):
    """Events with and without a label are predicted as by the loaded learner, to the last bit, and
    malformed records become dead letters."""
    data = [line(number, labelled=number % 2 == 0) for number in range(60, 100)]
    (tmp_path / "events.jsonl").write_bytes(b"\n".join([*data[:20], b"nonsense", *data[20:]]))
    done = command("predict", str(GOLDEN), "--source=events.jsonl", "--predictions=p.jsonl").ok()
    assert "40 events predicted, 1 dead letters; 20 with a label: MAE " in done.err
    found = lines((tmp_path / "p.jsonl").read_bytes())
    assert [each["y_pred"] for each in found] == expected(range(60, 100))
    assert [each["id"] for each in found] == [f"e{number}" for number in range(60, 100)]
    assert [each["y"] for each in found[:2]] == [event(60)[1], None]
    (model,) = {tuple(each["model"].values()) for each in found}
    assert re.fullmatch("events.jsonl/InfiniteLayerRegressor [0-9a-f]{16}", " ".join(model))
    (letter,) = lines((tmp_path / "dead-letters.jsonl").read_bytes())
    assert (letter["offset"], letter["payload"]) == (20, "nonsense")


def test_standard_input_and_output(tmp_path):
    """By default, events come from standard input and predictions go to standard output, apart from
    messages. The snapshot does not change."""
    before = GOLDEN.read_bytes()
    data = b"\n".join(line(number, labelled=True) for number in range(60, 65))
    done = iln("predict", str(GOLDEN), cwd=tmp_path, stdin=data.decode())
    assert done.returncode == 0, done.stderr
    assert [each["y_pred"] for each in lines(done.stdout)] == expected(range(60, 65))
    assert "5 events predicted, 0 dead letters" in done.stderr
    assert GOLDEN.read_bytes() == before


def test_variables_are_heeded(command, tmp_path, monkeypatch):
    """Variables for source and predictions replace standard input and output."""
    (tmp_path / "events.jsonl").write_bytes(line(60, labelled=False))
    monkeypatch.setenv("ILN_SOURCE", "events.jsonl")
    monkeypatch.setenv("ILN_PREDICTIONS", "p.jsonl")
    assert command("predict", str(GOLDEN)).code == 0
    assert lines((tmp_path / "p.jsonl").read_bytes())[0]["y_pred"] == expected([60])[0]


@pytest.fixture(scope="module")
def flat(tmp_path_factory):
    """Snapshots of a run that learned flat records, and such records in a file."""
    folder = tmp_path_factory.mktemp("flat")
    rows = [{"key": f"k{n}", "temp": n % 7.0, "price": n % 7 + 0.5} for n in range(40)]
    (folder / "orders.jsonl").write_text("\n".join(map(json.dumps, rows)))
    for arguments in (
        ["log", "import", "orders.jsonl", "sqlite:orders.db"],
        [
            *("run", "--source=sqlite:orders.db", "--start=earliest", "--stop-at-end"),
            *("--target=price", "--id-field=key", "--snapshots=state", "--metrics-port=0"),
        ],
    ):
        done = iln(*arguments, cwd=folder)
        assert done.returncode == 0, done.stderr
    return folder


def predicted(flat, *arguments):
    """Return the predictions of `orders.jsonl`, and the log."""
    done = iln("predict", "state", *arguments, cwd=flat)
    assert done.returncode == 0, done.stderr
    return lines(done.stdout), done.stderr


@pytest.mark.thorough
def test_settings_of_fields_in_the_snapshot(flat):
    """Records are read with the settings of the run that learned them, and the log says so; a given
    setting replaces all of them. Rows to predict need no column of the label, and nothing warns
    that it is not there."""
    found, said = predicted(flat, "--source=orders.jsonl")
    assert "40 events predicted, 0 dead letters; 40 with a label" in said
    assert "the snapshot's settings: target = 'price', features = ('*',), id_field = 'key'" in said
    learner = iln_stream.load(flat / "state")
    assert [each["id"] for each in found[:2]] == ["k0", "k1"]
    assert found[3]["y_pred"] == learner.predict_one({"temp": 3.0})
    found, said = predicted(flat, "--source=orders.jsonl", "--target=price", "--ignore=key")
    assert "snapshot's settings" not in said
    assert {each["id"] for each in found} == {None}
    (flat / "new.csv").write_text("key,temp\na,1\nb,2\n")
    found, said = predicted(flat, "--source=new.csv")
    assert [each["id"] for each in found] == ["a", "b"]
    assert "WARNING" not in said


def test_topic_up_to_its_end(broker, command, tmp_path):
    """All partitions of a topic are read from beginning to end."""
    topic = create_topic(broker.bootstrap, partitions=2)
    for partition in range(2):
        numbers = range(60 + 10 * partition, 70 + 10 * partition)
        data = [(None, line(number, labelled=True)) for number in numbers]
        produce(broker.bootstrap, topic, data, partition=partition)
    done = command(
        *("predict", str(GOLDEN), "--bootstrap", broker.bootstrap),
        *("--source", f"kafka:{topic}", "--predictions", "p.jsonl"),
    ).ok()
    assert "20 events predicted, 0 dead letters" in done.err
    found = {each["id"]: each["y_pred"] for each in lines((tmp_path / "p.jsonl").read_bytes())}
    numbers = range(60, 80)
    assert found == dict(zip([f"e{n}" for n in numbers], expected(numbers), strict=True))


def test_labels_of_their_own(command, tmp_path):
    """With --pending-events a later label is neither a dead letter nor learned."""
    label = json.dumps({"id": "e60", "y": 1e6}).encode()
    data = [line(60, labelled=False), label, line(61, labelled=False)]
    (tmp_path / "events.jsonl").write_bytes(b"\n".join(data))
    done = command(
        *("predict", str(GOLDEN), "--source", "events.jsonl", "--predictions", "p.jsonl"),
        *("--pending-events", "10"),
    )
    assert "2 events predicted, 0 dead letters" in done.err
    found = lines((tmp_path / "p.jsonl").read_bytes())
    assert [each["y_pred"] for each in found] == expected([60, 61])


def test_interrupted(tmp_path):
    """SIGINT ends the command after the current event, with a report and exit code 0."""
    process = subprocess.Popen(
        [*COMMAND, "predict", str(GOLDEN)],
        cwd=tmp_path,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdin.write(line(60, labelled=False) + b"\n")
    process.stdin.flush()
    assert lines(process.stdout.readline())[0]["y_pred"] == expected([60])[0]
    os.kill(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 0, said
    assert b"1 events predicted, 0 dead letters" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "there is no snapshot in nowhere: name a snapshot"),
        ([str(GOLDEN), "--source=nowhere.jsonl"], "can't read nowhere.jsonl: No such file"),
        (
            [str(GOLDEN), "--source=e.jsonl", "--predictions=e.jsonl"],
            "predictions = 'e.jsonl' is also the source: choose another address",
        ),
    ],
)
def test_errors(command, arguments, said):
    """Errors at startup are one line without traceback."""
    assert said in command("predict", *arguments).refused().err
