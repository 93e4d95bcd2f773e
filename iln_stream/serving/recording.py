"""Records the answers of /predict to a file or a log, on a thread of its own."""

import hashlib
import json
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from queue import Empty, Full, Queue
from time import time
from typing import Any, NamedTuple

from iln_stream.errors import SinkError
from iln_stream.serving.metrics import ApiMetrics
from iln_stream.streams import Sink

log = logging.getLogger(__name__)

_MOST_WAITING = 10_000
"""Answers of requests that may wait; beyond, they are lost and counted."""

_TOGETHER = 1000
"""Answers of requests that are made durable together, at most."""

_DIGITS = 32


class Answered(NamedTuple):
    """The answers of a request."""

    time: float
    model: str
    version: int
    inputs: Sequence[Mapping[str, Any]]
    ids: Sequence[str | None]
    predictions: Sequence[Mapping[str, Any]]


class AnswerLog:
    """Writes a line for each prediction; one that can't be written is counted, never waited for.

    Parameters
    ----------
    open_sink
        Opens the file or the log, again after it has failed.
    metrics
        Counts what was recorded and what was lost.

    """

    def __init__(self, open_sink: Callable[[], Sink], metrics: ApiMetrics) -> None:
        self._open, self._metrics = open_sink, metrics
        self._queue: Queue[Answered | None] = Queue(_MOST_WAITING)
        self._sink: Sink | None = open_sink()
        self._failed = False
        self._thread = threading.Thread(target=self._run, name="answers", daemon=True)
        self._thread.start()

    def record(
        self,
        model: str,
        version: int,
        inputs: Sequence[Mapping[str, Any]],
        ids: Sequence[str | None],
        predictions: Sequence[Mapping[str, Any]],
    ) -> None:
        """Let the answers of a request be written; returns at once."""
        try:
            self._queue.put_nowait(Answered(time(), model, version, inputs, ids, predictions))
        except Full:
            self._lose(len(predictions), "they come faster than they are written")

    def close(self) -> None:
        """Write what waits, and close the sink."""
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        more = True
        while more:
            waiting = [self._queue.get()]
            try:
                while len(waiting) < _TOGETHER:
                    waiting.append(self._queue.get_nowait())
            except Empty:
                pass
            more = waiting[-1] is not None
            self._write([each for each in waiting if each is not None])
        if self._sink is not None:
            self._sink.close()

    def _write(self, requests: Sequence[Answered]) -> None:
        n = sum(len(each.predictions) for each in requests)
        try:
            self._sink = self._sink or self._open()
            for each in requests:
                for value in _lines(each):
                    self._sink.write(None, value, each.time)
            self._sink.flush()
        except SinkError as error:
            self._sink = None
            self._lose(n, str(error))
        else:
            if self._failed:
                log.info("answers are recorded again")
            self._failed = False
            self._metrics.recorded(n, "recorded")

    def _lose(self, n: int, why: str) -> None:
        self._metrics.recorded(n, "lost")
        if not self._failed:
            log.error("answers can't be recorded: %s; predictions go on, and answers that are lost "
                      "are counted in iln_api_answers_total", why)  # fmt: skip
        self._failed = True


def digest_of(inputs: Mapping[str, Any]) -> str:
    """Return a digest of inputs or of a record, whatever the order of their names."""
    text = json.dumps(inputs, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:_DIGITS]


def _lines(answered: Answered) -> list[bytes]:
    of_all = {"time": answered.time, "model": answered.model, "version": answered.version}
    return [
        json.dumps({**of_all, "id": name, "inputs": digest_of(x), **prediction}).encode()
        for x, name, prediction in zip(
            answered.inputs, answered.ids, answered.predictions, strict=True
        )
    ]
