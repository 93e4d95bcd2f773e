"""Profile fast."""

from typing import Any

from iln_stream.compiled.fast_event import LAGS, N_LAGS
from iln_stream.compiled.moving_units import AVERAGE
from iln_stream.compiled.standardise import HIGH, LOW
from iln_stream.compiled.target import center_and_unit, scaled
from iln_stream.frozen.extraction.common import (
    column_statistics,
    last_targets,
    rule,
    target_scale,
)
from iln_stream.learners.infinite_layer.profiles.fast import N_UNITS, FastEngine


def parts_of(engine: FastEngine) -> dict[str, Any]:
    """Return the parts that `iln_stream.frozen.infinite_layer.fast` predicts with."""
    units, target = engine.units[AVERAGE], engine.target
    n_inputs = len(units) - 1
    center, unit = center_and_unit(target)
    ends = [float(scaled(target[end, 0], center, unit)) for end in (LOW, HIGH)]
    return {
        "stats": column_statistics(engine.inputs.stats),
        "lags": last_targets(engine.record[LAGS : LAGS + N_LAGS], engine.n, target),
        "units": {
            "omega": units[:-1].copy(),
            "b": units[-1].copy(),
            "linear": [1.0] * n_inputs,
            "activation": "cos",
        },
        "theta": engine.theta[: N_UNITS + 1 + n_inputs].copy(),
        "rule": rule(engine.table[3]),
        "low": min(ends),
        "high": max(ends),
        **target_scale(target),
    }
