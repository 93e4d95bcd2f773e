"""Keeps a client that can't reach its broker from filling the screen."""

import logging
import time


class OncePerInterval(logging.Filter):
    """Lets a message pass once in `seconds`; its repeats in between are dropped."""

    def __init__(self, seconds: float = 30.0) -> None:
        super().__init__()
        self._seconds = seconds
        self._last_shown: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Tell whether the record is worth showing."""
        now = time.monotonic()
        shown = self._last_shown.get(str(record.msg))
        if shown is not None and now - shown < self._seconds:
            return False
        self._last_shown[str(record.msg)] = now
        return True
