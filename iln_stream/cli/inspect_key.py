"""`iln-stream inspect --key`: shows the model of one key."""

from pathlib import Path

from rich.console import Console
from rich.table import Table

from iln_stream.errors import SnapshotError
from iln_stream.keyed import KeyedRegressor
from iln_stream.snapshots import learner_at


def show_key(path: Path, key: str, console: Console) -> None:
    """Print what a snapshot's learner knows of a key.

    Raises
    ------
    SnapshotError
        When there is no snapshot, its learner has no model for each key, or none of this one.

    """
    learner, snapshot = learner_at(path, allow_pickle=False)
    if not isinstance(learner, KeyedRegressor):
        raise SnapshotError(
            f"--key: the learner in {path} is one model for all; set by_key in the run for a model "
            "for each key"
        )
    found = learner.described(key)
    if found is None:
        raise SnapshotError(
            f"--key: {key!r} is none of the {learner.n_keys:,} keys in {path}; it would be "
            "predicted as a new one"
        )
    table = Table(title=f"{learner.key} = {key}", show_header=False, title_justify="left")
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    table.add_row("saved at", snapshot.header.saved_at)
    table.add_row("events", f"{found.n_events:,}")
    table.add_row("mean |error|", f"{found.error:.6g}, of about the last 50 events")
    table.add_row("level", f"{found.effects.pop(''):.6g} above the global model's prediction")
    largest = sorted(found.effects.items(), key=lambda each: -abs(each[1]))
    slopes = "\n".join(f"{name}: {slope:.6g}" for name, slope in largest)
    table.add_row("slopes, for one sd of the input", slopes or "none")
    weights = ", ".join(f"{name} {weight:.3f}" for name, weight in found.weights.items())
    table.add_row("weights in the prediction", weights)
    console.print(table)
