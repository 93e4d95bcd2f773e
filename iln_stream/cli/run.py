"""`iln-stream run`: the service, with a progress bar and a last word."""

from rich.console import Console

from iln_stream.service import Service, Settings


def run_service(settings: Settings, console: Console) -> None:
    """Run until the source ends or the user interrupts, then say how it went."""
    service = Service(settings, console)
    service.run()
    scores = service.watched.scores
    console.print(
        f"{scores.n_events} events, {service.watched.n_dead_letters} dead letters; "
        f"running loss {scores.running_loss:.4g}, MAE {scores.running_mae:.4g}",
        highlight=False,
        soft_wrap=True,
    )
