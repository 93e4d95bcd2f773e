"""Runs `iln-stream demo`, without a broker."""

import signal
import threading
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from prometheus_client import start_http_server
from prometheus_client.registry import CollectorRegistry
from rich import box
from rich.console import Console
from rich.table import Table
from river import base

from iln_stream.demo.contenders import (
    OUR_ALGORITHM_1,
    OUR_POOL,
    OURS,
    DemoStream,
    contenders,
    shrinking_run,
    streams,
)
from iln_stream.demo.live import show_live
from iln_stream.demo.stored import address, open_stream, store_streams
from iln_stream.demo.trajectory import Trajectory
from iln_stream.errors import IlnError, IlnWarning
from iln_stream.learners import find_shrinking_gradient
from iln_stream.listeners import Metrics, Progress
from iln_stream.prequential import PrequentialLoop
from iln_stream.service.warming import Warming

_SEED = 1
_SHRINKING = "a shrinking run"
_LABELS = {
    OURS: "demo",
    OUR_ALGORITHM_1: "algorithm-1",
    OUR_POOL: "pool",
    _SHRINKING: "shrinking",
}


def run_demo(
    out: Path, keep: bool, metrics_port: int, console: Console, page_port: int = 0
) -> None:
    """Run each model on each stream, print a table, and draw a picture.

    Parameters
    ----------
    out
        Folder for the picture.
    keep
        Serve /metrics, and learn an endless stream on a page, until interrupted.
    metrics_port
        Port of /metrics; 0 picks a free one.
    console
        Receives all output.
    page_port
        Port of the page; 0 picks a free one.

    """
    registry = CollectorRegistry()
    metrics = Metrics(registry, window=500)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise IlnError(f"--out: can't create the folder {out}: {error.strerror}") from error
    try:
        server, _ = start_http_server(metrics_port, "127.0.0.1", registry=registry)
    except OSError as error:
        raise IlnError(
            f"--metrics-port: {metrics_port}: {error.strerror}; 0 picks a free port"
        ) from error
    url = f"http://127.0.0.1:{server.server_address[1]}/metrics"
    console.print(f"Metrics of our learners during the demo: {url}")
    log = out / "demo.db"
    store_streams(streams(_SEED), log)
    console.print(f"The streams' events are in an embedded log, {log}.")

    warnings.simplefilter("ignore", IlnWarning)  # the shrinking run is expected to warn
    warmings = [Warming.of(make()) for make in contenders(_SEED).values()]
    for warming in {each.name: each for each in warmings}.values():
        warming.run()
    runs: dict[str, dict[str, Trajectory]] = {}
    for stream in streams(_SEED):
        runs[stream.title] = {
            name: _learn(stream, log, name, make, metrics, console)
            for name, make in contenders(_SEED).items()
        }
    drifting = streams(_SEED)[-1]
    shrinking = _learn(drifting, log, _SHRINKING, lambda: shrinking_run(_SEED), metrics, console)

    console.print(_table(runs))
    console.print(
        "With a norm bound far too small for its step, Algorithm 1 shrank alpha "
        f"{len(shrinking.shrinks)} times (right panel)."
    )
    picture = out / "running_loss.png"
    try:
        from iln_stream.demo.picture import draw
    except ImportError:
        console.print("No picture, as matplotlib is missing (pip install 'iln-stream[demo]').")
    else:
        draw(runs, shrinking, picture)
        console.print(f"Picture of the running losses: {picture}")
    console.print(
        f"Learn one of the streams yourself: iln-stream run --source {address(log, drifting)} "
        "--stop-at-end --predictions -",
        soft_wrap=True,
    )
    if keep:
        console.print(f"Serving {url} until interrupted (Ctrl-C).")
        with suppress(KeyboardInterrupt):  # before the learner handles signals
            if not show_live(out, page_port, _SEED, console):
                _wait_for_interrupt()
    server.shutdown()
    server.server_close()


def _learn(
    stream: DemoStream,
    log: Path,
    name: str,
    make: Callable[[], base.Regressor],
    metrics: Metrics,
    console: Console,
) -> Trajectory:
    _warm_up(make())
    model = make()
    source = open_stream(stream, log)
    algorithm_1 = find_shrinking_gradient(model)
    trajectory = Trajectory(algorithm_1)
    progress = Progress(f"{stream.title}: {name}", stream.n_events, console)
    listeners = [trajectory, progress]
    if algorithm_1 is not None:
        label = f"{_LABELS[name]}-{stream.title}"
        listeners.append(watched := metrics.watch(model, source, model=label))
    loop = PrequentialLoop(source, model, listeners)
    if algorithm_1 is not None:
        watched.n_in_hand = loop.n_in_hand
    loop.run()
    progress.close()
    source.close()
    return trajectory


def _warm_up(model: base.Regressor) -> None:
    """Import and compile before timing; 80 events, as learners first replay memory after 64."""
    for number in range(80):
        model.learn_one({"warming": float(number % 7), "up": 1.0}, float(number % 5))
        model.predict_one({"warming": 1.0, "up": 1.0})


def _table(runs: dict[str, dict[str, Trajectory]]) -> Table:
    table = Table(
        title="Mean absolute error, each event predicted before its label is seen",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    table.add_column("model")
    for title in runs:
        table.add_column(title, justify="right")
        table.add_column("events/s", justify="right")
    for name in next(iter(runs.values())):
        cells = []
        for trajectories in runs.values():
            run = trajectories[name]
            cells += [f"{run.mae:.3f}", f"{run.events_per_second:,.0f}"]
        table.add_row(name, *cells, style="bold" if name in _LABELS else None)
    return table


def _wait_for_interrupt() -> None:
    interrupted = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: interrupted.set())
    interrupted.wait()
