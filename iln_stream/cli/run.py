"""`iln-stream run`: the service, with a progress bar and a last word."""

import logging
import signal
import sys
import time
from types import FrameType
from typing import NoReturn

from rich.console import Console

from iln_stream.cli.logs import logs_json, say
from iln_stream.errors import IlnError, UnrecoverableError
from iln_stream.service import Service, Settings

log = logging.getLogger(__name__)


def run_service(settings: Settings, console: Console) -> None:
    """Run until the source ends or the user interrupts, then say how it went.

    A run that is refused for what only a person can mend may be told to wait for that.
    """
    try:
        service = Service(settings, None if logs_json() else console)
        service.run()
    except UnrecoverableError as error:
        if settings.when_refused == "wait":
            wait_to_be_stopped(error)
        raise
    for worker in service.workers:
        scores, watched = worker.watched.scores, worker.watched
        name = f"partition {watched.labels[1]}: " if len(service.workers) > 1 else ""
        repeats = f", {watched.n_repeats} repeats" if watched.n_repeats else ""
        say(
            console,
            f"{name}{scores.n_events} events, {watched.n_dead_letters} dead letters{repeats}; "
            f"{scores.summary()}",
        )


def wait_to_be_stopped(error: IlnError) -> NoReturn:
    """Log what keeps us from running, and end with 2 on SIGTERM or SIGINT.

    Whoever would restart us would only have us refuse again.
    """

    def leave(number: int, frame: FrameType | None) -> NoReturn:
        sys.exit(2)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, leave)
    log.error("%s. Waiting to be stopped (when_refused = wait)", error)
    while True:
        time.sleep(3600)
