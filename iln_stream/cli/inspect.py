"""`iln-stream inspect`: shows the contents of snapshots, or the model of one key."""

import json
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from iln_stream.errors import SnapshotError
from iln_stream.learners.contest import Evidence
from iln_stream.learners.introspection import find_keyed
from iln_stream.snapshots import (
    HISTORY,
    LABELS,
    Header,
    Snapshot,
    SnapshotFolder,
    learner_at,
    read_snapshot,
)
from iln_stream.state import pack
from iln_stream.streams import of_stream


def show_key(path: Path, key: str, console: Console) -> None:
    """Print what a snapshot's learner knows of a key.

    Raises
    ------
    SnapshotError
        When there is no snapshot, its learner has no model for each key, or none of this one.

    """
    read, snapshot, _ = learner_at(path, allow_pickle=False)
    if (learner := find_keyed(read)) is None:
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


def show_snapshots(path: Path, console: Console, *, as_json: bool = False) -> None:
    """Print a snapshot, or the newest one of each folder at or below `path`.

    With `as_json`, each snapshot's header and counts are a line of JSON on standard output, in
    place of a table.

    Raises
    ------
    SnapshotError
        When there is no snapshot, or one can't be read.

    """

    def show(title: str, snapshot: Snapshot) -> None:
        if as_json:
            print(_as_json(title, snapshot))
        else:
            console.print(_table(title, snapshot))

    if path.is_file():
        show(path.name, read_snapshot(path))
        return
    folders = sorted({file.parent for file in path.rglob("*.snapshot")})
    if not folders:
        raise SnapshotError(f"there is no snapshot in {path}")
    for folder in folders:
        if (newest := SnapshotFolder(folder).newest()) is not None:
            show(str(folder), newest)


def _as_json(title: str, snapshot: Snapshot) -> str:
    header, counts = snapshot.header, snapshot.state["counts"]
    scores = counts["scores"]
    fields = {
        "path": title,
        **header.as_json(),
        "learner": _learner(snapshot.state["learner"]),
        "n_events": scores["n_events"],
        "n_labelled": scores["n_labelled"],
        "n_dead_letters": counts["n_dead_letters"],
        "n_repeats": counts["n_repeats"],
        "n_skipped": counts.get("n_skipped", 0),
        **{name.replace(" ", "_").lower(): value for name, value in _running(scores).items()},
    }
    return json.dumps(fields)


def _table(title: str, snapshot: Snapshot) -> Table:
    header = snapshot.header
    arrays, text = pack(snapshot.state)
    n_bytes = sum(array.nbytes for array in arrays.values()) + len(text)
    counts = snapshot.state["counts"]
    scores = counts["scores"]
    settings = {name: v for name, v in header.configuration.items() if name != HISTORY}
    events = of_stream(header.positions, header.stream)
    table = Table(title=title, show_header=False, title_justify="left")
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, value in {
        "stream": header.stream,
        "partitions": f"{', '.join(map(str, events))} of {header.n_partitions}",
        "topic id": header.topic_id or "unknown",
        "next offset": ", ".join(f"{at:,}" for at in events.values()),
        **_labels(header),
        "epoch": header.epoch,
        "saved at": header.saved_at,
        "configuration": ", ".join(f"{k} = {v!r}" for k, v in settings.items()),
        "configuration hash": header.configuration_hash,
        "seed": header.seed,
        "learner": _learner(snapshot.state["learner"]),
        **_contenders(snapshot),
        **_history(header.configuration.get(HISTORY)),
        "events": f"{scores['n_events']:,}, {scores['n_labelled']:,} of them learned",
        "dead letters, repeats": f"{counts['n_dead_letters']:,}, {counts['n_repeats']:,}",
        **({"skipped": f"{n:,}"} if (n := counts.get("n_skipped")) else {}),
        **_waiting(snapshot),
        **{name: _number(value) for name, value in _running(scores).items()},
        "size": f"{n_bytes:,} bytes in {len(arrays)} arrays",
        "versions": ", ".join(f"{name} {number}" for name, number in header.versions.items()),
        "CPU baseline": header.cpu_baseline,
    }.items():
        table.add_row(name, str(value))
    return table


