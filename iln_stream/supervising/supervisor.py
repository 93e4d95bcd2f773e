"""Starts processes, restarts those that fail, and stops all of them."""

import logging
import signal
from collections.abc import Sequence
from math import inf
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any

from iln_stream.errors import IlnError, UnrecoverableError
from iln_stream.supervising.child import Child
from iln_stream.supervising.restarts import RestartPolicy, Restarts

log = logging.getLogger(__name__)

_SECONDS_TO_SIGNAL = 0.5
"""Longest time from a signal to its handler: the system may hand the signal to another thread,
which does not wake the one that waits."""

_STOPPED = (0, -signal.SIGTERM)
"""Exit codes after SIGTERM: of a process that saved its state, and of one that had none yet."""


class Worker:
    """One of the processes, over all its restarts.

    Attributes
    ----------
    number : int
        Identifies it: the label `worker` of its metrics.
    name : str
        Names it in messages.
    child : Child or None
        Its present process; None: it has ended, or waits to be started again.
    is_over : bool
        Whether it is not started again.

    """

    def __init__(self, number: int, name: str, job: Any, policy: RestartPolicy) -> None:
        self.number = number
        self.name = name
        self.job = job
        self.child: Child | None = None
        self.restarts = Restarts(policy)
        self.due: float | None = None  # when to start it, in monotonic seconds
        self.is_over = False

    def url(self, path: str) -> str | None:
        """Return where its process answers requests for a path; None: nowhere at present."""
        child = self.child
        base = None if child is None else child.url
        return None if base is None else f"{base}{path}"


class Supervisor:
    """Runs several processes until all have finished, or one fails too often.

    A process that ends before its work is finished is started again, as `policy` allows; not if it
    says that it would fail in the same way. When one is given up, all others are stopped. Processes
    that outlive their supervisor end by themselves (see `Reporter`).

    Parameters
    ----------
    command
        Starts a process, which uses a `Reporter`; see `Child`.
    jobs
        What each process has to do; anything that can be pickled.
    names
        Names of the processes for messages.
    policy
        How often a process is restarted.

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
            Worker(number, name, job, self._policy)
            for number, (name, job) in enumerate(zip(names, jobs, strict=True))
        ]
        # Signal handlers put into it, too: a queue whose `put` may interrupt its `get`.
        self._ended: SimpleQueue[Child | None] = SimpleQueue()
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

    def _judge(self, worker: Worker, ended: Child) -> None:
        """Restart a worker whose process has ended, or give up, unless it has finished."""
        reason = ended.failure or ended.end
        if self._stopping:
            worker.is_over = True
            if ended.failure is not None or ended.exit_code not in _STOPPED:
                self._fail(IlnError(f"{worker.name}: {reason}"))
        elif ended.finished:
            worker.is_over = True
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
