"""Compiling ahead: `iln-stream warm`, and what `iln-stream run` does where the cache is cold."""

import json
import os
import signal
import time
from pathlib import Path

import pytest
from support.command_line import iln, python
from support.embedded_log import append
from support.running_command import Command
from support.web import ask

FIRST_USE = """
import gc, json, math, sys
from iln_stream import InfiniteLayerRegressor
from iln_stream.kernels.jit import InliningDispatcher
model = InfiniteLayerRegressor()
for t in range(150):
    x = {"a": math.sin(t), "b": math.cos(3 * t), "c": float(t % 5), "d": 1e9 + t}
    if t % 7 == 3:
        del x["b"]
    model.predict_one(x)
    model.predict_interval(x)
    model.learn_one(x, math.sin(2 * t))
found = [each for each in gc.get_objects() if isinstance(each, InliningDispatcher)]
misses = {each.__name__: sum(each.stats.cache_misses.values()) for each in found}
hits = sum(sum(each.stats.cache_hits.values()) for each in found)
print(json.dumps([hits, [name for name, n in misses.items() if n], "scipy.linalg" in sys.modules]))
"""


PROFILE = "--profile=random-feature-ridge"  # the fewest functions


@pytest.fixture(scope="module")
def warm(tmp_path_factory):
    """A folder, and what `iln-stream warm` printed while it filled a cache there."""
    folder = tmp_path_factory.mktemp("warm")
    done = iln("warm", PROFILE, cwd=folder, timeout=600, env={"NUMBA_CACHE_DIR": str(folder)})
    assert done.returncode == 0, done.stderr
    return folder, done.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """An empty folder; the default learner is warm in the usual cache, which all tests use."""
    folder = tmp_path_factory.mktemp("usual")
    done = iln("warm", "--profile=accurate", cwd=folder, timeout=600)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.timeout(600)
@pytest.mark.thorough
def test_reports_its_progress(warm):
    """It says where the cache is, each function with its seconds, and how far it is. It can be
    repeated: nothing is left to do. `doctor` says how to compile what the settings need."""
    folder, said = warm
    first, *lines, last = said.splitlines()
    assert first.startswith(f"compiling into {folder}{os.sep}")
    assert all(line.startswith("random-feature-ridge (1 of 1): ") for line in lines)
    assert any(line.startswith("random-feature-ridge (1 of 1): ridges.replay, ") for line in lines)
    assert last.startswith("done in ")
    here = {"NUMBA_CACHE_DIR": str(folder), "COLUMNS": "400"}
    again = iln("warm", PROFILE, cwd=folder, env=here)
    assert "random-feature-ridge (1 of 1): nothing was left to compile\n" in again.stderr
    (row,) = [
        line
        for line in iln("doctor", cwd=folder, env=here).stdout.splitlines()
        if "compiled loops" in line
    ]
    assert " optional " in row
    assert "not yet: iln-stream warm --profile accurate" in row


def test_a_fresh_process_compiles_nothing(folder):
    """After `warm` the default learner loads every function, without what only compiling needs, and
    no later event waits; a run says nothing of it."""
    done = python(FIRST_USE, cwd=folder)
    assert done.returncode == 0, done.stderr
    hits, compiled, needless = json.loads(done.stdout)
    assert (hits > 10, compiled, needless) == (True, [], False)
    arguments = ("--source=synthetic:Friedman", "--limit=5", "--metrics-port=0")
    done = iln("run", *arguments, cwd=folder)
    assert done.returncode == 0
    assert "compil" not in done.stderr


def test_nowhere_to_keep_it(command, monkeypatch):
    """Without a cache folder that can be written to, it fails and names the remedy; a wrong name is
    an error that lists the right ones."""
    done = command("warm", "--profile", "fats").refused()
    assert "'fats' must be one of accurate, fast, " in done.err
    monkeypatch.setattr("iln_stream.cli.warm.cache_is_writable", lambda: False)
    assert "set NUMBA_CACHE_DIR to a folder that can be written to" in command("warm").refused().err


def test_a_cold_run_is_alive_not_ready_and_can_be_stopped(tmp_path, monkeypatch):
    """While it compiles, a run answers, is not ready, and SIGTERM ends it as at any other time."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cold"))
    arguments = ("--source=synthetic:Friedman", "--metrics-port=0", "--predictions=p.jsonl")
    with Command(tmp_path, "run", *arguments) as running:
        running.wait_until_it_says("compiling the learner's loops")
        address = running.said.split("metrics at ")[1].split("/metrics")[0]
        assert ask(f"{address}/health") == (200, "alive\n")
        status, reason = ask(f"{address}/ready")
        assert status == 503
        assert reason.startswith("compiling the learner's loops: ")
        begun = time.monotonic()
        assert running.terminate() == 0
        assert time.monotonic() - begun < 15.0  # 2 on an idle machine
    assert "0 events, " in running.said
    assert running.said.count("compil") == 1  # not a line for each function
    assert Path(tmp_path / "p.jsonl").read_text() == ""
    assert compiling() == []


EVENTS = "".join(f'{{"x": {{"a": {i % 7}}}, "y": {i % 5}}}\n' for i in range(80))


@pytest.fixture
def learned(tmp_path):
    """The settings of a run that has learned a log, in `tmp_path`."""
    append(tmp_path / "log.db", [line.encode() for line in EVENTS.splitlines()])
    settings = ["--source=sqlite:log.db", "--start=earliest", "--snapshots=s"]
    settings += ["--predictions=p.jsonl", "--learner-options", '{"profile":"fast"}']
    assert iln("run", *settings, "--metrics-port=0", "--stop-at-end", cwd=tmp_path).returncode == 0
    return settings


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["predict", "demo", "rebuild"])
def test_other_commands_report_compiling(name, learned, tmp_path, monkeypatch):
    """With a cold cache they say that they compile, as `run` does; Ctrl-C ends them together with
    their processes."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cold"))
    (folder,) = map(str, (tmp_path / "s").iterdir())
    arguments = {"demo": [], "predict": [folder, "--source=p.jsonl"], "rebuild": learned}
    with Command(tmp_path, name, *arguments[name]) as running:
        running.wait_until_it_says("INFO compiling the learner's loops, once")
        running.signal(signal.SIGINT)
        assert running.wait() == (0 if name == "predict" else 130)
    assert "Traceback" not in running.said
    assert compiling() == []


def compiling() -> list[Path]:
    """The processes that compile for these tests."""
    return [each for each in Path("/proc").glob("[0-9]*/cmdline") if _compiles(each)]


def _compiles(cmdline: Path) -> bool:
    try:
        environ = (cmdline.parent / "environ").read_bytes()
        return b"warm_process" in cmdline.read_bytes() and b"/cold\0" in environ
    except OSError:
        return False
