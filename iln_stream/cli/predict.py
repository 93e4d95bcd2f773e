"""`iln-stream predict`: a snapshot's learner on a stream, learning nothing."""

from pathlib import Path

from rich.console import Console

from iln_stream.cli.logs import say
from iln_stream.service import Settings
from iln_stream.service import predict as predict_stream
from iln_stream.snapshots import load


def predict_events(path: Path, settings: Settings, console: Console) -> None:
    """Predict `source` with the learner at a path, by default from standard input to output.

    Raises
    ------
    SnapshotError
        When there is no learner.

    """
    defaults = {name: "-" for name in ("source", "predictions") if not _is_set(settings, name)}
    settings = settings.model_copy(update=defaults)
    done = predict_stream(settings, load(path, allow_pickle=settings.snapshot_pickle), console)
    scores = done.scores
    said = f"{scores.n_events} events predicted, {done.n_dead_letters} dead letters"
    if done.n_repeats:
        said += f", {done.n_repeats} repeats"
    if scores.n_labelled:
        said += f"; {scores.n_labelled} have a label: {scores.summary()}"
    say(console, said)


def _is_set(settings: Settings, name: str) -> bool:
    """Tell whether a flag, a variable or the TOML file sets it."""
    return name in settings.model_fields_set
