"""Eight kinds of streams without end, each event a function of the seed and the event's number."""

import zlib
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]
Draw = Callable[[int], np.random.Generator]
"""Returns the random numbers with this number; each chunk of events has its own."""

AT_ONCE = 1_000
"""Events of a chunk."""

_CUTS = -0.5, 0.5
"""Where a target's unscaled values become the next class."""


class Rows(NamedTuple):
    """A chunk of events: inputs (n, d), unscaled target (n,), a category (n,) if the kind has one.

    The unscaled target mostly lies within +-2.
    """

    X: Array
    u: Array
    category: Numbers | None = None


class Kind(NamedTuple):
    """A kind of stream.

    Parameters
    ----------
    description
        For the documents.
    rows
        From random numbers and the numbers of the events of a chunk, shape (AT_ONCE,), to rows.
    stationary
        Whether all events have the same law: errors should not rise.
    center, unit
        The target is center + unit u.

    """

    description: str
    rows: Callable[[Draw, Numbers], Rows]
    stationary: bool = False
    center: float = 50.0
    unit: float = 10.0


class Chunk(NamedTuple):
    """A chunk of events: inputs by name, targets, and classes made of the targets."""

    xs: list[dict[str, float]]
    ys: list[float]
    classes: list[str]


def chunks(name: str, seed: int, first: int = 0) -> Iterator[Chunk]:
    """Yield chunks without end, from event `first` on, a multiple of `AT_ONCE`."""
    kind = KINDS[name]
    for number in range(first // AT_ONCE, 2**40):
        t = np.arange(number * AT_ONCE, (number + 1) * AT_ONCE)
        X, u, category = kind.rows(lambda n: _numbers(name, seed, n), t)
        names = [f"x{j}" for j in range(X.shape[1])]
        xs = [dict(zip(names, row, strict=True)) for row in X.tolist()]
        if category is not None:
            for x, value in zip(xs, category.tolist(), strict=True):
                x[f"category={value}"] = 1.0
        classes = np.array(["low", "middle", "high"])[np.searchsorted(_CUTS, u)]
        yield Chunk(xs, (kind.center + kind.unit * u).tolist(), classes.tolist())


def _numbers(name: str, seed: int, number: int) -> np.random.Generator:
    key = np.array([seed, zlib.crc32(name.encode())], np.uint64)
    return np.random.Generator(np.random.Philox(key=key, counter=[0, 0, number, 0]))


def _network(name: str, d: int, units: int = 12) -> Callable[[Array], Array]:
    """Return a smooth function of d standard normal inputs, of about unit variance."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    W, b, a = rng.normal(size=(d, units)), rng.normal(size=units), rng.normal(size=units)
    W, a = 1.5 * W / np.sqrt(d), 1.5 * a / np.linalg.norm(a)
    return lambda X: np.tanh(X @ W + b) @ a


def _smooth(draw: Draw, t: Numbers) -> Rows:
    rng = draw(t[0] // AT_ONCE)
    X = rng.normal(size=(len(t), 8))
    return Rows(X, _SMOOTH(X) + 0.1 * rng.normal(size=len(t)))


def _rough(draw: Draw, t: Numbers) -> Rows:
    rng = draw(t[0] // AT_ONCE)
    X = rng.uniform(-1.0, 1.0, size=(len(t), 6))
    corner = (X[:, 2] > 0.3) & (X[:, 3] < 0.2)
    u = np.sign(X[:, 0]) * np.abs(X[:, 1]) + 1.5 * corner - 0.5 * np.floor(2.0 * X[:, 4])
    return Rows(X, u - 0.5 + 0.1 * rng.normal(size=len(t)))


def _still(draw: Draw, t: Numbers) -> Rows:
    """5,000 of 10,000 events repeat one event; so do 100,000 of 300,000."""
    first = t[0]
    if first // 100_000 % 3 == 2:
        start = first - first % 100_000
    elif first % 10_000 >= 5_000:
        start = first - first % 5_000
    else:
        start = None
    rng = draw((first if start is None else start) // AT_ONCE)
    X = rng.normal(size=(len(t), 6))
    u = _STILL(X) + 0.1 * rng.normal(size=len(t))
    if start is not None:
        X[:], u[:] = X[0], u[0]
    return Rows(X, u)


def _collinear(draw: Draw, t: Numbers) -> Rows:
    rng = draw(t[0] // AT_ONCE)
    Z = rng.normal(size=(len(t), 3))
    a, b, c = Z.T
    constant = np.ones(len(t))
    X = np.column_stack([a, b, c, 7.0 * constant, 0.0 * constant, 2 * a - 3 * b + 5, a, 1e-3 * c])
    return Rows(X, _COLLINEAR(Z) + 0.1 * rng.normal(size=len(t)))


_CATEGORIES = (
    (0, None), (0, None), (0, 2_000), (0, 40_000),
    (1_000, None), (3_000, 200_000), (30_000, None), (300_000, None),
)  # fmt: skip
"""First event of each category, and the first without it."""


def _one_hot(draw: Draw, t: Numbers) -> Rows:
    """Only the category's own column is present, as in events of the service."""
    rng = draw(t[0] // AT_ONCE)
    X = rng.normal(size=(len(t), 3))
    present = [
        c
        for c, (begin, end) in enumerate(_CATEGORIES)
        if begin <= t[0] and (end is None or t[0] < end)
    ]
    category = np.array(present)[rng.integers(0, len(present), len(t))]
    u = np.linspace(-1.5, 1.5, len(_CATEGORIES))[category] + 0.5 * np.sin(X[:, 0] + category)
    return Rows(X, u + 0.1 * rng.normal(size=len(t)), category)


def _bursting(draw: Draw, t: Numbers) -> Rows:
    """3,800 quiet events, then 200 up to a thousand times as large."""
    rng = draw(t[0] // AT_ONCE)
    burst = t % 4_000 >= 3_800
    size = np.where(burst, 10.0 ** rng.uniform(0.0, 2.0), 0.1)
    X = rng.normal(size=(len(t), 6))
    u = size * (_BURSTING(X) + 0.1 * rng.normal(size=len(t)))
    return Rows(np.sqrt(size)[:, np.newaxis] * X, u)


def _drifting(draw: Draw, t: Numbers) -> Rows:
    """The function turns once in 200,000 events, and changes its inputs every 7,500."""
    rng = draw(t[0] // AT_ONCE)
    X = rng.normal(size=(len(t), 6))
    angle = 2.0 * np.pi * t / 200_000
    moved = np.take_along_axis(X, (np.arange(6) + (t // 7_500 % 3)[:, np.newaxis]) % 6, axis=1)
    u = np.cos(angle) * _DRIFTING(moved) + np.sin(angle) * np.sin(2.0 * moved[:, 0]) * moved[:, 1]
    return Rows(X, u + 0.1 * rng.normal(size=len(t)))


def _heavy(draw: Draw, t: Numbers) -> Rows:
    """Cauchy noise; a timestamp, an input at 1e9 and one with heavy tails among the inputs."""
    rng = draw(t[0] // AT_ONCE)
    Z = rng.normal(size=(len(t), 4))
    tails = rng.standard_t(2.0, size=len(t))
    X = np.column_stack([Z, 1e9 + Z[:, 3] + rng.normal(size=len(t)), tails, 1.76e9 + t])
    return Rows(X, _HEAVY(Z) + 0.2 * np.tanh(tails) + 0.05 * rng.standard_cauchy(size=len(t)))


_SMOOTH = _network("smooth", 8)
_STILL = _network("still", 6)
_COLLINEAR = _network("collinear", 3)
_BURSTING = _network("bursting", 6)
_DRIFTING = _network("drifting", 6)
_HEAVY = _network("heavy", 4)

KINDS = {
    "smooth": Kind("a network of 12 tanh units of 8 inputs, noise", _smooth, stationary=True),
    "rough": Kind("steps, corners and kinks of 5 of 6 inputs, noise", _rough, stationary=True),
    "collinear": Kind(
        "3 inputs, two constant ones, three linear functions of the others",
        _collinear,
        stationary=True,
    ),
    "still": Kind("6 inputs; half the time one event is repeated, up to 100,000 times", _still),
    "one-hot": Kind("3 inputs and a category: four of eight values come late, three go", _one_hot),
    "bursting": Kind(
        "6 inputs; 3,800 quiet events, then 200 up to a thousand times as large", _bursting
    ),
    "drifting": Kind("6 inputs; turns slowly, changes its inputs every 7,500 events", _drifting),
    "heavy-tailed": Kind(
        "Cauchy noise; a timestamp, an input at 1e9 and Student-t(2) among 7 inputs",
        _heavy,
        center=1e6,
        unit=1.0,
    ),
}
"""The streams, by id."""
