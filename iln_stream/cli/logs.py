"""What the log looks like: for a person at a terminal, or for a collector of lines."""

import logging
import time
import warnings

from rich.console import Console
from rich.logging import RichHandler


def set_up_logging(console: Console) -> None:
    """Send log and warnings to the console, each message at most once in a while."""
    if console.is_terminal:
        handler: logging.Handler = RichHandler(console=console, show_path=False)
        line, date = "%(message)s", "%X"
    else:
        handler = logging.StreamHandler(console.file)
        line, date = "%(asctime)s %(levelname)s %(message)s", "%Y-%m-%dT%H:%M:%S%z"
    logging.basicConfig(level=logging.INFO, format=line, datefmt=date, handlers=[handler])
    handler.addFilter(OncePerInterval())
    logging.getLogger("kafka").setLevel(logging.ERROR)
    # A warning here is about the run; the line of code that gave it tells a user nothing.
    warnings.formatwarning = lambda message, *_: str(message)
    logging.captureWarnings(True)


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
