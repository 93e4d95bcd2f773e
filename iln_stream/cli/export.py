"""`iln-stream export`: a snapshot's learner as a finite network."""

from pathlib import Path

from rich.console import Console

from iln_stream.errors import SnapshotError
from iln_stream.frozen import freeze
from iln_stream.snapshots import learner_of, snapshot_at


def export_network(
    path: Path, out: Path, size: int | None, seed: int, allow_pickle: bool, console: Console
) -> None:
    """Write the network of a snapshot, or of a folder's newest one, as `.npz` or `.onnx`.

    Raises
    ------
    SnapshotError
        When there is no snapshot, its learner can't be exported, or the file can't be written.

    """
    snapshot = snapshot_at(path)
    try:
        network = freeze(learner_of(snapshot.state["learner"], allow_pickle), size, seed=seed)
        if out.suffix == ".onnx":
            network.save_onnx(out)
        elif out.suffix == ".npz":
            network.save(out)
        else:
            raise SnapshotError(f"{out}: give a name that ends in .npz or .onnx")
    except (ValueError, ImportError) as error:
        raise SnapshotError(f"{path}: {error}") from error
    except OSError as error:
        raise SnapshotError(f"can't write {out}: {error.strerror}") from error
    header = snapshot.header
    console.print(
        f"{out}: network learned from {header.stream}, before "
        + ", ".join(f"offset {at} of partition {p}" for p, at in header.positions.items()),
        soft_wrap=True,
        highlight=False,
    )
