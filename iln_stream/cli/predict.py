"""`iln-stream predict`: predicts a stream with a snapshot's learner, without learning."""

from pathlib import Path

from rich.console import Console

from iln_stream.cli.logs import report
from iln_stream.service import Settings
from iln_stream.service import predict as predict_stream
from iln_stream.snapshots import learner_at


def predict_events(path: Path, settings: Settings, console: Console) -> None:
    """Predict the source with the learner at `path`; default: standard input to output.

    Records are read with the snapshot's settings of fields, unless `settings` has some.

    Raises
    ------
    SnapshotError
        When there is no snapshot at `path`.

    """
    defaults = {name: "-" for name in ("source", "predictions") if not _is_set(settings, name)}
    settings = settings.model_copy(update=defaults)
    learner, snapshot = learner_at(path, settings.snapshot_pickle)
    done = predict_stream(settings, learner, console, snapshot.header.configuration)
    scores = done.scores
    text = f"{scores.n_events} events predicted, {done.n_dead_letters} dead letters"
    if done.n_repeats:
        text += f", {done.n_repeats} repeats"
    if scores.n_labelled:
        text += f"; {scores.n_labelled} with a label: {scores.summary()}"
    report(console, text)


def _is_set(settings: Settings, name: str) -> bool:
    """Whether a flag, a variable or the TOML file sets `name`."""
    return name in settings.model_fields_set
