"""A uvicorn server that ends in order when a signal arrives."""

import contextlib
import logging
import signal
import threading
from collections.abc import Iterator
from types import FrameType

import uvicorn

log = logging.getLogger(__name__)


class GracefulServer(uvicorn.Server):
    """Answers the requests in progress on SIGINT or SIGTERM, and then ends without an error."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop on SIGINT and SIGTERM; uvicorn would raise the signal again at the end."""
        if threading.current_thread() is not threading.main_thread():
            yield  # only the main thread receives signals
            return

        def on_signal(number: int, frame: FrameType | None) -> None:
            log.info("%s: answering the requests in progress", signal.Signals(number).name)
            self.should_exit = True

        before = {n: signal.signal(n, on_signal) for n in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
