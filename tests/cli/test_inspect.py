"""`iln-stream inspect`: the contents of snapshots."""

import json
import shutil
from pathlib import Path

from support.embedded_log import append

from iln_stream.service import Service, Settings
from iln_stream.snapshots import snapshot_at

GOLDEN = Path(__file__).parents[1] / "snapshots" / "golden" / "0.2.0-pool.snapshot"


def learn(folder, events, **settings):
    """Let a run learn a log, and save the learner below `state`."""
    append(folder / "log.db", [json.dumps(each).encode() for each in events])
    given = {"learner_options": {"profile": "fast"}, **settings}
    source, state = f"sqlite:{folder / 'log.db'}", str(folder / "state")
    Service(
        Settings(source=source, snapshots=state, stop_at_end=True, metrics_port=None, **given)
    ).run()


def test_file(command):
    """A snapshot's position, learner, counts, versions and CPU are shown."""
    done = command("inspect", str(GOLDEN)).ok()
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
    done = command("inspect", str(tmp_path)).ok()
    assert done.out.count("topic id") == 2


def test_as_json(command, tmp_path):
    """Other programs read a snapshot's position, learner and counts as a line of JSON."""
    learn(tmp_path, [{"x": {"a": 1}, "y": 2}, "nonsense", {"x": {"a": 3}}])
    (line,) = command("inspect", "state", "--json").out.splitlines()
    shown = json.loads(line)
    header = snapshot_at(tmp_path / "state").header
    assert shown["positions"] == {"log-events:0": 3}
    assert (shown["topic_id"], shown["seed"]) == (header.topic_id, header.seed)
    assert shown["configuration_hash"] == header.configuration_hash
    assert shown["learner"].endswith("InfiniteLayerRegressor")
    assert [shown[f"n_{each}"] for each in ("events", "labelled", "dead_letters")] == [2, 1, 1]
    assert shown["running_mae"] == 2.0
    done = command("inspect", "state", "--json", "--key", "a")
    assert (done.code, done.out) == (2, "")
    assert "--json: not with --key" in done.err


def test_errors(command, tmp_path):
    """A path without snapshots and a corrupt file are errors."""
    for name in ("nothing", "."):
        assert "there is no snapshot in" in command("inspect", name).refused().err
    (tmp_path / "bad.snapshot").write_bytes(GOLDEN.read_bytes()[:-3])
    done = command("inspect", "bad.snapshot").refused()
    assert "bad.snapshot: its checksum is not that of its contents" in done.err


def test_contenders(command, tmp_path):
    """Of a contest, the standing of each contender is shown, with its last failure."""
    events = [{"x": {"a": number / 20}, "y": number % 3} for number in range(20)]
    challengers = {
        "failing": {"learner": "support.contenders:Failing"},
        "mean": {"learner": "support.contenders:mean"},
    }
    contest = {"learner": "pool", "challengers": challengers, "mixture": True}
    learn(tmp_path, events, **contest, learner_options={}, snapshot_pickle=True)
    done = command("inspect", "state").ok()
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


def test_a_key_is_shown(command, tmp_path):
    """Its events, error, level, slopes and the weights of its rule; what is no key, and one model
    for all, are errors."""
    keys = [
        {"x": {"shop": f"s{t % 3}", "a": t % 5}, "y": 5.0 * (t % 3) + t % 5} for t in range(120)
    ]
    learn(tmp_path, keys, by_key="shop")
    done = command("inspect", "state", "--key", "s2")
    for part in ("shop = s2", "events", "40", "mean |error|", "level", "a:", "global", "slopes"):
        assert part in done.out
    assert "none of the 3 keys" in command("inspect", "state", "--key", "s9").err
    assert "set by_key" in command("inspect", str(GOLDEN), "--key", "s2").err
