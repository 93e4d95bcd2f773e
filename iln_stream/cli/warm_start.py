"""`iln-stream warm-start`: learns files of history into the first snapshot."""

from rich.console import Console

from iln_stream.cli.logs import logs_json, report
from iln_stream.service import Settings, warm_start


def warm_start_learners(settings: Settings, console: Console) -> None:
    """Learn the files, and report for each learner what it learned and where its log goes on."""
    for warmed in warm_start(settings, None if logs_json() else console):
        report(console, f"{warmed.summary}. `iln-stream run` resumes there")
