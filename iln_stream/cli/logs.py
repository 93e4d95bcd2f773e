"""What the log looks like: for a person at a terminal, or for a collector of lines."""

import datetime as dt
import json
import logging
import re
import time
import warnings
from typing import Literal

from rich.console import Console
from rich.logging import RichHandler

log = logging.getLogger(__name__)

Level = Literal["debug", "info", "warning", "error"]
Form = Literal["text", "json"]

_NAME = "iln-stream"


def set_up_logging(console: Console, level: Level = "info", form: Form = "text") -> None:
    """Send log and warnings to the console, in place of what an earlier call had set up.

    Parameters
    ----------
    console
        Where lines go.
    level
        The least that is shown. Above `debug` each message is shown at most once in a while, and of
        what the Kafka client says only why a broker doesn't let us in.
    form
        `text`, or `json`: one object a line, at a terminal, too.

    """
    handler: logging.Handler
    if form == "json":
        handler = logging.StreamHandler(console.file)
        handler.setFormatter(JsonFormatter())
    elif console.is_terminal:
        handler = RichHandler(console=console, show_path=False)
        handler.setFormatter(logging.Formatter("%(message)s", "%X"))
    else:
        handler = logging.StreamHandler(console.file)
        handler.setFormatter(
            logging.Formatter("%(asctime)s %(levelname)s %(message)s", "%Y-%m-%dT%H:%M:%S%z")
        )
    handler.set_name(_NAME)
    if level != "debug":
        handler.addFilter(only_why_we_are_refused)
        handler.addFilter(OncePerInterval())
    root = logging.getLogger()
    for earlier in [each for each in root.handlers if each.get_name() == _NAME]:
        root.removeHandler(earlier)
    threshold = logging.getLevelNamesMapping()[level.upper()]
    # Compilers and plotters have more to say at `debug` than anybody wants to read.
    logging.basicConfig(level=max(threshold, logging.INFO), handlers=[handler])
    logging.getLogger("iln_stream").setLevel(threshold)
    logging.getLogger("kafka").setLevel(threshold if level == "debug" else logging.ERROR)
    # A warning here is about the run; the line of code that gave it tells a user nothing.
    warnings.formatwarning = lambda message, *_: str(message)
    logging.captureWarnings(True)


def logs_json() -> bool:
    """Tell whether the log is JSON, so that nothing else should be written beside it."""
    return any(isinstance(each.formatter, JsonFormatter) for each in logging.getLogger().handlers)


def say(console: Console, text: str) -> None:
    """Tell how a command went: a person in a line, a collector of JSON in an object."""
    if logs_json():
        log.info(text)
    else:
        console.print(text, markup=False, highlight=False, soft_wrap=True)


class JsonFormatter(logging.Formatter):
    """Makes of a record an object in one line: time, level, logger, message, and exception if any.

    The time is RFC 3339, in UTC.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        moment = dt.datetime.fromtimestamp(record.created, dt.UTC)
        told = {
            "time": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            told["exception"] = self.formatException(record.exc_info)
        return json.dumps(told)


_REFUSED = re.compile("certificate|Sasl[A-Z]|uthoriz")


def only_why_we_are_refused(record: logging.LogRecord) -> bool:
    """Drop what the Kafka client says of connections, but for what a person can mend.

    That a broker is away we tell ourselves, in a sentence; the client does with tracebacks.
    """
    return record.name.split(".")[0] != "kafka" or bool(_REFUSED.search(record.getMessage()))


class OncePerInterval(logging.Filter):
    """Lets a message pass once in `seconds`; its repeats, whatever their details, are dropped.

    A client that can't reach its broker would fill the screen.
    """

    def __init__(self, seconds: float = 30.0) -> None:
        super().__init__()
        self._seconds = seconds
        self._last_shown: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Tell whether the record is worth showing."""
        now = time.monotonic()
        # Captured warnings all come as "%s".
        kind = record.getMessage() if record.name == "py.warnings" else str(record.msg)
        shown = self._last_shown.get(kind)
        if shown is not None and now - shown < self._seconds:
            return False
        self._last_shown[kind] = now
        return True
