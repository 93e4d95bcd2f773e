"""Records the answers of /predict to a file or a log, on a thread of its own."""

import hashlib
import json
import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from queue import Full, Queue
from time import time
from typing import Any

from iln_stream.errors import SinkError
from iln_stream.serving.metrics import ApiMetrics
from iln_stream.streams import Sink

log = logging.getLogger(__name__)

_MOST_WAITING = 10_000
"""Requests whose answers may wait; those beyond are lost, and counted."""

Answered = Sequence[tuple[Mapping[str, Any], str | None, Mapping[str, Any]]]
"""Inputs, id and prediction of each event of a request."""


class AnswerLog:
    """Writes a line for each prediction. One that can't be written is counted; nobody waits.

    Parameters
    ----------
    open_sink
        Opens the file or the log, again after it has failed.
    metrics
        Counts what was recorded and what was lost.

    """

    def __init__(self, open_sink: Callable[[], Sink], metrics: ApiMetrics) -> None:
        self._open, self._metrics = open_sink, metrics
        self._queue: Queue[tuple[dict[str, Any], Answered] | None] = Queue(_MOST_WAITING)
        self._sink: Sink | None = open_sink()
        self._failed = False
        self._thread = threading.Thread(target=self._run, name="answers", daemon=True)
        self._thread.start()

    def record(self, model: str, version: int, answered: Answered) -> None:
        """Let the answers of a request be written; returns at once."""
        try:
            self._queue.put_nowait(({"time": time(), "model": model, "version": version}, answered))
        except Full:
            self._lose(len(answered), "they come faster than they are written")

    def close(self) -> None:
        """Write what waits, and close the sink."""
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (request := self._queue.get()) is not None:
            waiting = [request, *(self._queue.get() for _ in range(self._queue.qsize()))]
            if waiting[-1] is None:
                self._queue.put(waiting.pop())
            self._write([each for each in waiting if each is not None])
        if self._sink is not None:
            self._sink.close()

    def _write(self, requests: Sequence[tuple[dict[str, Any], Answered]]) -> None:
        n = sum(len(answered) for _, answered in requests)
        try:
            self._sink = self._sink or self._open()
            for of_all, answered in requests:
                for value in _lines(of_all, answered):
                    self._sink.write(None, value, of_all["time"])
            self._sink.flush()
        except SinkError as error:
            self._sink = None
            self._lose(n, str(error))
        else:
            self._failed = False
            self._metrics.recorded(n, "recorded")

    def _lose(self, n: int, why: str) -> None:
        self._metrics.recorded(n, "lost")
        if not self._failed:
            log.error("answers can't be recorded: %s; iln_api_answers_total counts the lost", why)
        self._failed = True


def digest_of(inputs: Mapping[str, Any]) -> str:
    """Return a digest of inputs or of a record, whatever the order of their names."""
    text = json.dumps(inputs, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:32]


def _lines(of_all: dict[str, Any], answered: Answered) -> Iterator[bytes]:
    for x, event_id, prediction in answered:
        line = {**of_all, "id": event_id, "inputs": digest_of(x), **prediction}
        yield json.dumps(line).encode()
