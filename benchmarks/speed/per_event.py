"""Predict and learn from dicts, one event at a time: speed and loss, compared with other learners.

All learn the same stream in turns of short blocks, so that the machine's load affects all alike.
Streams have standardised inputs and a target in [-1, 1], so that no learner needs scaling; names of
pipelines that scale say so. A learner that exceeds its time limit stops, and reports its loss over
the first part of the stream.
"""

import warnings
from statistics import fmean, median
from time import thread_time

from iln_stream.errors import IlnWarning

from . import arithmetic
from .contender import Contender, Step
from .effort import Effort
from .findings import Cell, Findings
from .friedman import Event, friedman
from .ours import ACCURATE, FAST, MODELS, POOL, THOUSAND_DRAWS, defaults, ours
from .peers import FOREST, LINEAR, peers

BLOCKS = 40
SHORT = {LINEAR: "linear", FOREST: "ARF"}

FIRST_PART = 4
"""Blocks for each learner, even a slow one."""

GOALS = {
    POOL: (1.5, LINEAR),
    THOUSAND_DRAWS: (0.7, LINEAR),
    FAST: (1.8, LINEAR),
    ACCURATE: (12.0, FOREST),
}
"""Goals: events per second, as multiples of a peer's."""


def measure(effort: Effort) -> list[Findings]:
    """Events per second, and the mean absolute error over the first part and the whole."""
    steady, drifting = (friedman(effort.events, drifting=drifting) for drifting in (False, True))
    limits = least_times(steady[:100])
    return [
        _table("Friedman", [*ours(), *peers()], steady, limits, effort),
        _table("Friedman with two drifts", [*defaults(), *peers()], drifting, limits, effort),
    ]


def least_times(stream: list[Event]) -> dict[str, float]:
    """Return the microseconds of an event at the processor's peak, by learner; see `arithmetic`."""
    peak, found = arithmetic.peak_rate(), {}
    for name, make in MODELS.items():
        model = make()
        for x, y in stream:
            model.learn_one(x, y)
        found[name] = 1e6 * arithmetic.of_event(model) / peak
    return found


def _table(
    stream: str,
    contenders: list[Contender],
    events: list[Event],
    limits: dict[str, float],
    effort: Effort,
) -> Findings:
    rates, errors = compare(contenders, events, effort.patience)
    size = effort.events // BLOCKS
    rows: list[dict[str, Cell]] = []
    for name, by_block in rates.items():
        goal, peer = GOALS.get(name, (None, LINEAR))
        whole = len(errors[name]) == effort.events
        rows.append(
            {
                "learner": name,
                "events/s": median(by_block[1:]),  # the first block is warming up
                "× linear": times_as_fast(by_block, rates[LINEAR]),
                "× ARF": times_as_fast(by_block, rates[FOREST]),
                "goal": None if goal is None else f"{goal:g} × {SHORT[peer]}",
                "limit, µs": limits.get(name),
                "× limit": 1e6 / median(by_block[1:]) / limits[name] if name in limits else None,
                "events": len(errors[name]),
                f"MAE of {FIRST_PART * size:,}": fmean(errors[name][: FIRST_PART * size]),
                f"MAE of {effort.events:,}": fmean(errors[name]) if whole else None,
            }
        )
    note = (
        f"d = 10, one pass in {BLOCKS} blocks of {size}; MAE on the target in [-1, 1]. "
        f"× linear, × ARF: events a second over those of {LINEAR} and of {FOREST}, on the blocks "
        "that both took. The limit is the time of the multiply-adds of the learner's matrices at "
        "the processor's peak. "
        f"A learner stops once it took {effort.patience:g} s."
    )
    return Findings(f"Predict + learn an event from a dict: {stream}", rows, note)


def times_as_fast(rates: list[float], others: list[float]) -> float:
    """Return the ratio of the rates over the blocks that both took, but the first."""
    both = list(zip(rates, others, strict=False))[1:]
    # Blocks are of one size, so the times they took are the inverse rates.
    return sum(1.0 / other for _, other in both) / sum(1.0 / rate for rate, _ in both)


def compare(
    contenders: list[Contender], stream: list[Event], patience: float
) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """Return each learner's events per second by block, and the absolute error of each event."""
    steps = {contender.name: contender.start() for contender in contenders}
    rates: dict[str, list[float]] = {name: [] for name in steps}
    errors: dict[str, list[float]] = {name: [] for name in steps}
    size = len(stream) // BLOCKS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IlnWarning)
        for b in range(BLOCKS):
            block = stream[b * size : (b + 1) * size]
            for name, step in steps.items():
                if b >= FIRST_PART and sum(size / rate for rate in rates[name]) > patience:
                    continue
                seconds, predictions = run(step, block)
                rates[name].append(size / seconds)
                errors[name] += [abs(p - y) for p, (_, y) in zip(predictions, block, strict=True)]
    return rates, errors


def run(step: Step, block: list[Event]) -> tuple[float, list[float]]:
    """Return the processor's seconds that a block took, and its predictions.

    Only of this thread: those in which Java compiles and collects garbage work for nobody's block.
    """
    started = thread_time()
    predictions = [step(x, y) for x, y in block]
    return thread_time() - started, predictions
