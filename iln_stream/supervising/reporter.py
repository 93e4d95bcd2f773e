"""The supervisor, seen by a process that it started."""

import json
import logging
import os
import signal
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

log = logging.getLogger(__name__)

_LAST_SECONDS = 30.0
"""Time in which a process has to end once its supervisor is gone."""


class Reporter:
    """Tells the supervisor what this process does; ends this process when the supervisor is gone.

    The supervisor holds one end of a pipe that is this process's standard input. The system closes
    it however the supervisor ends, also when it is killed: then this process gets SIGTERM, and has
    half a minute to save its state.

    Parameters
    ----------
    descriptor
        A pipe to the supervisor, which `Child` has opened.

    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        os.set_inheritable(descriptor, False)
        threading.Thread(target=self._end_with_supervisor, name="lifeline", daemon=True).start()

    def serves(self, url: str) -> None:
        """Say where this process serves its metrics."""
        self._send({"url": url})

    def runs(self, counters_of_process: Sequence[str]) -> None:
        """Say that the work begins, and which counters began at 0 with this process."""
        self._send({"counters_of_process": list(counters_of_process)})

    def fails(self, message: str, final: bool) -> None:
        """Say why this process ends; `final`: it would fail again in the same way."""
        self._send({"failure": message, "final": final})

    def finishes(self) -> None:
        """Say that the work is done, so that this process is not started again."""
        self._send({"finished": True})

    def _send(self, message: dict[str, Any]) -> None:
        with suppress(BrokenPipeError):  # the supervisor is gone, and this process ends
            os.write(self._descriptor, json.dumps(message).encode() + b"\n")

    @staticmethod
    def _end_with_supervisor() -> None:
        while os.read(0, 1024):
            pass
        os.kill(os.getpid(), signal.SIGTERM)
        log.error("the supervisor is gone: saving and ending")
        threading.Event().wait(_LAST_SECONDS)
        os._exit(1)
