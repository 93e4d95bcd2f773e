"""A running HTTP API: on a thread of the test, on a free port."""

import math
import socket
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Self

import httpx
from prometheus_client.parser import text_string_to_metric_families

from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor
from iln_stream.serving.server import ApiServer
from iln_stream.serving.settings import ApiSettings
from iln_stream.snapshots.publisher import Publisher
from iln_stream.streams import Record, StreamOptions, stream_at
from support.list_source import drained

_DEADLINE_SECONDS = 120.0  # machines are busy


class RunningApi:
    """A server of the models in `folder/models` and of the log `folder/log.db`."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.address = f"sqlite:{folder / 'log.db'}"
        given = {"models": folder / "models", "events": self.address, "port": 0, **settings}
        self.server = ApiServer(ApiSettings(**given))
        self.url = self.server.url
        self.port = int(self.url.rpartition(":")[2])
        self.http = httpx.Client(base_url=self.url, trust_env=False, timeout=_DEADLINE_SECONDS)
        self._thread = threading.Thread(target=self.server.run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Stop the server, and wait until it has."""
        self.http.close()
        self.server.stop()
        self._thread.join(_DEADLINE_SECONDS)
        assert not self._thread.is_alive()

    def ready(self) -> Self:
        """Wait until it is ready."""
        eventually(lambda: self.http.get("/ready").status_code == 200)
        return self

    def post(self, path: str, body: Any, **headers: str) -> httpx.Response:
        """Send JSON."""
        return self.http.post(path, json=body, headers=headers)

    def post_text(self, path: str, text: str | bytes, **headers: str) -> httpx.Response:
        """Send text as JSON."""
        return self.http.post(
            path, content=text, headers={"Content-Type": "application/json", **headers}
        )

    def connect(self) -> socket.socket:
        """Open a connection, to send what a client would not."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=_DEADLINE_SECONDS)

    def metrics(self, **headers: str) -> dict[tuple[str, ...], float]:
        """Return the samples: by name, then the values of the labels in their order."""
        text = self.http.get("/metrics", headers=headers).raise_for_status().text
        return {
            (sample.name, *sample.labels.values()): sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
        }

    def appended(self) -> list[Record]:
        """Return the records of the log."""
        return records(self.address)


def records(address: str) -> list[Record]:
    """Return the records of a log with one partition."""
    log = stream_at(address, StreamOptions(stop_at_end=True)).log(0, "earliest")
    with closing(log):
        return drained(log, 0.1)


def publish(
    folder: Path,
    learner: Any = None,
    name: str = "log-events-0",
    label: Callable[[int], Any] = math.cos,
    n: int = 200,
    **options: Any,
) -> Any:
    """Let a learner learn `n` events, publish it, and return it."""
    learner = InfiniteLayerRegressor(profile="fast", seed=1) if learner is None else learner
    options = {"stream": "log-events", "seconds": 1e9, **options}
    with Publisher(folder / "models" / f"{name}.model", learner, **options) as publisher:
        for t in range(n):
            learner.learn_one(example(t), label(t))
            publisher.learned()
    return learner


def example(t: int) -> dict[str, float]:
    """Return the inputs of an event."""
    return {"a": math.sin(t), "b": float(t % 5), "c": math.cos(3 * t)}


def eventually(holds: Callable[[], Any]) -> None:
    """Wait until a condition holds."""
    deadline = monotonic() + _DEADLINE_SECONDS
    while not holds():
        assert monotonic() < deadline, f"still not so after {_DEADLINE_SECONDS:.0f} s"
        sleep(0.02)
