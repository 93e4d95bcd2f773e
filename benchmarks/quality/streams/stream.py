"""A stream of the suite: an id that always has the same events."""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

Event = tuple[dict[str, float], Any]
"""Inputs by name, and the target: a number, or the label of a class."""

Group = Literal["ten", "files", "held-out", "held-out-2", "classes"]

N_IN_CHECKSUM = 20


@dataclass(frozen=True)
class Stream:
    """A stream with a permanent id: to change its events is to give it a new one.

    Parameters
    ----------
    id
        Its name in stored results.
    group
        Which set it belongs to. Nothing about a held-out stream may enter a learner's design.
    about
        What it is, for the documentation.
    make
        Yields its events from the first on, the same each time. Strings among the inputs are not
        encoded yet.
    limit
        How many of them are used; None: all.
    checksum
        `checksum(events)`.

    """

    id: str
    group: Group
    about: str
    make: Callable[[], Iterable[tuple[Mapping[Any, Any], Any]]]
    checksum: str
    limit: int | None = None

    def events(self) -> list[Event]:
        """Return all events; every input is a number and is present in every event."""
        raw = list(islice(self.make(), self.limit))
        encoded = _one_hot([x for x, _ in raw])
        return list(zip(encoded, (y for _, y in raw), strict=True))


def checksum(events: list[Event]) -> str:
    """Return a digest of the number of events and of some twenty spread evenly among them.

    Ten significant digits enter, since the last bits of a sine are the platform's.
    """
    digest = hashlib.sha256(str(len(events)).encode())
    for x, y in events[:: max(1, len(events) // N_IN_CHECKSUM)]:
        cells = [f"{name}={value:.10g}" for name, value in x.items()]
        target = y if isinstance(y, str) else f"{y:.10g}"
        digest.update(";".join([*cells, target]).encode())
    return digest.hexdigest()[:16]


def _one_hot(rows: list[Mapping[Any, Any]]) -> list[dict[str, float]]:
    """A column for each value that a string takes anywhere in the stream, 0 where it is another.

    Scalers that know a column only from its ones would call it constant.
    """
    values: dict[str, set[str]] = {}
    for row in rows:
        for name, value in row.items():
            if isinstance(value, str):
                values.setdefault(str(name), set()).add(value)
    ordered = {name: sorted(found) for name, found in values.items()}
    encoded = []
    for row in rows:
        x: dict[str, float] = {}
        for key, value in row.items():
            name = str(key)
            if name in ordered:
                x.update({f"{name}={v}": float(v == value) for v in ordered[name]})
            else:
                x[name] = float(value)
        encoded.append(x)
    return encoded
