"""What each expert of the classifier buys, early and late: mixtures that lack one at a time.

    python -m benchmarks.ablation.classes [--events 10000] [--profile fast] [--stream adult ...]
        [--csv elec.csv ...]

A learner learns the stream. Beside its own mixtures, others learn, each from the predictions of all
experts but one; what they lose is all that leaving it out changes. A file's last column is its
class, and its other columns are numbers. A positive change of the log loss means that the expert
helps.
"""

import argparse
import csv
import math
from collections.abc import Iterable
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.ablation.decades import ENDS
from benchmarks.quality.measures.classification import LEAST_PROBABILITY
from benchmarks.quality.streams import CLASSES
from iln_stream import InfiniteLayerClassifier
from iln_stream.learners.infinite_layer.classes import ClassificationEngine
from iln_stream.learners.infinite_layer.expert import Vector
from iln_stream.learners.infinite_layer.mixing import BayesMixture, LogLossRule, StackedCorrection

NOTHING = "nothing"


class Lacking:
    """The classifier's mixtures, without the experts of these names."""

    def __init__(self, engine: ClassificationEngine, left_out: Iterable[str]) -> None:
        out = set(left_out)
        self.kept = [k for k, name in enumerate(engine.expert_names) if name not in out]
        members = [self.kept.index(k) for k in engine.correction.members if k in self.kept]
        self.rule = LogLossRule(len(self.kept))
        self.correction = StackedCorrection(members)
        self.mixture = BayesMixture(2)

    def learn(self, experts: Vector, label: int) -> float:
        """Return the log loss of the experts' (K, C) mixture, and learn the class."""
        p, mixed = experts[self.kept], np.empty((2, experts.shape[1]))
        self.rule.mix(p, len(p), mixed[0])
        self.correction.correct(p, mixed[0], mixed[1])
        q = self.mixture.weights @ mixed
        self.rule.learn(p, mixed[0], label)
        self.correction.learn(mixed[1], label)
        self.mixture.learn(mixed[:, label].copy())
        return -math.log(max(q[label] / q.sum(), LEAST_PROBABILITY))


def losses(
    events: Iterable[tuple[Any, Any]], profile: str = "accurate"
) -> tuple[dict[str, Vector], int]:
    """Return summed log losses by decade, by what is left out; and the number of events."""
    model = InfiniteLayerClassifier(profile=profile, seed=1)  # type: ignore[arg-type]
    engine = model._engine
    without = {NOTHING: Lacking(engine, ())}
    without |= {name: Lacking(engine, (name,)) for name in dict.fromkeys(engine.expert_names)}
    found, n = {name: np.zeros(len(ENDS)) for name in without}, 0
    for n, (x, y) in enumerate(events, start=1):
        model.predict_proba_one(x)
        if y in engine.classes:  # nothing can predict a class that is new
            experts, label = engine._experts.copy(), engine.classes.index(y)
            decade = sum(n > end for end in ENDS)
            for name, mixtures in without.items():
                found[name][decade] += mixtures.learn(experts, label)
        model.learn_one(x, y)
    return found, n


def file(path: Path) -> Iterable[tuple[dict[str, float], str]]:
    """Yield the events of a CSV file."""
    with path.open(newline="", encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            *inputs, (_, y) = row.items()
            yield {name: float(value) for name, value in inputs if value}, y


def table(found: dict[str, dict[str, Vector]], n: int) -> list[str]:
    """Return the change of the mean log loss over streams (geometric), and where it is largest."""
    ends = [end for end in ENDS if end < n] + [n]
    spans = [f"{a:,}-{b:,}" for a, b in zip((0, *ends), ends, strict=False)]
    lines = [f"| without | {' | '.join(spans)} | most |", "|---" * (len(spans) + 2) + "|"]
    names = {name for by_name in found.values() for name in by_name} - {NOTHING}
    for name in sorted(names):
        changes: list[list[float]] = [[] for _ in spans]
        whole = {}
        for stream, by_name in found.items():
            for decade, by in enumerate(changes):
                a, b = by_name[name][decade], by_name[NOTHING][decade]
                if a > 0.0 and b > 0.0:
                    by.append(math.log(a / b))
            whole[stream] = by_name[name].sum() / by_name[NOTHING].sum() - 1.0
        most = max(whole, key=whole.__getitem__)
        means = " | ".join(
            f"{100 * math.expm1(np.mean(by)):+.1f} %" if by else "" for by in changes
        )
        lines.append(f"| `{name}` | {means} | {most} {100 * whole[most]:+.1f} % |")
    return lines


def main() -> None:
    """Learn each stream, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ablation.classes")
    parser.add_argument("--events", type=int, default=10_000)
    parser.add_argument("--profile", default="accurate", choices=("accurate", "fast"))
    parser.add_argument("--stream", nargs="*", default=[], choices=[each.id for each in CLASSES])
    parser.add_argument("--csv", nargs="*", default=[], type=Path)
    given = parser.parse_args()
    streams: dict[str, Any] = {path.stem: partial(file, path) for path in given.csv}
    chosen = given.stream or ([] if streams else [each.id for each in CLASSES])
    streams |= {each.id: each.events for each in CLASSES if each.id in chosen}
    found, longest = {}, 0
    for name, events in streams.items():
        found[name], n = losses(islice(events(), given.events), given.profile)
        print(f"{name}: {n} events, log loss {found[name][NOTHING].sum() / n:.4f}", flush=True)
        longest = max(longest, n)
    print("\n".join(table(found, longest)))


if __name__ == "__main__":
    main()
