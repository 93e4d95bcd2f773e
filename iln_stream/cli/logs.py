"""Sets up the log: for a terminal, as plain lines, or as JSON."""

import datetime as dt
import json
import logging
import re
import time
import warnings
from collections import Counter
from typing import Literal

from rich.console import Console
from rich.logging import RichHandler

log = logging.getLogger(__name__)

Level = Literal["debug", "info", "warning", "error"]
Form = Literal["text", "json"]

_NAME = "iln-stream"

_HTTP_CLIENTS = ("httpx", "httpx2")
"""Loggers of the schema registry's client; which of them depends on its release."""


def set_up_logging(
    console: Console, level: Level = "info", form: Form = "text", worker: int | None = None
) -> None:
    """Send the log and warnings to the console; replaces the setup of an earlier call.

    Parameters
    ----------
    console
        Receives the lines.
    level
        Minimum level. Above `debug`, repeated messages are dropped, requests to a schema registry
        are not shown, and of the Kafka client's log only authentication and authorization errors.
    form
        `text`, or `json`: one object per line, also at a terminal.
    worker
        Number of this process among several that write to the console: in each line; None: it is
        the only one.

    """
    handler: logging.Handler = logging.StreamHandler(console.file)
    message = f"{worker_prefix(worker)}%(message)s"
    layout = logging.Formatter(f"%(asctime)s %(levelname)s {message}", "%Y-%m-%dT%H:%M:%S%z")
    if form == "json":
        layout = JsonFormatter(worker)
    elif console.is_terminal:
        handler = RichHandler(console=console, show_path=False)
        layout = logging.Formatter(message, "%X")
    handler.setFormatter(layout)
    handler.set_name(_NAME)
    if level != "debug":
        handler.addFilter(keep_kafka_refusals)
        handler.addFilter(OncePerInterval())
    root = logging.getLogger()
    for earlier in [each for each in root.handlers if each.get_name() == _NAME]:
        root.removeHandler(earlier)
    threshold = logging.getLevelNamesMapping()[level.upper()]
    # Only our own loggers log at `debug`: those of compilers and plotters are too verbose.
    logging.basicConfig(level=max(threshold, logging.INFO), handlers=[handler])
    logging.getLogger("iln_stream").setLevel(threshold)
    logging.getLogger("kafka").setLevel(threshold if level == "debug" else logging.ERROR)
    for name in _HTTP_CLIENTS:  # each request is a line
        logging.getLogger(name).setLevel(logging.INFO if level == "debug" else logging.WARNING)
    # Warnings are about the run, so omit the line of code that issued them.
    warnings.formatwarning = lambda message, *_: str(message)
    logging.captureWarnings(True)


def worker_prefix(worker: int | None) -> str:
    """Return what a worker's lines begin with.

    Examples
    --------
    >>> from iln_stream.cli.logs import worker_prefix
    >>> worker_prefix(1), worker_prefix(None)
    ('[worker 1] ', '')

    """
    return "" if worker is None else f"[worker {worker}] "


def logs_json() -> bool:
    """Whether the log is JSON, so that nothing else should be printed beside it."""
    return any(isinstance(each.formatter, JsonFormatter) for each in logging.getLogger().handlers)


def report(console: Console, text: str) -> None:
    """Report a command's result: in the log if it is JSON, else as a line on the console."""
    if logs_json():
        log.info(text)
    else:
        console.print(text, markup=False, highlight=False, soft_wrap=True)


class JsonFormatter(logging.Formatter):
    """Formats a record as one JSON object: time, level, logger, message, and any exception.

    The time is RFC 3339, in UTC. `worker`, the number of the process, is one more field; None: no
    such field.
    """

    def __init__(self, worker: int | None = None) -> None:
        super().__init__()
        self._of_process = {} if worker is None else {"worker": worker}

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        moment = dt.datetime.fromtimestamp(record.created, dt.UTC)
        fields = {
            "time": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            **self._of_process,
            "message": record.getMessage(),
        }
        if record.exc_info:
            fields["exception"] = self.formatException(record.exc_info)
        return json.dumps(fields)


_REFUSED = re.compile("certificate|Sasl[A-Z]|uthoriz")
_PARTITION = re.compile(r"\bpartition \d[\d,-]*")


def keep_kafka_refusals(record: logging.LogRecord) -> bool:
    """Drop the Kafka client's log, except for authentication and authorization errors.

    `ConnectionLog` reports unreachable brokers in one line; the client does with tracebacks.
    """
    return record.name.split(".")[0] != "kafka" or bool(_REFUSED.search(record.getMessage()))


class OncePerInterval(logging.Filter):
    """Passes each message once per interval, and drops its repeats.

    Messages are repeats if they have the same template, or the same `kind` where the record has
    one, and name the same partition; other arguments may differ. The next message of the kind says
    how many were dropped. So a flood of dead letters logs one line per reason, partition and
    interval.

    Examples
    --------
    >>> from logging import WARNING, LogRecord
    >>> from iln_stream.cli.logs import OncePerInterval
    >>> once = OncePerInterval()
    >>> def passes(partition, offset):
    ...     arguments = (partition, offset)
    ...     text = "partition %d: offset %d is malformed"
    ...     return once.filter(LogRecord("n", WARNING, "f", 1, text, arguments, None))
    >>> passes(0, 7), passes(0, 8), passes(1, 7)
    (True, False, True)

    """

    def __init__(self, seconds: float = 30.0) -> None:
        super().__init__()
        self._seconds = seconds
        self._last_shown: dict[tuple[str, str], float] = {}
        self._n_dropped: Counter[tuple[str, str]] = Counter()

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether to show the record."""
        now = time.monotonic()
        message = record.getMessage()
        # The template of all captured warnings is "%s".
        template = message if record.name == "py.warnings" else str(record.msg)
        template = getattr(record, "kind", template)
        partition = _PARTITION.search(message)
        kind = template, partition[0] if partition else ""
        shown = self._last_shown.get(kind)
        if shown is not None and now - shown < self._seconds:
            self._n_dropped[kind] += 1
            return False
        self._last_shown[kind] = now
        if n_dropped := self._n_dropped.pop(kind, 0):
            record.msg = f"{record.msg} ({n_dropped:,} such messages before it were not logged)"
        return True
