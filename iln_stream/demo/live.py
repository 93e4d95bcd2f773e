"""A learner at work on an endless stream, on a page: the last part of the demo."""

import itertools
import json
import os
import sys
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from rich.console import Console

from iln_stream.demo.demand import demand
from iln_stream.service import Service, Settings, SettingsError
from iln_stream.streams import Appender, NewRecord, StreamOptions, stream_at

_AT_ONCE = 3000
"""Events that are there at the beginning, so that the page has curves to show."""

_RATE = 20.0
"""Events per second after them."""

CHALLENGERS = {
    "fast": {"learner": "infinite-layer", "learner_options": {"profile": "fast"}},
    "linear": {"learner": "iln_stream.demo.challengers:linear"},
    "tree": {"learner": "iln_stream.demo.challengers:hoeffding_tree"},
}
"""Learners on the same events."""


def show_live(out: Path, page_port: int, seed: int, console: Console) -> bool:
    """Learn the demand of a city until interrupted, and show it on a page.

    Parameters
    ----------
    out
        Folder for the log.
    page_port
        Port of the page; 0 picks a free one.
    seed
        Random seed of the stream and the learner.
    console
        Receives the address.

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
