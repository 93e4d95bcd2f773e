"""Ending in order when SIGINT or SIGTERM asks for it."""

import logging
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

log = logging.getLogger(__name__)


@contextmanager
def signals_heeded(stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` at SIGINT or SIGTERM, in place of what they did before."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are the main thread's; whoever runs us elsewhere calls `loop.stop`
        return

    def on_signal(number: int, frame: FrameType | None) -> None:
        log.info("%s: finishing the event at hand", signal.Signals(number).name)
        stop()

    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, on_signal) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
