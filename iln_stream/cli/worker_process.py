"""One of several processes of a run: `python -m iln_stream.cli.worker_process DESCRIPTOR`.

It gets its job from the supervisor on standard input, and ends when that does.
"""

import logging
import pickle
import sys

from iln_stream.cli.command import console
from iln_stream.cli.logs import set_up_logging
from iln_stream.cli.run import learned, propose_settings, report_results
from iln_stream.errors import IlnError, UnrecoverableError
from iln_stream.loop import NothingLearnedError
from iln_stream.service import Service, WorkerJob
from iln_stream.service.supervisor import Reporter

log = logging.getLogger(__name__)


def main(descriptor: str) -> None:
    """Learn the partitions of the job, and report to the supervisor."""
    job: WorkerJob = pickle.load(sys.stdin.buffer)  # noqa: S301 - from our own supervisor
    settings = job.settings
    set_up_logging(console, settings.log_level, settings.log_format, job.number)
    reporter = Reporter(int(descriptor))
    try:
        service = Service(settings, None, serves=reporter.serves, accept_loss=job.accept_loss)
        reporter.runs(service.metrics.counters_of_process)
        service.run()
    except IlnError as error:
        if isinstance(error, NothingLearnedError):
            propose_settings(settings, console)
        # The supervisor logs the message.
        reporter.fails(str(error), isinstance(error, UnrecoverableError))
        sys.exit(2)
    except Exception as error:
        reporter.fails(f"{type(error).__name__}: {error}", final=False)
        log.critical("internal error", exc_info=True)
        sys.exit(1)
    report_results(service, console, job.number)
    if not service.was_stopped:
        reporter.finishes(*learned(service))


if __name__ == "__main__":
    main(*sys.argv[1:])
