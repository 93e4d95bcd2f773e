"""Starts processes, restarts those that fail, and stops all of them."""

import json
import logging
import os
import pickle
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from math import inf
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any, NamedTuple

from iln_stream.errors import IlnError, UnrecoverableError


class RestartPolicy(NamedTuple):
    """Restarts a process at most `limit` times within `within` seconds."""

    limit: int = 5  # number of restarts; the next failure is final
    within: float = 600.0  # seconds in which they are counted
    # first, longest: seconds before the first restart; each further one waits twice as long, up to
    # `longest`
    first: float = 1.0
    longest: float = 60.0

    def __str__(self) -> str:
        """Return the limit in words."""
        return f"{self.limit} restarts within {self.within / 60:g} minutes"


class Restarts:
    """The restarts of one process.

    Examples
    --------
    >>> from iln_stream.service.supervisor import RestartPolicy, Restarts
    >>> restarts = Restarts(RestartPolicy(limit=2, within=60.0, first=1.0))
    >>> [restarts.after_failure(now) for now in (0.0, 5.0, 9.0, 61.0)]
    [1.0, 2.0, None, 2.0]

    """

    def __init__(self, policy: RestartPolicy) -> None:
        self.n = 0  # number of restarts so far
        self._policy = policy
        self._failed_at: deque[float] = deque(maxlen=policy.limit)

    def after_failure(self, now: float) -> float | None:
        """Return after how many seconds to restart the process that failed; None: not at all.

        `now` is monotonic time in seconds.
        """
        policy = self._policy
        recent = [each for each in self._failed_at if now - each < policy.within]
        if len(recent) >= policy.limit:
            return None
        self._failed_at.append(now)
        self.n += 1
        return float(min(policy.first * 2.0 ** len(recent), policy.longest))


class Child:
    """A process that reports to this one: attributes are what its `Reporter` says.

    Parameters
    ----------
    command
        Starts it; the descriptor of the pipe to this process is appended.
    job
        What it has to do: the process unpickles it from its standard input, which then stays open
        as long as this process lives.
    ended
        Called on a thread once the process has ended and all that it said is known.
    """

    def __init__(self, command: Sequence[str], job: Any, ended: Callable[["Child"], None]) -> None:
        self.url: str | None = None  # where it serves its metrics
        self.counters_of_process: Sequence[str] = ()  # those that began at 0 with the process
        self.failure: str | None = None  # why it ended, in its own words
        self.final = False  # whether it would fail again in the same way
        self.finished = False  # whether its work is done
        # Once it has ended: the events that it predicted, and the labels that it learned.
        self.counts = [0, 0]
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
                    vars(self).update(json.loads(line))
        self._process.wait()
        self.url = None
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        self._ended(self)


log = logging.getLogger(__name__)

_SECONDS_TO_SIGNAL = 0.5
"""Longest time from a signal to its handler: the system may hand the signal to another thread,
which does not wake the one that waits."""

_STOPPED = (0, -signal.SIGTERM)
"""Exit codes after SIGTERM: of a process that saved its state, and of one that had none yet."""


class SupervisedWorker:
    """One of the processes, over all its restarts."""

    def __init__(self, number: int, name: str, job: Any, policy: RestartPolicy) -> None:
        self.number = number  # identifies it: the label `worker` of its metrics
        self.name = name  # names it in messages
        self.job = job
        # its present process; None: it has ended, or waits to be started again
        self.child: Child | None = None
        self.restarts = Restarts(policy)
        self.due: float | None = None  # when to start it, in monotonic seconds
        self.is_over = False  # whether it is not started again

    def url(self, path: str) -> str | None:
        """Return where its process answers requests for a path; None: nowhere at present."""
        child = self.child
        base = None if child is None else child.url
        return None if base is None else f"{base}{path}"


