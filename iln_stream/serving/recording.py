"""Records the answers of /predict to a file or a log, on a thread of its own."""

import hashlib
import json
import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from queue import SimpleQueue
from time import time
from typing import Any

from iln_stream.errors import SinkError
from iln_stream.serving.metrics import ApiMetrics
from iln_stream.streams import Sink

log = logging.getLogger(__name__)

_MOST_BYTES = 64_000_000
"""Of lines that may wait; those beyond are lost, and counted."""

_CLOSE_SECONDS = 10.0

Answered = Sequence[tuple[Mapping[str, Any], str | None, Mapping[str, Any]]]
"""Inputs, id and prediction of each event of a request."""


class AnswerLog:
    """Writes a line for each prediction. One that can't be written is counted; nobody waits.

    `open_sink` is called again after the sink has failed.
    """

    def __init__(self, open_sink: Callable[[], Sink], metrics: ApiMetrics) -> None:
        self._open, self._metrics = open_sink, metrics
        self._queue: SimpleQueue[tuple[float, list[bytes]] | None] = SimpleQueue()
        self._n_bytes, self._turn = 0, threading.Lock()
        self._sink: Sink | None = open_sink()
        self._failed = False
        self._thread = threading.Thread(target=self._run, name="answers", daemon=True)
        self._thread.start()

    def record(self, model: str, version: int, answered: Answered) -> None:
        """Let the answers of a request be written; returns at once."""
        try:
            now = time()
            lines = [*_lines({"time": now, "model": model, "version": version}, answered)]
        except Exception as error:  # whatever values the inputs have
            self._lose(len(answered), repr(error))
            return
        with self._turn:
            fits = self._n_bytes + (n_bytes := sum(map(len, lines))) <= _MOST_BYTES
            self._n_bytes += n_bytes * fits
        if fits:
            self._queue.put((now, lines))
        else:
            self._lose(len(answered), "they come faster than they are written")

    def close(self) -> None:
        """Write what waits, and close the sink; what takes longer than 10 s is lost."""
        self._queue.put(None)
        self._thread.join(_CLOSE_SECONDS)
        if self._thread.is_alive():
            log.error("answers were not recorded in %g s: those that wait are lost", _CLOSE_SECONDS)

    def _run(self) -> None:
        while (request := self._queue.get()) is not None:
            waiting = [request, *(self._queue.get() for _ in range(self._queue.qsize()))]
            if waiting[-1] is None:
                self._queue.put(waiting.pop())
            self._write([(at, line) for at, lines in filter(None, waiting) for line in lines])
        self._close()

    def _write(self, lines: Sequence[tuple[float, bytes]]) -> None:
        try:
            self._sink = self._sink or self._open()
            for at, line in lines:
                self._sink.write(None, line, at)
            self._sink.flush()
        except Exception as error:  # the sink may be the user's
            self._close()
            self._lose(len(lines), str(error) if isinstance(error, SinkError) else repr(error))
        else:
            self._failed = False
            self._metrics.recorded(len(lines), "recorded")
        with self._turn:
            self._n_bytes -= sum(len(line) for _, line in lines)

    def _close(self) -> None:
        sink, self._sink = self._sink, None
        if sink is not None:
            with suppress(Exception):  # it may have failed before
                sink.close()

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
