"""Kills the learner repeatedly while it joins late labels with their events."""

import json
from pathlib import Path
from typing import NamedTuple

from chaos.late_stream import Known, kind, late_records, number
from chaos.learner_kills import Outcome, Plan, kill_learners
from chaos.logs import TestedLog

_PIPELINE = """
from river import linear_model, preprocessing

model = preprocessing.StandardScaler() | linear_model.LinearRegression()
"""


_AGGREGATES = {
    "n": {"by": ["x.n", "x.sky"], "over": "5min", "how": "count"},
    "spread": {"by": "x.n", "of": "x.a", "over": "20min", "how": "std"},
    "ratio": {"by": "x.sky", "of": "x.b", "how": "ratio_to_mean"},
    "rate": {"by": "x.n", "how": "label_mean"},
    "again": {"by": "id", "how": "count"},
}


class Case(NamedTuple):
    """A learner, and how long events wait for their labels."""

    known: Known
    arguments: tuple[str, ...]


CASES = {
    # Full by count; a pause of the stream makes all expire.
    "infinite-layer, count": Case(
        number,
        (
            *("--learner", "infinite-layer", "--learner-options", '{"profile": "fast"}'),
            *("--prediction-intervals", "0.9", "--pending-events", "500"),
            *("--pending-seconds", "20000", "--recent-ids", "1000"),
        ),
    ),
    # Inputs by key, whose labels are late, most of them in files, and which are forgotten all the
    # time; full by count.
    "infinite-layer, aggregates": Case(
        number,
        (
            *("--learner", "infinite-layer", "--learner-options", '{"profile": "fast"}'),
            *("--target", "y", "--features", "x", "--id-field", "id", "--weight-field", "weight"),
            *("--time-field", "timestamp", "--aggregates", json.dumps(_AGGREGATES)),
            *("--keys-in-memory", "5", "--forget-keys-after", "20min"),
            *("--pending-events", "500", "--pending-seconds", "20000", "--recent-ids", "1000"),
        ),
    ),
    # Full by count; expired events are dead letters.
    "River pipeline, write": Case(
        number,
        (
            *("--learner", "late_pipeline:model", "--learner-options", "{}", "--snapshot-pickle"),
            *("--pending-events", "400"),
            *("--pending-seconds", "20000", "--pending-expired", "write", "--recent-ids", "1000"),
        ),
    ),
    # Never full, as the events that wait are too old before; blocks are packed again.
    "classifier, learn": Case(
        kind,
        (
            *("--learner", "infinite-layer-classifier", "--learner-options", "{}"),
            *("--pending-events", "100000", "--pending-seconds", "3000", "--recent-ids", "20000"),
            *("--pending-expired", "learn", "--pending-label", "false"),
        ),
    ),
}


def kill_late_learners(log: TestedLog, folder: Path, plan: Plan, case: str) -> Outcome:
    """Feed a learner events and late labels, and kill it as planned: see `kill_learners`."""
    (folder / "late_pipeline.py").write_text(_PIPELINE)
    records = late_records(plan.n_records, plan.seed, CASES[case].known)
    return kill_learners(log, folder, plan, CASES[case].arguments, records.__getitem__)
