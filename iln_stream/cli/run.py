"""`iln-stream run`: the service, with a progress bar and a last word."""

from rich.console import Console

from iln_stream.service import Service, Settings


def run_service(settings: Settings, console: Console) -> None:
    """Run until the source ends or the user interrupts, then say how it went."""
    service = Service(settings, console)
    service.run()
    for worker in service.workers:
        scores, watched = worker.watched.scores, worker.watched
        name = f"partition {watched.labels[1]}: " if len(service.workers) > 1 else ""
        repeats = f", {watched.n_repeats} repeats" if watched.n_repeats else ""
        console.print(
            f"{name}{scores.n_events} events, {watched.n_dead_letters} dead letters{repeats}; "
            f"{scores.summary()}",
            highlight=False,
            soft_wrap=True,
        )
