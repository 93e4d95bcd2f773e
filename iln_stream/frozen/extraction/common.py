"""What the profiles have in common."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from iln_stream.compiled.standardise import UPPER
from iln_stream.compiled.target import WIDTH, center_and_unit, scaled


def column_statistics(stats: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the statistics by which inputs are standardised, (7, d)."""
    return stats[: UPPER + 1].copy()


def target_scale(stats: NDArray[np.float64]) -> dict[str, float]:
    """Return center and unit of the target's scale."""
    center, unit = center_and_unit(stats)
    return {"center": float(center), "unit": float(unit)}


def last_targets(
    targets: NDArray[np.float64], n: int, stats: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the last targets, newest first, in standard deviations; 0 where there is none yet."""
    center, unit = center_and_unit(stats)
    return np.array(
        [WIDTH * scaled(y, center, unit) if n > i else 0.0 for i, y in enumerate(targets)]
    )


def rule(weights: NDArray[np.float64], awake: NDArray[np.bool_] | None = None) -> dict[str, Any]:
    """Return the weights (K,) of a rule, and which experts count."""
    return {
        "weights": weights.copy(),
        "awake": np.ones(len(weights), bool) if awake is None else awake.copy(),
    }
