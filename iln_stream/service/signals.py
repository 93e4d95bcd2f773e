"""Stops on SIGINT and SIGTERM."""

import logging
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

log = logging.getLogger(__name__)


@contextmanager
def stop_on_signals(stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` on SIGINT or SIGTERM, and restore the previous handlers at the end."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread receives signals; other threads are stopped by `loop.stop`
        return

    def on_signal(number: int, frame: FrameType | None) -> None:
        log.info("%s: finishing the current event", signal.Signals(number).name)
        stop()

    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, on_signal) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
