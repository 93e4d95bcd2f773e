"""`iln-stream run`: the service, with a progress bar and a last word."""

from rich.console import Console

from iln_stream.cli.logs import say
from iln_stream.service import Service, Settings


def run_service(settings: Settings, console: Console) -> None:
    """Run until the source ends or the user interrupts, then say how it went."""
    service = Service(settings, console)
    service.run()
    for lane in service.lanes:
        scores, watched = lane.watched.scores, lane.watched
        name = f"partition {lane.source.partition}: " if len(service.lanes) > 1 else ""
        repeats = f", {watched.n_repeats} repeats" if watched.n_repeats else ""
        say(
            console,
            f"{name}{scores.n_events} events, {watched.n_dead_letters} dead letters{repeats}; "
            f"running loss {scores.running_loss:.4g}, MAE {scores.running_mae:.4g}",
        )
