"""The machine's limit: the cost of each part of a draw.

Algorithm 2 with fresh Gaussian cosines asks for m x (d normals + one index + one row, gathered and
multiplied + two cosines). Each is timed alone, the best of several loops (`loops`); the limit is
their sum. Fused loops may hide one's latency behind another's work, so it can be beaten a little.
"""

from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import loops
from .clock import Call, medians, side_by_side
from .effort import Effort
from .findings import Findings

_DRAWS = 1 << 17
"""Draws in one call of a loop: enough that the call's cost is negligible, with random rows."""

GUIDE, BISECTION = "guide table", "bisection"

HOT_PATH = {
    "normal": ".35",
    "cosine": ".07-.4",
    "index, can grow": "3-7",
    "row, d = 5": "4.5-16",
    "row, d = 100": "12-81",
}
"""Costs in ns, measured before this code existed, on a similar machine."""


class Units(NamedTuple):
    """Nanoseconds of each part at one support and width; `best` names the loop."""

    normal: float
    cosine: float
    index: float
    growing_index: float
    row: float
    best: dict[str, str]

    def limit(self, m: int, d: int, *, growing: bool = False) -> float:
        """Return the least seconds of m draws, with an index that accepts new points."""
        index = self.growing_index if growing else self.index
        return m * (d * self.normal + index + self.row + 2 * self.cosine) * 1e-9


class Machine:
    """Loops ready to be timed at one support and width.

    Parameters
    ----------
    n
        Points of the support; their |alpha| are exponential.
    d
        Width of a row.

    """

    def __init__(self, n: int, d: int, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        p = rng.exponential(size=n)
        X = rng.standard_normal((n, d)).astype(np.float32)
        w = rng.standard_normal(d).astype(np.float32)
        drawn = rng.choice(n, size=_DRAWS, p=p / p.sum()).astype(np.uint32)
        self.loops: dict[str, dict[str, Call]] = {
            "normal": _normals(),
            "cosine": _cosines(rng.random(1024).astype(np.float32)),
            "index": _indices(p),
            "row": {
                "any width": partial(loops.rows_any_width, drawn, X, w),
                "its width": partial(loops.rows_of_width(d, widest=False), drawn, X, w),
                "its width, 512 bits": partial(loops.rows_of_width(d, widest=True), drawn, X, w),
            },
        }

    def calls(self) -> dict[str, Call]:
        """Every loop by `what: how`, for timing them beside others."""
        return {
            f"{what}: {how}": call
            for what, ways in self.loops.items()
            for how, call in ways.items()
        }

    def units(self, seconds: dict[str, float]) -> Units:
        """Read off the units from the calls' median seconds."""
        ns = {name: 1e9 * seconds[name] / _DRAWS for name in self.calls()}
        best: dict[str, str] = {}
        for what, ways in self.loops.items():
            best[what] = min(ways, key=lambda how: ns[f"{what}: {how}"])
        least = {what: ns[f"{what}: {how}"] for what, how in best.items()}
        growing = min(ns[f"index: {GUIDE}"], ns[f"index: {BISECTION}"])
        return Units(least["normal"], least["cosine"], least["index"], growing, least["row"], best)


def _normals() -> dict[str, Call]:
    bits, out, seed = np.zeros(256, np.uint64), np.zeros((2, 256), np.float32), np.uint64(1)
    return {
        "in registers": partial(loops.normals_summed, seed, _DRAWS),
        "one pass": partial(loops.normals_in_one_pass, seed, _DRAWS, out),
        "two passes": partial(loops.normals_in_two_passes, seed, _DRAWS, bits, out),
    }


def _cosines(u: NDArray[np.float32]) -> dict[str, Call]:
    repeats = _DRAWS // len(u)
    return {
        "in registers": partial(loops.cosines_summed, u, repeats),
        "written": partial(loops.cosines_written, u, np.zeros_like(u), repeats),
    }


def _indices(p: NDArray[np.float64]) -> dict[str, Call]:
    prefix, seed, out = np.cumsum(p), np.uint64(1), np.zeros(_DRAWS, np.uint32)
    aliases = loops.alias_table(p)
    return {
        "alias table": partial(loops.indices_by_alias, seed, aliases, out),
        "alias table, in registers": partial(loops.indices_by_alias_summed, seed, aliases, _DRAWS),
        GUIDE: partial(loops.indices_by_guide, seed, prefix, loops.guide_table(prefix), out),
        BISECTION: partial(loops.indices_by_bisection, seed, prefix, out),
    }


def measure(effort: Effort) -> list[Findings]:
    """Return the unit costs over support and width."""
    rows = []
    for n, d in product(effort.supports, effort.widths):
        machine = Machine(n, d)
        units = machine.units(medians(side_by_side(machine.calls(), effort.rounds, effort.block)))
        costs = {
            "normal": units.normal,
            "cosine": units.cosine,
            "index": units.index,
            "index, can grow": units.growing_index,
            "row": units.row,
        }
        rows.append({"support": n, "d": d, **costs, "best loops": ", ".join(units.best.values())})
    note = "hot_path.md had: " + "; ".join(f"{what} {ns}" for what, ns in HOT_PATH.items())
    return [Findings("Unit costs of this machine, ns", rows, note)]
