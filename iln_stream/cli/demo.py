"""`iln-stream demo`: two streams, River's usual models beside ours, a picture, metrics."""

import itertools
import json
import os
import signal
import sys
import threading
import warnings
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from itertools import accumulate
from math import cos, pi, sin
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from prometheus_client import start_http_server
from prometheus_client.registry import CollectorRegistry
from rich import box
from rich.console import Console
from rich.table import Table
from river import base, datasets, dummy, neighbors, stats, tree

from iln_stream.cli.demo_challengers import linear, scaled
from iln_stream.errors import IlnError, IlnWarning
from iln_stream.learners import InfiniteLayerRegressor, find_shrinking_gradient
from iln_stream.loop import Listener, Step
from iln_stream.loop.metrics import Metrics
from iln_stream.loop.progress import Progress
from iln_stream.service import Service, Settings, SettingsError, pool, shrinking_gradient
from iln_stream.service.assembly import Assembly
from iln_stream.service.settings import LoopSettings
from iln_stream.service.warming import Warming
from iln_stream.streams import Appender, NewRecord, StreamOptions, stream_at
from iln_stream.streams.river import RiverDatasetSource


class Trajectory(Listener):
    """Records the error of each step."""

    def __init__(self) -> None:
        self.absolute_errors: list[float] = []
        self.seconds = 0.0

    def on_step(self, step: Step) -> None:
        """Record the step."""
        if step.y is None:
            return
        self.absolute_errors.append(abs(step.y_pred - step.y))
        self.seconds += step.seconds

    @property
    def events_per_second(self) -> float:
        """Events predicted and learned per second."""
        return len(self.absolute_errors) / self.seconds

    @property
    def running_mae(self) -> list[float]:
        """Mean absolute error up to each event, in y's units."""
        totals = accumulate(self.absolute_errors)
        return [total / n for n, total in enumerate(totals, start=1)]


SEASON = 2500
"""Events after which the city changes: how it heats and cools, and when it is busy."""