def _labels(header: Header) -> dict[str, str]:
    """Return what was read of the log of labels; nothing if there is none."""
    if (labels := header.configuration.get(LABELS)) is None:
        return {}
    found = of_stream(header.positions, labels["stream"])
    return {
        "labels: partitions": ", ".join(map(str, found)),
        "labels: topic id": header.labels_topic_id or "unknown",
        "labels: next offset": ", ".join(f"{at:,}" for at in found.values()),
    }


def _waiting(snapshot: Snapshot) -> dict[str, str]:
    state = snapshot.state.get("pending") or {}
    if "waiting" not in state:
        return {}
    return {"waiting events, labels": "{:,}, {:,}".format(*state["waiting"])}


def _history(history: dict[str, Any] | None) -> dict[str, str]:
    """Return what was learned from files before the log; nothing if there were none."""
    if history is None:
        return {}
    files = [
        f"{each['name']}: {each['n_events']:,} events, {each['n_labelled']:,} of them learned, "
        f"{each['n_dead_letters']:,} dead letters, SHA-256 {each['sha256']}"
        for each in history["files"]
    ]
    start = ", ".join(f"offset {at:,} of {p}" for p, at in history["start"].items())
    first, last = history["first_time"] or "unknown", history["last_time"] or "unknown"
    return {
        "history: files": "\n".join(files),
        "history: times": f"{first} to {last}, {history['n_older']:,} out of order",
        "history: scores": history["scores"],
        "history: then": f"from {start}",
    }


def _running(scores: dict[str, Any]) -> dict[str, float | None]:
    """Return the running score by its name: MAE, or accuracy of a classifier; None: no label."""
    n = scores.get("weight", scores["n_labelled"])
    if "total_misclassification" in scores:
        name, value = "running accuracy", 1.0 - scores["total_misclassification"] / (n or 1)
    else:
        name, value = "running MAE", scores["total_absolute_error"] / (n or 1)
    return {name: value if n else None}


def _number(value: float | None) -> str:
    return "none yet" if value is None else f"{value:.6g}"


def _learner(state: dict[str, Any]) -> str:
    return "a pickle" if "pickle" in state else _classes(state)


def _contenders(snapshot: Snapshot) -> dict[str, str]:
    """Return how each contender is doing; nothing if there is one learner."""
    state = snapshot.state["learner"]
    found: dict[str, str] = {}
    for number, each in enumerate(state.get("contenders", ())):
        scores, evidence = each["scores"], each["evidence"]
        learner = "the mixture" if each["learner"] is None else _learner(each["learner"])
        parts = ["champion" if number == state["champion"] else "challenger", learner]
        if each["is_out"]:
            parts[0] = "out"
        error = scores["total_error"] / scores["n"] if scores["n"] else None
        parts.append(f"running error {_number(error)} on {scores['n']:,} events")
        if evidence is not None:
            seen = Evidence(evidence["error"])
            seen.restore(evidence["seen"])
            parts.append(f"evidence {seen.lower:.3f} to {seen.upper:.3f}")
        if each["n_failures"]:
            parts.append(f"{each['n_failures']:,} failures, the last: {each['last_failure']}")
        found[f"contender: {each['name']}"] = "; ".join(parts)
    return found


def _classes(state: dict[str, object]) -> str:
    """Return the class of a state, with those of its parts."""
    steps = state.get("steps")
    parameters = state.get("parameters")
    inside = [
        parameters.get("regressor") if isinstance(parameters, dict) else None,
        *(steps if isinstance(steps, list) else []),
    ]
    below = " | ".join(_classes(each) for each in inside if isinstance(each, dict))
    return f"{state.get('class')}({below})" if below else str(state.get("class"))
