"""What a record must show: finite predictions, no reset, errors that do not rise, flat memory."""

from typing import Any, NamedTuple

from benchmarks.endurance.cell import Cell
from benchmarks.endurance.learners import LEARNERS
from benchmarks.endurance.streams import KINDS

RISE = 0.1
"""An error may exceed the smallest error of an earlier decade by this part of it."""

FIRST_DECADE = 1_000
"""Decades are compared from the one that ends here: earlier ones are a few events."""

SETTLED = 200_000
"""Events after which memory must be flat: rings and pools are full, and two snapshots were taken,
whose buffers the process keeps. Half of a shorter run."""

RESIDENT_GROWTH = 6.0
"""MiB that the process may grow by after that."""

BLOCK_GROWTH = 0.1
"""Python's small objects that an event may leave behind, on average."""

STATE_GROWTH = 0.02
"""Part by which the state's bytes may grow after that, in the second half of a run."""


class Verdict(NamedTuple):
    """Reasons why a record fails; empty if it passes."""

    finite: str = ""
    resets: str = ""
    rising: str = ""
    memory: str = ""

    @property
    def passes(self) -> bool:
        """Whether there are no reasons."""
        return not any(self)


def verdict(cell: Cell, record: dict[str, Any]) -> Verdict:
    """Judge a record."""
    if "failed" in record:
        return Verdict(finite=record["failed"])
    return Verdict(
        finite(cell, record),
        resets(record),
        rising(record) if KINDS[cell.stream].stationary else "",
        "" if LEARNERS[cell.learner].keeps_all else growing(record),
    )


def finite(cell: Cell, record: dict[str, Any]) -> str:
    """Say how many predictions are not finite, and which is the first."""
    n = cell.events - record["n_finite"]
    return f"{n:,} not finite, the first at event {record['first_not_finite']}" if n else ""


def resets(record: dict[str, Any]) -> str:
    """Say how many parts were replaced because they broke, though every prediction is finite."""
    return f"{record['n_reset']} parts reset" if record["n_reset"] else ""


def rising(record: dict[str, Any]) -> str:
    """Say in which decade the mean or median error exceeds that of an earlier decade.

    Means are compared as multiples of the running mean's error in the decade.
    """
    for name, base in (("mean", "base_mean"), ("median", "base_median")):
        smallest = None
        for decade in record["decades"]:
            if decade["end"] < FIRST_DECADE:
                continue
            if decade[name] is None:
                return f"no {name} error up to {decade['end']:,}"
            ratio = decade[name] / decade[base]
            if smallest is not None and ratio > (1.0 + RISE) * smallest:
                return (
                    f"{name} error {ratio:.3g} of the running mean's up to {decade['end']:,}, "
                    f"before {smallest:.3g}"
                )
            smallest = ratio if smallest is None else min(smallest, ratio)
    return ""


def growing(record: dict[str, Any]) -> str:
    """Say by how much memory grew once it should be flat."""
    growth = growth_of(record)
    if growth is None:
        return "not measured: the run was interrupted too often"
    mib, blocks = growth
    if mib > RESIDENT_GROWTH:
        return f"{mib:.1f} MiB more"
    if blocks > BLOCK_GROWTH:
        return f"{blocks:.2g} objects more an event"
    readings = record["state_bytes"]
    half = readings[-1][0] / 2 if readings else 0  # in the first half, columns still come
    sizes = [size for n, size in readings if n >= max(SETTLED, half)]
    if sizes and sizes[-1] > (1.0 + STATE_GROWTH) * sizes[0]:
        return f"the state grew from {sizes[0]:,} to {sizes[-1]:,} bytes"
    return ""


def growth_of(record: dict[str, Any]) -> tuple[float, float] | None:
    """Return MiB of growth and objects per event after memory settled, in the last process.

    None if the process took too few events after that.
    """
    n = record["memory"][-1][0]
    began = record["resumed"][-1] if record["resumed"] else 0
    settled = began + min(SETTLED, (n - began) // 2)
    readings = [reading for reading in record["memory"] if reading[0] >= settled]
    if len(readings) < 2 or (began and n - began < SETTLED):
        return None
    (first, _, blocks), (last, last_mib, last_blocks) = readings[0], readings[-1]
    # The most until then: what was given back for a while and is taken again is no growth.
    mib = max(mib for n, mib, _ in record["memory"] if began < n <= first)
    return last_mib - mib, (last_blocks - blocks) / (last - first)
