"""A process, seen by its supervisor."""

import json
import os
import pickle
import signal
import subprocess
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any


class Child:
    """A process that reports to this one, in the words of a `Reporter`.

    Parameters
    ----------
    command
        Starts it; the descriptor of the pipe to this process is appended.
    job
        What it has to do: the process unpickles it from its standard input, which then stays open
        as long as this process lives.
    ended
        Called on a thread once the process has ended and all that it said is known.

    Attributes
    ----------
    url : str or None
        Where it serves its metrics.
    counters_of_process : frozenset of str
        Counters that began at 0 with the process.
    failure : str or None
        Why it ended, in its own words.
    final : bool
        Whether it would fail again in the same way.
    finished : bool
        Whether its work is done.

    """

    def __init__(self, command: Sequence[str], job: Any, ended: Callable[["Child"], None]) -> None:
        self.url: str | None = None
        self.counters_of_process: frozenset[str] = frozenset()
        self.failure: str | None = None
        self.final = False
        self.finished = False
        reading, writing = os.pipe()
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own module
                [*command, str(writing)],
                stdin=subprocess.PIPE,
                pass_fds=[writing],
                start_new_session=True,  # Ctrl-C is for this process, which passes it on
            )
        except OSError:
            os.close(reading)
            raise
        finally:
            os.close(writing)
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # it has ended, and the thread below says so
            self._process.stdin.write(pickle.dumps(job))
            self._process.stdin.flush()
        self._ended = ended
        threading.Thread(target=self._listen, args=(reading,), daemon=True).start()

    @property
    def pid(self) -> int:
        """Id of the process."""
        return self._process.pid

    @property
    def runs(self) -> bool:
        """Whether the process runs."""
        return self._process.poll() is None

    @property
    def exit_code(self) -> int | None:
        """Exit code, or the negative number of the signal that ended it; None: it runs."""
        return self._process.returncode

    @property
    def end(self) -> str:
        """How the process ended, in words."""
        code = self.exit_code
        if code is not None and code < 0:
            names = {each.value: each.name for each in signal.Signals}
            return f"ended by {names.get(-code, f'signal {-code}')}"
        return f"ended with exit code {code}"

    def stop(self) -> None:
        """Let it save its state and end."""
        if self.runs:
            self._process.terminate()

    def _listen(self, reading: int) -> None:
        with os.fdopen(reading, "rb") as messages:
            for line in messages:
                with suppress(json.JSONDecodeError):  # a process that was killed
                    self._take(json.loads(line))
        self._process.wait()
        self.url = None
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        self._ended(self)

    def _take(self, message: dict[str, Any]) -> None:
        self.url = message.get("url", self.url)
        self.failure = message.get("failure", self.failure)
        self.final = message.get("final", self.final)
        self.finished = message.get("finished", self.finished)
        if "counters_of_process" in message:
            self.counters_of_process = frozenset(message["counters_of_process"])
