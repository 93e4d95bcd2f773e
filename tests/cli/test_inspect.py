"""`iln-stream inspect`: the contents of snapshots."""

import json
import shutil
from pathlib import Path

import pytest
from support.embedded_log import append

from iln_stream.service import Service, Settings
from iln_stream.snapshots import read_snapshot

QUICK = {
    "start": "earliest",
    "stop_at_end": True,
    "metrics_port": 0,
    "learner_options": {"profile": "fast"},
}

GOLDEN = Path(__file__).parents[1] / "snapshots" / "golden" / "0.2.0-pool.snapshot"


def test_file(command):
    """A snapshot's position, learner, counts, versions and CPU are shown."""
    done = command("inspect", str(GOLDEN))
    assert done.code == 0, done.err
    for told in (
        "partitions",
        "1b4e28ba-2fa1-11d2-883f-0016d3cca427",
        "next offset",
        "ScaledTarget(river.compose.Pipeline(",
        "numpy 2",
        "native znver4",
    ):
        assert told in done.out


def test_folder(command, tmp_path):
    """For a folder, each learner's newest snapshot is shown."""
    for topic, offset in (("a-0", 50), ("a-0", 60), ("b-1", 60)):
        (tmp_path / topic).mkdir(exist_ok=True)
        shutil.copy(GOLDEN, tmp_path / topic / f"000001-{offset:020}.snapshot")
    done = command("inspect", str(tmp_path))
    assert done.code == 0, done.err
    assert done.out.count("topic id") == 2


def test_as_json(command, tmp_path):
    """Other programs read a snapshot's position, learner and counts as a line of JSON."""
    append(tmp_path / "log.db", [b'{"x": {"a": 1}, "y": 2}', b"nonsense", b'{"x": {"a": 3}}'])
    source = f"sqlite:{tmp_path / 'log.db'}"
    Service(Settings(source=source, snapshots=str(tmp_path / "s"), **QUICK)).run()
    (line,) = command("inspect", str(tmp_path / "s"), "--json").out.splitlines()
    shown = json.loads(line)
    header = read_snapshot(next((tmp_path / "s").rglob("*.snapshot"))).header
    assert shown["positions"] == {"log-events:0": 3}
    assert (shown["topic_id"], shown["seed"]) == (header.topic_id, header.seed)
    assert shown["configuration_hash"] == header.configuration_hash
    assert shown["learner"].endswith("InfiniteLayerRegressor")
    assert [shown[f"n_{each}"] for each in ("events", "labelled", "dead_letters")] == [2, 1, 1]
    assert shown["running_mae"] == 2.0
    done = command("inspect", str(tmp_path / "s"), "--json", "--key", "a")
    assert (done.code, done.out) == (2, "")
    assert "--json: not with --key" in done.err


@pytest.mark.parametrize("name", ["nothing", "."])
def test_nothing_there(command, name):
    """A path without snapshots is an error."""
    done = command("inspect", name)
    assert done.code == 2
    assert "there is no snapshot in" in done.err


def test_corrupt_file(command, tmp_path):
    """A corrupt file is an error."""
    (tmp_path / "bad.snapshot").write_bytes(GOLDEN.read_bytes()[:-3])
    done = command("inspect", "bad.snapshot")
    assert done.code == 2
    assert "bad.snapshot: its checksum is not that of its contents" in done.err


def test_contenders(command, tmp_path):
    """Of a contest, the standing of each contender is shown, with its last failure."""
    events = [{"x": {"a": number / 20}, "y": number % 3} for number in range(20)]
    append(tmp_path / "log.db", [json.dumps(each).encode() for each in events])
    challengers = {
        "failing": {"learner": "support.contenders:Failing"},
        "mean": {"learner": "support.contenders:mean"},
    }
    settings = Settings(
        source=f"sqlite:{tmp_path / 'log.db'}",
        snapshots=str(tmp_path / "state"),
        snapshot_pickle=True,
        stop_at_end=True,
        learner="pool",
        challengers=challengers,
        mixture=True,
        metrics_port=None,
    )
    Service(settings).run()
    done = command("inspect", str(tmp_path / "state"))
    assert done.code == 0, done.err
    out = " ".join(done.out.replace("│", " ").split())
    for told in (
        "contender: pool",
        "champion; iln_stream.ScaledTarget(river.compose.Pipeline(",
        "challenger; a pickle; running error 0.95 on 20 events",
        "1 failures, the last: ArithmeticError: a is too large",
        "challenger; the mixture; running error",
        "evidence -1.000 to 1.000",
    ):
        assert told in out, out
