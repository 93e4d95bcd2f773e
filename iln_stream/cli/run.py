"""`iln-stream run`: runs the service, and reports the result."""

import logging
import signal
import sys
import time
from contextlib import suppress
from types import FrameType
from typing import NoReturn

from rich.console import Console

from iln_stream.cli.logs import logs_json, report, worker_prefix
from iln_stream.errors import IlnError, UnrecoverableError
from iln_stream.prequential import LateLabels, NothingLearnedError
from iln_stream.service import Service, Settings, WorkerProcesses
from iln_stream.service.worker import Worker

log = logging.getLogger(__name__)


def run_service(settings: Settings, console: Console) -> None:
    """Run until the source ends or a signal stops it, then report the result.

    With `when_refused = wait`, a run that fails with an error that a restart can't fix waits to be
    stopped.
    """
    try:
        if settings.workers > 1:
            WorkerProcesses(settings, None if logs_json() else console).run()
            return
        service = Service(settings, None if logs_json() else console)
        service.run()
    except UnrecoverableError as error:
        if isinstance(error, NothingLearnedError):
            propose_settings(settings, console)
        if settings.when_refused == "wait":
            wait_to_be_stopped(error)
        raise
    report_results(service, console)


def report_results(service: Service, console: Console, number: int | None = None) -> None:
    """Report what each learner has learned; `number` is that of this worker process, if any."""
    for worker in service.workers:
        scores, watched = worker.watched.scores, worker.watched
        several = len(service.workers) > 1 or number is not None
        name = f"partition {watched.labels[1]}: " if several else ""
        if worker.reader.horizon is not None:
            name = f"{worker.reader.horizon} ahead, {name}" if name else ""
        if not logs_json():  # a line of the log names the worker
            name = worker_prefix(number) + name
        repeats = f", {watched.n_repeats} repeats" if watched.n_repeats else ""
        report(
            console,
            f"{name}{scores.n_events} events, {watched.n_dead_letters} dead letters{repeats}"
            f"{_waiting(worker)}; "
            f"{scores.summary()} ({watched.baselines.summary()})",
        )


def _waiting(worker: Worker) -> str:
    """Return what waits at the end: all events, if their ids are not those of the labels."""
    late = worker.loop.late
    if not isinstance(late, LateLabels) or not any(late.waiting):
        return ""
    return ", waiting: {:,} events and {:,} labels".format(*late.waiting)


def propose_settings(settings: Settings, console: Console) -> None:
    """Print what the source has, and the settings that would learn it, if it can be read again."""
    from iln_stream.cli.inspect_source import inspect_source

    with suppress(IlnError):
        if settings.source != "-":
            inspect_source(settings, 1000, console, console)


def wait_to_be_stopped(error: IlnError) -> NoReturn:
    """Log the error, wait, and exit with 2 on SIGTERM or SIGINT.

    Exiting now would make a supervisor restart the run, only to fail again.
    """

    def leave(number: int, frame: FrameType | None) -> NoReturn:
        sys.exit(2)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, leave)
    log.error("%s. Waiting for SIGTERM or SIGINT (when_refused = wait)", error)
    while True:
        time.sleep(3600)
