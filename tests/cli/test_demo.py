"""`iln-stream demo`, run as a user runs it."""

import json
import re
import signal
import socket
import subprocess
import urllib.request
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest
from rich.console import Console
from support.command_line import COMMAND, environment
from support.list_source import LIST

from iln_stream.cli.demo import (
    SEASON,
    Trajectory,
    address,
    contenders,
    demand,
    run_demo,
    store_streams,
    streams,
)
from iln_stream.errors import IlnError
from iln_stream.loop import Listener, PrequentialLoop, Step
from iln_stream.streams import StreamOptions, stream_at
from iln_stream.streams.river import RiverDatasetSource


class Shown(NamedTuple):
    output: str
    folder: Path
    page: str
    live: dict


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """Run the demo once with --keep, scrape it and interrupt it."""
    folder = tmp_path_factory.mktemp("demo")
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
            if watched := re.search(r"Watch it learn.*(http://[\d.:]+)", line):
                break
        assert url is not None, output
        # Requests to this machine bypass any proxy in the environment.
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with direct.open(url, timeout=10) as answer:
            page = answer.read().decode()
        with httpx.stream("GET", f"{watched[1]}/events", trust_env=False, timeout=60) as stream:
            messages = (line[6:] for line in stream.iter_lines() if line.startswith("data: {"))
            live = next(m for m in map(json.loads, messages) if m["models"])
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=20)
        assert process.returncode == 0
    return Shown(output + rest, folder, page, live)


@pytest.mark.thorough
def test_keep_shows_a_learner_at_work(shown):
    """With --keep, the address that is printed serves a page of a learner, with its state."""
    (model,) = shown.live["models"].values()
    assert model["head"]["model"] == "live-demand/infinite-layer"
    assert "iln_error/mae/window" in model["metrics"]


def cells(output, name):
    """Return a contender's row: its error and speed on each stream."""
    (row,) = [line for line in output.splitlines() if f" {name} " in line]
    return [float(cell.replace(",", "")) for cell in row.split(name)[1].split()]


@pytest.mark.thorough
def test_table(shown):
    """Each contender has a row with an error and a speed for each stream; on each
    our learner's error is the least, well below that of the last value."""
    for name in contenders(seed=1):
        row = cells(shown.output, name)
        assert len(row) == 2 * len(streams(seed=1))
        assert all(cell > 0 for cell in row)
    errors = [cells(shown.output, name)[::2] for name in contenders(seed=1)]
    assert errors[0] == [min(each) for each in zip(*errors, strict=True)]
    last_values = cells(shown.output, "last value")[::2]
    assert all(ours < 0.6 * last for ours, last in zip(errors[0], last_values, strict=True))


@pytest.mark.thorough
def test_picture(shown):
    """The demo draws a picture in the folder --out, and says so."""
    output, folder = shown.output, shown.folder
    picture = folder / "pictures/here/running_mae.png"
    assert picture.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert picture.stat().st_size > 10_000
    assert "pictures/here/running_mae.png" in output


@pytest.mark.thorough
def test_metrics_are_kept(shown):
    """With --keep the demo serves the metrics of all our learners until Ctrl-C."""
    events = dict(re.findall(r'^iln_events_total{model="(\S+?)".*} (\S+)$', shown.page, re.M))
    assert {model: float(n) for model, n in events.items()} == {
        "demo-AirlinePassengers": 144,
        "demo-FriedmanDrift": 3000,
        "algorithm-1-AirlinePassengers": 144,
        "algorithm-1-FriedmanDrift": 3000,
        "pool-AirlinePassengers": 144,
        "pool-FriedmanDrift": 3000,
    }


@pytest.mark.thorough
def test_nothing_else_is_left_behind(shown):
    """The demo writes its picture and its logs, which are closed; with --keep also the log of the
    stream on the page and its dead letters."""
    files = sorted(file.name for file in shown.folder.rglob("*") if file.is_file())
    assert files == ["demo.db", "live-dead-letters.jsonl", "live.db", "running_mae.png"]


def test_out_that_can_not_be(tmp_path):
    """A folder that can't be created is an error before any learning."""
    (tmp_path / "taken").touch()
    with pytest.raises(IlnError, match=r"--out: can't create the folder .*taken: File exists"):
        run_demo(tmp_path / "taken", keep=False, metrics_port=0, console=Console(quiet=True))


def test_port_taken(tmp_path):
    """A port in use is an error that names the port, before any learning."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(IlnError, match=f"--metrics-port: {port}: Address already in use"):
            run_demo(tmp_path, keep=False, metrics_port=port, console=Console(quiet=True))


def test_the_city_changes_between_seasons():
    """The same inputs mean other labels in another season, so that a learner has to adapt; the same
    seed gives the same events."""
    events, again = (list(islice(demand(1), 2 * SEASON)) for _ in range(2))
    assert events == again

    def mean(part, hour):
        chosen = [e["y"] for e in part if int(e["id"][2:]) % 24 == hour]
        return sum(chosen) / len(chosen)

    before, after = events[:SEASON], events[SEASON:]
    shapes = [[mean(part, hour) - mean(part, 3) for hour in range(24)] for part in (before, after)]
    assert max(abs(a - b) for a, b in zip(*shapes, strict=True)) > 3.0


class Nothing:
    """A learner that remembers what it learns."""

    def __init__(self):
        self.seen = []

    def predict_one(self, x):
        return 0.0

    def learn_one(self, x, y):
        self.seen.append((dict(x), y))


def seen(source):
    learner = Nothing()
    PrequentialLoop(source, learner, [Listener()]).run()
    source.close()
    return learner.seen


def test_the_log_has_every_event_to_the_last_bit(tmp_path):
    """Events read from the log are those of the data set, also when the demo runs again."""
    some = [stream._replace(n_events=300) for stream in streams(1)]
    for _ in range(2):
        store_streams(some, tmp_path / "demo.db")
        for stream in some:
            direct = RiverDatasetSource(stream.dataset, stream.title, limit=300)
            topic = stream_at(
                address(tmp_path / "demo.db", stream), StreamOptions(stop_at_end=True)
            )
            assert seen(topic.log(0, "earliest")) == seen(direct)


def test_means_of_a_trajectory():
    """Means are over labelled events."""
    trajectory = Trajectory()
    for y, y_pred in [(1.0, 3.0), (None, 9.0), (5.0, 4.0)]:
        trajectory.on_step(Step(LIST, 0, None, None, {}, y, y_pred, None, seconds=0.5))
    assert trajectory.absolute_errors == [2.0, 1.0]
    assert trajectory.running_mae == [2.0, 1.5]
    assert trajectory.events_per_second == 2.0
