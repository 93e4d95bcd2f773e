"""`iln-stream demo`: what a newcomer sees first."""

import re
import signal
import socket
import subprocess
import time
import urllib.request
from pathlib import Path
from typing import NamedTuple

import pytest
from rich.console import Console
from river import datasets
from support.command_line import COMMAND, environment

from iln_stream.demo import run_demo
from iln_stream.demo.contenders import OURS, contenders, streams
from iln_stream.demo.trajectory import Trajectory
from iln_stream.errors import IlnError
from iln_stream.learners import find_shrinking_gradient
from iln_stream.prequential import PrequentialLoop, Step
from iln_stream.service import shrinking_gradient
from iln_stream.streams.river import RiverDatasetSource


class Shown(NamedTuple):
    output: str
    folder: Path
    page: str
    seconds: float


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """One run of the demo that is kept, scraped and interrupted: what it said and served."""
    folder = tmp_path_factory.mktemp("demo")
    started = time.monotonic()
    with subprocess.Popen(
        [*COMMAND, "demo", "--out", "pictures/here", "--keep"],
        cwd=folder,
        env=environment(PYTHONUNBUFFERED="1"),
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        output, url = "", None
        for line in process.stdout:
            output += line
            if kept := re.search(r"Serving (\S+) until interrupted", line):
                url = kept[1]
                break
        seconds = time.monotonic() - started
        assert url is not None, output
        # Whatever proxy the environment names, it is not asked for an address on this machine.
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with direct.open(url, timeout=10) as answer:
            page = answer.read().decode()
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=20)
        assert process.returncode == 0
    return Shown(output + rest, folder, page, seconds)


def test_within_a_minute(shown):
    """Nobody waits longer than a minute for a first look."""
    assert shown.seconds < 60


def cells(output, name):
    """A contender's row: its error and speed on each stream."""
    (row,) = [line for line in output.splitlines() if f" {name} " in line]
    return [float(cell.replace(",", "")) for cell in row.split(name)[1].split()]


@pytest.mark.parametrize("name", contenders(seed=1))
def test_table(shown, name):
    """Each contender has a row with an error and a speed for each stream."""
    row = cells(shown.output, name)
    assert len(row) == 2 * len(streams(seed=1))
    assert all(cell > 0 for cell in row)


def test_ours_has_learned(shown):
    """On every stream our learner's error is below that of guessing the mean so far."""
    ours, guessing = (cells(shown.output, name)[::2] for name in (OURS, "running mean"))
    assert all(error < guess for error, guess in zip(ours, guessing, strict=True))


def test_picture(shown):
    """The picture is where it was asked for, and is one."""
    output, folder = shown.output, shown.folder
    picture = folder / "pictures/here/running_loss.png"
    assert picture.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert picture.stat().st_size > 10_000
    assert "pictures/here/running_loss.png" in output


def test_shrinks_are_shown(shown):
    """The run that is meant to shrink does, and the demo says how often."""
    (times,) = re.findall(r"shrank alpha (\d+) times", shown.output)
    assert int(times) > 0


def test_metrics_are_kept(shown):
    """With --keep the page stays up until Ctrl-C, telling of all our learners' events."""
    events = dict(re.findall(r'^iln_events_total{model="(\S+?)".*} (\S+)$', shown.page, re.M))
    assert {model: float(n) for model, n in events.items()} == {
        "demo-TrumpApproval": 1001,
        "demo-FriedmanDrift": 3000,
        "algorithm-1-TrumpApproval": 1001,
        "algorithm-1-FriedmanDrift": 3000,
        "pool-TrumpApproval": 1001,
        "pool-FriedmanDrift": 3000,
        "shrinking-FriedmanDrift": 3000,
    }


def test_nothing_else_is_left_behind(shown):
    """The demo leaves its picture and no other file."""
    assert [file.name for file in shown.folder.rglob("*") if file.is_file()] == ["running_loss.png"]


def test_out_that_can_not_be(tmp_path):
    """A folder that can't be made is told at once, before any learning."""
    (tmp_path / "taken").touch()
    with pytest.raises(IlnError, match=r"--out: can't create the folder .*taken: File exists"):
        run_demo(tmp_path / "taken", keep=False, metrics_port=0, console=Console(quiet=True))


def test_port_taken(tmp_path):
    """A port that somebody else has is told at once, by its number."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(IlnError, match=f"--metrics-port: {port}: Address already in use"):
            run_demo(tmp_path, keep=False, metrics_port=port, console=Console(quiet=True))


def test_trajectory_of_a_run():
    """A trajectory's errors, losses and shrinks are those of the steps."""
    model = shrinking_gradient(seed=1, norm_bound=0.01, step=1.0)
    algorithm_1 = find_shrinking_gradient(model)
    trajectory = Trajectory(algorithm_1)
    source = RiverDatasetSource(datasets.TrumpApproval(), "TrumpApproval", limit=300)
    PrequentialLoop(source, model, [trajectory]).run()
    assert len(trajectory.shrinks) == algorithm_1.n_shrinks > 0
    assert trajectory.alpha_l1[-1] == algorithm_1.alpha_l1
    for event in trajectory.shrinks:
        assert trajectory.alpha_l1[event] == pytest.approx(trajectory.alpha_l1[event - 1] / 4)


def test_means_of_a_trajectory():
    """Means are over labelled events, each loss being half a squared error."""
    trajectory = Trajectory()
    for y, y_pred in [(1.0, 3.0), (None, 9.0), (5.0, 4.0)]:
        trajectory.on_step(Step(0, 0, None, None, {}, y, y_pred, None, seconds=0.5))
    assert trajectory.absolute_errors == [2.0, 1.0]
    assert trajectory.mae == 1.5
    assert trajectory.running_loss == [0.5]  # of the second on
    assert trajectory.events_per_second == 2.0
    assert trajectory.alpha_l1 == []