def demand(seed: int) -> Iterator[dict[str, Any]]:
    """Yield events without end: x, and the label y in megawatts."""
    rng = Random(seed)  # noqa: S311
    temperature, wind, clouds, industry = 12.0, 4.0, 0.5, 0.5
    hour = 0
    while True:
        city = Random(seed + hour // SEASON)  # noqa: S311
        heating, cooling = city.uniform(1.0, 3.5), city.uniform(0.5, 4.0)
        peak, evening = city.uniform(6.0, 10.0), city.uniform(15.0, 40.0)
        while True:
            day = hour / 24.0
            season = 12.0 + 9.0 * sin(2.0 * pi * day / 100.0)
            temperature += 0.15 * (
                season - 3.0 * clouds + 5.0 * sin(2 * pi * (day - 0.4)) - temperature
            )
            temperature += rng.gauss(0.0, 0.5)
            wind = max(0.0, wind + 0.2 * (5.0 - wind) + rng.gauss(0.0, 1.0))
            clouds = min(1.0, max(0.0, clouds + rng.gauss(0.0, 0.15)))
            if rng.random() < 0.1:
                industry = rng.random()
            works = int(day) % 7 < 5
            busy = evening * max(0.0, sin(pi * ((hour % 24) - peak) / 14.0))
            y = 220.0 + busy * (1.0 if works else 0.45)
            y += heating * max(0.0, 15.0 - temperature) + cooling * max(0.0, temperature - 20.0)
            y += 25.0 * industry * (1.5 if works else 1.0)
            y -= 1.5 * wind + 8.0 * (1.0 - clouds)
            x = {
                "temperature": round(temperature, 2),
                "wind": round(wind, 2),
                "clouds": round(clouds, 2),
                "industry": round(industry, 3),
                "hour_sin": round(sin(2 * pi * day), 4),
                "hour_cos": round(cos(2 * pi * day), 4),
                "weekday_sin": round(sin(2 * pi * day / 7), 4),
                "weekday_cos": round(cos(2 * pi * day / 7), 4),
                "noise": round(rng.gauss(0.0, 1.0), 3),
            }
            yield {"x": x, "y": round(y + rng.gauss(0.0, 2.0), 2), "id": f"h-{hour}"}
            hour += 1
            if hour % SEASON == 0:
                break


OURS = "InfiniteLayerRegressor"
OUR_ALGORITHM_1 = "ShrinkingGradient"
OUR_POOL = "pool of 512 features"


class DemoStream(NamedTuple):
    """A stream of the demo: title, River data set and number of events."""

    title: str
    dataset: Any
    n_events: int


def streams(seed: int) -> list[DemoStream]:
    """Return a real stream bundled with River, and a synthetic one that drifts twice."""
    n = 3000
    return [
        DemoStream("AirlinePassengers", airline := datasets.AirlinePassengers(), airline.n_samples),
        DemoStream(
            "FriedmanDrift",
            datasets.synth.FriedmanDrift(
                drift_type="gra", position=(n // 3, 2 * n // 3), seed=seed
            ),
            n,
        ),
    ]


def contenders(seed: int) -> dict[str, Callable[[], base.Regressor]]:
    """Return factories of our learners and of common River models, by name."""
    return {
        OURS: lambda: InfiniteLayerRegressor(seed=seed),
        OUR_ALGORITHM_1: lambda: shrinking_gradient(seed),
        OUR_POOL: lambda: pool(seed),
        "LinearRegression": linear,
        "KNNRegressor": lambda: scaled(neighbors.KNNRegressor()),
        "HoeffdingAdaptiveTree": lambda: scaled(tree.HoeffdingAdaptiveTreeRegressor(seed=seed)),
        "last value": lambda: dummy.StatisticRegressor(stats.Shift(0, fill_value=0.0)),
        "running mean": lambda: dummy.StatisticRegressor(stats.Mean()),
    }


def address(log: Path, stream: DemoStream) -> str:
    """Return the address of a stream's topic."""
    return f"sqlite:{log}#{stream.title}"


def store_streams(streams: Sequence[DemoStream], log: Path) -> None:
    """Write the streams' events into a new log, each stream into a topic of its own."""
    for suffix in ("", "-wal", "-shm"):
        log.with_name(log.name + suffix).unlink(missing_ok=True)
    for stream in streams:
        source = RiverDatasetSource(stream.dataset, stream.title, limit=stream.n_events)
        with closing(stream_at(address(log, stream), StreamOptions()).appender()) as appender:
            while records := source.poll(0.0):
                appender.append([NewRecord(json.dumps(each.payload).encode()) for each in records])


_AT_ONCE = 3000
"""Events that are there at the beginning, so that the page has curves to show."""

_RATE = 20.0
"""Events per second after them."""

CHALLENGERS = {
    "fast": {"learner": "infinite-layer", "learner_options": {"profile": "fast"}},
    "linear": {"learner": "iln_stream.cli.demo_challengers:linear"},
    "tree": {"learner": "iln_stream.cli.demo_challengers:hoeffding_tree"},
}
"""Learners on the same events."""


def show_live(out: Path, page_port: int, seed: int, console: Console) -> bool:
    """Learn the demand of a city until interrupted, and show it on a page.

    `out` is the folder for the log; port 0 picks a free one.

    Returns
    -------
    Whether it could be shown: the page needs the extra `api`.

    """
    log = out / "live.db"
    for suffix in ("", "-wal", "-shm"):
        log.with_name(log.name + suffix).unlink(missing_ok=True)
    address = f"sqlite:{log}#demand"
    settings = Settings(
        source=address,
        start="earliest",
        seed=seed,
        prediction_intervals=(0.9,),
        challengers=CHALLENGERS,
        mixture=True,
        dead_letters=str(out / "live-dead-letters.jsonl"),
        metrics_port=0,
        page_port=page_port,
    )
    with closing(stream_at(address, StreamOptions()).appender()) as appender:
        events = demand(seed)
        append(appender, itertools.islice(events, _AT_ONCE))
        try:
            service = Service(settings)
        except SettingsError as error:
            console.print(f"No page: {error}")
            return False
        service.serve_metrics()
        assert service.page_url is not None
        console.print(
            f"Watch it learn a city's demand for power, {_RATE:.0f} events a second: "
            f"[bold]{service.page_url}[/bold] (until Ctrl-C)"
        )
        if console.is_terminal and _has_display():
            webbrowser.open(service.page_url)
        with _appended(appender, events):
            service.run()
    return True


def append(appender: Appender, events: Iterator[dict[str, object]]) -> None:
    """Append events, durably."""
    appender.append([NewRecord(json.dumps(event).encode()) for event in events])


@contextmanager
def _appended(appender: Appender, events: Iterator[dict[str, object]]) -> Iterator[None]:
    """Append further events meanwhile."""
    stopped = threading.Event()

    def work() -> None:
        while not stopped.wait(1.0 / _RATE):
            append(appender, itertools.islice(events, 1))

    thread = threading.Thread(target=work, name="demand", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()


def _has_display() -> bool:
    """Whether a browser would open a window, and not take over the terminal."""
    return sys.platform == "darwin" or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))


_SEED = 1
_LABELS = {OURS: "demo", OUR_ALGORITHM_1: "algorithm-1", OUR_POOL: "pool"}


def run_demo(
    out: Path, keep: bool, metrics_port: int, console: Console, page_port: int = 0
) -> None:
    """Run each model on each stream, print a table, and draw a picture.

    With `keep`, it serves /metrics, and learns an endless stream on a page, until interrupted. Port
    0 picks a free one.
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

    warnings.simplefilter("ignore", IlnWarning)  # Algorithm 1 tells of its bound on draws
    warmings = [Warming.of(make(), console) for make in contenders(_SEED).values()]
    for warming in {each.name: each for each in warmings}.values():
        warming.run()
    runs: dict[str, dict[str, Trajectory]] = {}
    for stream in streams(_SEED):
        runs[stream.title] = {
            name: _learn(stream, log, name, make, metrics, console)
            for name, make in contenders(_SEED).items()
        }
    drifting = streams(_SEED)[-1]
    console.print(_table(runs))
    picture = out / "running_mae.png"
    try:
        from iln_stream.cli.demo_picture import draw

        draw(runs, picture)
    except ImportError:
        console.print("No picture, as matplotlib is missing (pip install 'iln-stream[demo]').")
    else:
        console.print(f"Picture of the mean absolute errors: {picture}")
    console.print(
        f"Learn one of the streams yourself: iln-stream run --source {address(log, drifting)} "
        "--stop-at-end --predictions -",
        soft_wrap=True,
    )
    if keep:
        console.print(f"Serving {url} until interrupted (Ctrl-C).")
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # end as on Ctrl-C
        with suppress(KeyboardInterrupt):  # before the learner handles signals
            if not show_live(out, page_port, _SEED, console):
                threading.Event().wait()
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
    trajectory = Trajectory()
    topic = stream_at(address(log, stream), StreamOptions(stop_at_end=True))
    with closing(topic.log(0, "earliest")) as source:
        label = f"{_LABELS.get(name, name)}-{stream.title}"
        exported = None if find_shrinking_gradient(model) is None else metrics
        assembly = Assembly(LoopSettings(), topic, source, model, label, exported)
        title = f"{stream.title}, {name}"
        with closing(Progress(assembly.watched, console, stream.n_events, title)) as progress:
            loop = assembly.loop([trajectory, progress, assembly.watched])
            assembly.watched.n_in_hand = loop.n_in_hand
            loop.run()
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
        padding=(0, 1, 0, 0),  # fits 80 columns
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
            cells += [f"{run.running_mae[-1]:.3f}", f"{run.events_per_second:,.0f}"]
        table.add_row(name, *cells, style="bold" if name in _LABELS else None)
    return table
