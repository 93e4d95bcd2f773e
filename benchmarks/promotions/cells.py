"""What is measured: names of cells, and how each is made with a pool of processes."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import binomtest

from benchmarks.promotions import designs, pairs, watching
from benchmarks.promotions.differences import EQUAL, improved
from benchmarks.promotions.document import COMMON, CORRELATIONS, GAINS

N_EQUAL, N_BETTER = 1_000, 100
"""Streams of equal contenders, and of a better challenger."""

AT_ONCE = 100
"""Streams in a task of a process."""

LONGEST = 200_000
"""Events after which a better challenger counts as not found."""

LONG = "independent", "AR(1), .9", "AR(1), .99", "5 % AR(1), .99, in white noise"
"""Kinds that are watched for 100,000 events, too."""

Cell = dict[str, Any]


def _equal(kind: str, n_events: int, part: int) -> list[float]:
    chunks = EQUAL[kind](np.random.default_rng(part), AT_ONCE)
    return watching.events_to_promotion(chunks, AT_ONCE, n_events).tolist()


def equal(kind: str, n_events: int, pool: Any) -> Cell:
    """Return how many of 1,000 challengers that are equal were promoted."""
    parts = pool.map(partial(_equal, kind, n_events), range(N_EQUAL // AT_ONCE))
    return {"promoted": int(np.isfinite(np.concatenate(parts)).sum())}


def _power(gain: float, correlation: float, common: float, part: int) -> list[float]:
    rng = np.random.default_rng([part, int(1000 * gain)])
    n = N_BETTER // 2
    chunks = improved(rng, n, gain, correlation, common)
    return watching.events_to_promotion(chunks, n, LONGEST).tolist()


def power(gain: float, correlation: float, common: float, pool: Any) -> Cell:
    """Return the median events until a better challenger was promoted, None if beyond the last."""
    parts = pool.map(partial(_power, gain, correlation, common), range(2))
    median = float(np.median(np.concatenate(parts)))
    return {"median": median if np.isfinite(median) else None, "events": LONGEST}


def pairs_of(name: str, pool: Any) -> Cell:
    """Return how many challengers of pairs were promoted, and a 95 % interval of their share."""
    n_pairs = pairs.PAIRS[name][2]
    found = pool.map(partial(pairs.events_to_promotion, name), range(n_pairs), chunksize=5)
    promoted = int(np.isfinite(found).sum())
    between = binomtest(promoted, n_pairs).proportion_ci(method="exact")
    return {"promoted": promoted, "share_between": [round(between.low, 4), round(between.high, 4)]}


def designs_equal(kind: str, pool: Any) -> Cell:
    """Return how many of 1,000 equal challengers each design promotes in 20,000 events."""
    chunks = EQUAL[kind](np.random.default_rng(0), N_EQUAL)
    found = designs.events_to_promotion(chunks, N_EQUAL, 20_000)
    return {name: int(np.isfinite(events).sum()) for name, events in found.items()}


def designs_power(correlation: float, pool: Any) -> Cell:
    """Return the median events until each design promotes a challenger that is 20 % better."""
    chunks = improved(np.random.default_rng(0), N_BETTER, 0.2, correlation, 0.8)
    found = designs.events_to_promotion(chunks, N_BETTER, 100_000)
    medians = {name: float(np.median(events)) for name, events in found.items()}
    return {name: int(found) if np.isfinite(found) else None for name, found in medians.items()}


def cells() -> Iterator[tuple[str, Callable[[Any], Cell]]]:
    """Yield names and makers of all cells."""
    for kind in EQUAL:
        yield f"equal 20000 {kind}", partial(equal, kind, 20_000)
    for gain in GAINS:
        for correlation in CORRELATIONS:
            for common in COMMON:
                name = f"power {gain} {correlation} {common}"
                yield name, partial(power, gain, correlation, common)
    for kind in EQUAL:
        yield f"design-equal {kind}", partial(designs_equal, kind)
    for correlation in CORRELATIONS:
        yield f"design-power {correlation}", partial(designs_power, correlation)
    for name in pairs.PAIRS:
        yield f"pairs {name}", partial(pairs_of, name)
    for kind in LONG:
        yield f"equal 100000 {kind}", partial(equal, kind, 100_000)