class Supervisor:
    """Runs several processes until all have finished, or one fails too often.

    A process that ends before its work is finished is started again, as `policy` allows; not if it
    says that it would fail in the same way. When one is given up, all others are stopped. Processes
    that outlive their supervisor end by themselves (see `Reporter`). `command` starts a process,
    which uses a `Reporter`; see `Child`. What each has to do, its job, can be anything that can be
    pickled.
    """

    def __init__(
        self,
        command: Sequence[str],
        jobs: Sequence[Any],
        names: Sequence[str],
        policy: RestartPolicy | None = None,
    ) -> None:
        self._command = command
        self._policy = policy or RestartPolicy()
        self.workers = [
            SupervisedWorker(number, name, job, self._policy)
            for number, (name, job) in enumerate(zip(names, jobs, strict=True))
        ]
        # Signal handlers put into it, too: a queue whose `put` may interrupt its `get`.
        self._ended: SimpleQueue[Child | None] = SimpleQueue()
        self.finished: list[Child] = []  # processes whose work is done
        self._stopping = False
        self._failure: IlnError | None = None

    def run(self) -> None:
        """Run until all processes have finished or were stopped.

        Raises
        ------
        UnrecoverableError
            When a process fails and says that it would do so again.
        IlnError
            When a process fails too often, or fails while it is being stopped.

        """
        now = monotonic()
        for worker in self.workers:
            worker.due = now
        try:
            while not all(worker.is_over for worker in self.workers):
                self._start_due()
                if (ended := self._next_end()) is not None:
                    (worker,) = (each for each in self.workers if each.child is ended)
                    worker.child = None
                    self._judge(worker, ended)
        except BaseException:  # such as a process that can't be started
            self.stop()
            raise
        if self._failure is not None:
            raise self._failure

    def stop(self) -> None:
        """Stop all processes; `run` returns when they have ended. May be called by signals."""
        self._stopping = True
        for worker in self.workers:
            if worker.child is not None:
                worker.child.stop()
        self._ended.put(None)

    def _start_due(self) -> None:
        for worker in self.workers:
            if worker.due is None or worker.is_over:
                continue
            if self._stopping:
                worker.is_over = True
            elif worker.due <= monotonic():
                worker.due = None
                worker.child = Child(self._command, worker.job, self._ended.put)
                log.info(f"{worker.name}: process {worker.child.pid}")
                if self._stopping:  # by a signal that came before `child` was set
                    worker.child.stop()

    def _next_end(self) -> Child | None:
        """Wait for a process to end; None: one is to be started, or all are to be stopped."""
        due = min((each.due for each in self.workers if each.due is not None), default=inf)
        try:
            seconds = min(due - monotonic(), _SECONDS_TO_SIGNAL)
            return self._ended.get(timeout=max(seconds, 0.0))
        except Empty:
            return None

    def _judge(self, worker: SupervisedWorker, ended: Child) -> None:
        """Restart a worker whose process has ended, or give up, unless it has finished."""
        reason = ended.failure or ended.end
        if self._stopping:
            worker.is_over = True
            if ended.failure is not None or ended.exit_code not in _STOPPED:
                self._fail(IlnError(f"{worker.name}: {reason}"))
        elif ended.finished:
            worker.is_over = True
            self.finished.append(ended)
        elif ended.final:
            worker.is_over = True
            self._fail(UnrecoverableError(f"{worker.name}: {reason}"))
        elif (delay := worker.restarts.after_failure(monotonic())) is None:
            worker.is_over = True
            self._fail(IlnError(f"{worker.name} failed after {self._policy}: {reason}"))
        else:
            worker.due = monotonic() + delay
            log.error(f"{worker.name}: {reason}; starting it again in {delay:g} s")

    def _fail(self, failure: IlnError) -> None:
        self._failure = self._failure or failure
        if not self._stopping:
            log.error(f"{failure}; stopping all")
            self.stop()


_LAST_SECONDS = 30.0
"""Time in which a process has to end once its supervisor is gone."""


class Reporter:
    """Tells the supervisor what this process does; ends this process when the supervisor is gone.

    The supervisor holds one end of a pipe that is this process's standard input. The system closes
    it however the supervisor ends, also when it is killed: then this process gets SIGTERM, and has
    half a minute to save its state. `Child` has opened the pipe to the supervisor.
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

    def finishes(self, n_events: int = 0, n_learned: int = 0) -> None:
        """Say that the work is done, so that this process is not started again, and its counts."""
        self._send({"finished": True, "counts": [n_events, n_learned]})

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
