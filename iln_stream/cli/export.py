"""`iln-stream export` and `iln-stream plot`."""

from pathlib import Path
from typing import Any

from rich.console import Console

from iln_stream.cli.logs import report
from iln_stream.errors import IlnError, SnapshotError
from iln_stream.learners import InfiniteLayerClassifier, InfiniteLayerRegressor
from iln_stream.learners.frozen import freeze, freeze_learner
from iln_stream.learners.frozen.card import TITLE, ModelCard, mean_scores
from iln_stream.learners.infinite_layer.base import EngineLearner
from iln_stream.plotting import drawing, plot_predictions
from iln_stream.service.learners import champion_of
from iln_stream.snapshots import HISTORY, LABELS, Header, Snapshot, learner_of, snapshot_at
from iln_stream.streams import of_stream


def export_model(
    path: Path, out: Path, size: int | None, seed: int, allow_pickle: bool, console: Console
) -> None:
    """Write the learner of a snapshot, or of a folder's newest one, and a model card beside it.

    A `ShrinkingGradient` becomes a finite network, `.npz` or `.onnx`. An infinite-layer learner
    becomes the arrays by which it predicts, `.npz`.

    Raises
    ------
    SnapshotError
        When there is no snapshot, its learner can't be exported, or a file can't be written.

    """
    snapshot = snapshot_at(path)
    card_file = out.with_suffix(".md")
    try:
        learner = champion_of(learner_of(snapshot.state["learner"], allow_pickle))
        if out.suffix not in (".npz", ".onnx"):
            raise SnapshotError(f"{out}: give a name that ends in .npz or .onnx")
        if card_file.exists() and not card_file.read_text("utf-8").startswith(TITLE):
            raise SnapshotError(
                f"{card_file}, where the model card would be written, exists and is not a model "
                "card: give the export another name"
            )
        card = _card(out.stem, learner, snapshot)
        if isinstance(learner, InfiniteLayerRegressor | InfiniteLayerClassifier):
            if out.suffix == ".onnx" or size is not None:
                raise SnapshotError(
                    f"{out}: this learner is exported as .npz, with all of its units: leave out "
                    "--size, and give a name that ends in .npz"
                )
            freeze_learner(learner, card.as_dict()).save(out)
        elif out.suffix == ".onnx":
            freeze(learner, size, seed=seed).save_onnx(out)
        else:
            freeze(learner, size, seed=seed).save(out)
        card_file.write_text(card.as_markdown(), "utf-8")
    except (ValueError, ImportError) as error:
        raise SnapshotError(f"{path}: {error}") from error
    except OSError as error:
        raise SnapshotError(f"can't write {out}: {error.strerror}") from error
    header = snapshot.header
    before = ", ".join(f"offset {at} of {p}" for p, at in header.positions.items())
    told = f"{out}: learned from {header.stream}, before {before}; model card: {card_file}"
    report(console, told)


def _labels(header: Header) -> dict[str, Any]:
    """Return what was read of the log of labels; nothing if there is none."""
    if (labels := header.configuration.get(LABELS)) is None:
        return {}
    found = of_stream(header.positions, labels["stream"])
    return {"labels": {"topic_id": header.labels_topic_id, "next_offsets": found}}


def _card(name: str, learner: Any, snapshot: Snapshot) -> ModelCard:
    header = snapshot.header
    settings = dict(header.configuration)
    history = settings.pop(HISTORY, None)
    parameters = learner._arguments() if isinstance(learner, EngineLearner) else {}
    return ModelCard(
        name=name,
        learner={"class": type(learner).__name__, **parameters},
        data={
            "stream": header.stream,
            "topic_id": header.topic_id,
            "n_partitions": header.n_partitions,
            "next_offsets": of_stream(header.positions, header.stream),
            **_labels(header),
            "epoch": header.epoch,
            **({} if history is None else {"learned before the stream": history}),
        },
        saved_at=header.saved_at,
        settings={**settings, "seed_of_learner": header.seed},
        versions=header.versions,
        scores=mean_scores(snapshot.state["counts"]["scores"]),
    )


def plot_file(path: Path, out: Path, console: Console, **options: Any) -> None:
    """Draw a file of predictions; `options` are those of `plot_predictions`.

    Raises
    ------
    IlnError
        When the file can't be drawn, the picture can't be written, or matplotlib is missing.

    """
    try:
        drawing().save(plot_predictions(path, **options), out)
    except ImportError as error:
        raise IlnError(str(error)) from error
    except OSError as error:
        raise IlnError(f"--out {out}: {error.strerror}") from error
    except ValueError as error:
        raise IlnError(f"--out {out}: {error}") from error
    report(console, f"written: {out}")
