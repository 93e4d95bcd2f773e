"""The support: the points that carry f_t, their coefficients, draws and thinning."""

from abc import ABC, abstractmethod
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from iln_stream.learners.estimators.base import Estimate, EstimatorContext, Policy
from iln_stream.learners.estimators.finite_layer import FiniteLayer, layer_of
from iln_stream.state import StateDict, StateSchema

_BUCKETS_A_POINT = 2
_FEWEST_BUCKETS = 64


class Guide:
    """A guide table over prefix sums of |alpha|, which gives the start of a draw's search.

    The next draw updates it: in O(1) per added point, or by a rebuild when the number of points
    has about doubled. It is derived from the sums alone, so it is not part of any state.

    Half of the table is reserved for future points. A point so large that it fills the table alone
    does no harm: draws beyond the table take O(log n) time until it is rebuilt.
    """

    def __init__(self) -> None:
        # Imported on the first draw: numba takes a moment to import.
        from iln_stream.kernels import supports as guide

        self._kernels = guide
        self.table = np.empty(0, np.int32)
        self.origin = 0.0
        self.per_unit = 0.0
        self.clear()

    def clear(self) -> None:
        """Discard the table, because positions have changed."""
        self._made_of = 0
        self._made_at = self._covered = -1
        self._filled = 0

    def follow(self, prefix: NDArray[np.float64], first: int, last: int) -> None:
        """Cover positions first <= p < last, with prefix[last] > prefix[first]."""
        if last == self._covered:
            return
        joined = last - self._made_at
        full = self._filled == len(self.table) - 1
        if self._covered < 0 or joined > self._made_of or (full and 4 * joined > self._made_of):
            self._make(prefix, first, last)
        else:
            self._extend(prefix, self._covered, last)

    def draw(
        self, r: NDArray[np.float64], prefix: NDArray[np.float64], first: int, last: int
    ) -> NDArray[np.int64]:
        """Return the positions, shape (n,), of the shares r in [0, 1) of the sums followed."""
        p = np.empty(len(r), np.int64)
        self._kernels.positions(
            r.copy(), len(r), prefix, first, last, self.table, self.origin, self.per_unit, p
        )
        return p

    def _make(self, prefix: NDArray[np.float64], first: int, last: int) -> None:
        n = last - first
        buckets = max(_FEWEST_BUCKETS, 2 * _BUCKETS_A_POINT * n)
        if not buckets < len(self.table) <= 4 * buckets:
            self.table = np.empty(buckets + 1, np.int32)
        self.origin = float(prefix[first])
        # Bounded, because sums may be as small as the smallest double.
        self.per_unit = min(len(self.table) / 2 / float(prefix[last] - prefix[first]), 1e300)
        self._made_of, self._made_at, self._filled = max(n, _FEWEST_BUCKETS), last, 0
        self._extend(prefix, first, last)

    def _extend(self, prefix: NDArray[np.float64], first: int, last: int) -> None:
        self._filled = self._kernels.extend(
            prefix, first, last, self.table, self._filled, self.origin, self.per_unit
        )
        self._covered = last

    def __reduce__(self) -> tuple[Any, ...]:
        return Guide, ()


def thin_out(
    raw: NDArray[np.float64], target: int, policy: Policy, key: int, number: int
) -> NDArray[np.bool_]:
    """Return a mask of survivors, shape (n,), and raise the survivors' coefficients in place.

    Parameters
    ----------
    raw
        Coefficients, shape (n,), up to a common factor.
    target
        About how many points to keep: less than n, and at least 1.
    policy
        "smallest" keeps the largest, of equals the newest. "compress" keeps each with a
        probability ~ |raw_i|, and divides it by that probability; those large enough are kept
        unchanged. This preserves the expectation of sum_i raw_i Phi(x_i).
    key, number
        Seed the choice.

    """
    if policy == "smallest":
        return _largest(raw, target)
    return _compress(raw, target, np.random.Philox(key=key, counter=[0, 0, 1, number]))


def _largest(raw: NDArray[np.float64], target: int) -> NDArray[np.bool_]:
    size = np.abs(raw)
    least = np.partition(size, len(raw) - target)[len(raw) - target]
    stay: NDArray[np.bool_] = size > least
    equals = np.flatnonzero(size == least)
    stay[equals[len(equals) - (target - np.count_nonzero(stay)) :]] = True
    return stay


def _compress(raw: NDArray[np.float64], target: int, bits: np.random.Philox) -> NDArray[np.bool_]:
    # Imported when a support is first full: numba takes a moment to import.
    from iln_stream.kernels.supports import systematic, threshold

    stay: NDArray[np.bool_] = raw != 0.0
    if np.count_nonzero(stay) > target:
        tau = threshold(raw, target)
        start = np.random.Generator(bits).random()
        systematic(raw, tau, start, stay)
    return stay


_SCHEMA = StateSchema("iln_stream.Support", 1)
_FIRST_CAPACITY = 64
_RESUM_ABOVE = 1e6
_SCALES = 2.0**-200, 2.0**200
_AT_ONCE = 1 << 26
"""If a budget's rows hold at most this many numbers, they are allocated at once and never copied.
The system commits memory only to rows in use."""
_LINE = 16  # numbers of single precision in a cache line
_LANES = 8  # compiled code needs rows padded with zeros to a multiple of it


class Support:
    """Rows x_i with alpha_i, oldest first, ready for drawing i with probability ~ |alpha_i|.

    Rows, in single precision, never change their slot. Only small arrays are kept in order: for
    each point its slot, its coefficient without the common factor `scale`, so that a shrink is one
    product, and the prefix sums of the coefficients' sizes. A point is added at the end. "oldest"
    evicts at the front; other policies thin out the whole support when it is full. All updates
    take amortised O(1) time, a draw O(1), and with a budget all arrays are bounded.

    Parameters
    ----------
    budget
        The most points kept. None: all of them.
    policy
        Which points a full support evicts. "oldest": the oldest point. "smallest": the half with
        the smallest |alpha_i|. "compress": about half of the points, at random, preserving the
        expectation of f.
    key
        Seeds the randomness of "compress", which is a function of it and of the number of points
        ever added.

    Examples
    --------
    >>> import numpy as np
    >>> from iln_stream.learners.estimators.support import Support
    >>> support = Support(budget=2)
    >>> for x, alpha in ((1.0, 0.5), (2.0, -0.25), (3.0, 1.0)):
    ...     support.append(np.array([x]), alpha)
    >>> support.shrink(1 / 4)
    >>> support.rows(1).tolist(), support.alpha.tolist(), support.alpha_l1
    ([[2.0], [3.0]], [-0.0625, 0.25], 0.3125)

    """

    def __init__(self, budget: int | None = None, policy: Policy = "oldest", key: int = 0) -> None:
        self.budget = budget
        self.policy = policy
        self.key = key
        self.n_joined = 0
        self.width = 0  # columns of the widest point
        self.scale = 1.0
        self.first = 0
        self.last = 0
        capacity = self._positions(_FIRST_CAPACITY)
        self.entry = np.zeros(capacity, np.int32)  # a row's slot, or ~slot where alpha < 0
        self.raw = np.zeros(capacity)  # alpha = scale * raw
        self.prefix = np.zeros(capacity + 3)  # prefix[p + 1] = sum of |raw| up to p
        self.slots = np.zeros((0, 0), np.float32)
        self._free: NDArray[np.int32] = np.zeros(1, np.int32)  # freed slots
        self._n_free = 0
        self._n_slots = 0  # slots ever used
        self._guide: Guide | None = None

    def __len__(self) -> int:
        return self.last - self.first

    @property
    def alpha(self) -> NDArray[np.float64]:
        """Coefficients, shape (n,), oldest first."""
        return self.scale * self.raw[self.first : self.last]

    @property
    def alpha_l1(self) -> float:
        """||alpha||_1."""
        sums = self.prefix.item  # a Python float, in half the time
        return self.scale * (sums(self.last) - sums(self.first))

    def rows(self, d: int) -> NDArray[np.float64]:
        """Points, shape (n, d), oldest first.

        `d` may be more than any point had when it was added: missing columns are 0.
        """
        return self._rows_at(slice(self.first, self.last), d)

    def stored(self, d: int) -> NDArray[np.float32]:
        """Points as stored, oldest first, shape (n, d), or with fewer columns if no point has d."""
        slots = self._slots_at(slice(self.first, self.last))
        return self.slots[slots, : min(d, self.width)]

    def take(self, i: NDArray[np.intp], d: int) -> NDArray[np.float64]:
        """Points i, counted from the oldest, shape (len(i), d)."""
        return self._rows_at(self.first + i, d)

    def append(self, x: NDArray[np.float64], alpha: float) -> None:
        """Add (x, alpha); a full support evicts by its policy."""
        if self.policy == "oldest" and len(self) == self.budget:
            self._drop_oldest()
        if self.last == len(self.raw):
            self._make_room()
        slot = self._slot(len(x))
        row = self.slots[slot]
        row[: len(x)] = x
        row[len(x) :] = 0.0
        raw = alpha / self.scale
        p = self.last
        self.entry[p] = slot if raw >= 0 else ~slot
        self.raw[p] = raw
        self.prefix[p + 1] = self.prefix[p] + abs(raw)
        self.last += 1
        self.n_joined += 1
        if self.budget is not None and len(self) > self.budget:
            self._thin_out()

    def shrink(self, factor: float) -> None:
        """Multiply every alpha_i by `factor`, which is positive."""
        self.scale *= factor
        if not _SCALES[0] < self.scale < _SCALES[1]:
            self._rebase()

    def sample(self, m: int, rng: np.random.Generator) -> NDArray[np.intp]:
        """Draw m indices i, independent, with probability |alpha_i| / ||alpha||_1."""
        p = self._followed().draw(rng.random(m), self.prefix, self.first, self.last)
        return p - self.first

    def drawable(self) -> tuple[Any, ...]:
        """The arrays and numbers from which compiled code draws; ||alpha||_1 must not be 0."""
        guide = self._followed()
        return (
            self.prefix,
            self.first,
            self.last,
            self.entry,
            self.slots,
            guide.table,
            guide.origin,
            guide.per_unit,
        )

    def reweighed(self, alpha: NDArray[np.float64]) -> "Support":
        """Return the same points with new coefficients, shape (n,); there must be no budget."""
        if len(alpha) != len(self):
            raise ValueError(f"{len(alpha)} coefficients were given for {len(self)} points")
        assert self.budget is None
        support, n = Support(), len(self)
        support._resize_positions(max(n, _FIRST_CAPACITY))
        slots = self._slots_at(slice(self.first, self.last))
        support.entry[:n] = np.where(alpha < 0, ~slots, slots)
        support.raw[:n] = alpha
        support.last = support.n_joined = n
        # Rows are shared: no slot in use is written again, and the copy has no room for more.
        support.slots, support._n_slots = self.slots[: self._n_slots], self._n_slots
        support.width = self.width
        support._rebase()
        return support

    def state(self) -> StateDict:
        """Return the contents, without spare capacity."""
        window = slice(self.first, self.last)
        slots = self._slots_at(window)
        return _SCHEMA.write(
            budget=self.budget,
            policy=self.policy,
            key=self.key,
            n_joined=self.n_joined,
            scale=self.scale,
            first=self.first,
            rows=self.slots[slots, : self.width],
            raw=self.raw[window].copy(),
            prefix=self.prefix[self.first : self.last + 1].copy(),
        )

    def restore(self, state: StateDict) -> None:
        """Take the points of a state, with its budget, policy and key."""
        budget, policy, key, *content = _SCHEMA.read(
            state,
            "budget",
            "policy",
            "key",
            "n_joined",
            "scale",
            "first",
            "rows",
            "raw",
            "prefix",
        )
        Support.__init__(self, budget, policy, key)
        self._take_over(*content)

    __getstate__ = state
    __setstate__ = restore

    def _take_over(
        self,
        n_joined: int,
        scale: float,
        first: int,
        rows: NDArray[np.float32],
        raw: NDArray[np.float64],
        prefix: NDArray[np.float64],
    ) -> None:
        n, last = len(raw), first + len(raw)
        self.n_joined, self.scale = n_joined, scale
        self.width = rows.shape[1]
        if last > len(self.raw):
            self._resize_positions(self._positions(last))
        self.first, self.last = first, last
        self.raw[first:last] = raw
        self.prefix[first : last + 1] = prefix
        slots = np.arange(n, dtype=np.int32)
        self.entry[first:last] = np.where(raw < 0, ~slots, slots)
        if n:
            self.slots = self._slots_for(n, self.width)
            self.slots[:n, : self.width] = rows
        self._n_slots = n

    def _followed(self) -> Guide:
        if self._guide is None:
            self._guide = Guide()
        self._guide.follow(self.prefix, self.first, self.last)
        return self._guide

    def _rows_at(self, p: NDArray[np.intp] | slice, d: int) -> NDArray[np.float64]:
        slots = self._slots_at(p)
        rows = np.zeros((len(slots), d))
        columns = min(d, self.width)
        rows[:, :columns] = self.slots[slots, :columns]
        return rows

    def _slots_at(self, p: NDArray[np.intp] | slice) -> NDArray[np.int32]:
        entry = self.entry[p]
        slots: NDArray[np.int32] = np.where(entry < 0, ~entry, entry)
        return slots

    def _slot(self, d: int) -> int:
        if d > self.slots.shape[1]:
            n = max(len(self.slots), 1)
            # With spare columns, so that names arriving one by one don't copy all rows each time.
            self._move_rows(n, d if self.width == 0 else d + d // 4)
        self.width = max(self.width, d)
        if self._n_free:
            self._n_free -= 1
            return int(self._free[self._n_free])
        if self._n_slots == len(self.slots):
            self._move_rows(max(_FIRST_CAPACITY, 2 * self._n_slots), self.slots.shape[1])
        self._n_slots += 1
        return self._n_slots - 1

    def _move_rows(self, n: int, d: int) -> None:
        slots = self._slots_for(n, d)
        slots[: len(self.slots), : self.slots.shape[1]] = self.slots
        self.slots = slots

    def _slots_for(self, n: int, d: int) -> NDArray[np.float32]:
        stride = -(-d // _LANES) * _LANES
        if self.budget is not None and (self.budget + 1) * stride <= _AT_ONCE:
            n = self.budget + 1
        return _aligned(n, stride)

    def _positions(self, wanted: int) -> int:
        """Number of positions to allocate: bounded for a support with a budget."""
        if self.budget is None:
            return wanted
        most = 2 * self.budget + 1 if self.policy == "oldest" else self.budget + 1
        return min(wanted, max(most, _FIRST_CAPACITY))

    def _make_room(self) -> None:
        capacity = self._positions(max(_FIRST_CAPACITY, 2 * len(self.raw)))
        if capacity > len(self.raw):
            self._resize_positions(capacity)
        else:
            self._rebase()

    def _resize_positions(self, capacity: int) -> None:
        self.entry = _resized(self.entry, capacity)
        self.raw = _resized(self.raw, capacity)
        self.prefix = _resized(self.prefix, capacity + 3)

    def _drop_oldest(self) -> None:
        entry = int(self.entry[self.first])
        self._free[0] = entry if entry >= 0 else ~entry  # the new point takes it at once
        self._n_free = 1
        self.first += 1
        # Evicted sums must not swamp the digits of those kept (one alpha of 1e15 would).
        stays = self.prefix[self.last] - self.prefix[self.first]
        if self.prefix[self.first] > _RESUM_ABOVE * stays:
            self._rebase()

    def _thin_out(self) -> None:
        assert self.budget is not None
        # Imported when a support is first full: numba takes a moment to import.
        from iln_stream.kernels.supports import close_gaps

        raw = self.raw[self.first : self.last]
        stay = thin_out(raw, (self.budget + 1) // 2, self.policy, self.key, self.n_joined)
        # Room for all, and one more slot, which is written before the choice is known.
        free = np.empty(len(self.slots) + 1, np.int32)
        free[: self._n_free] = self._free[: self._n_free]
        n = close_gaps(stay, self.first, self.entry, self.raw, free, self._n_free)
        self._n_free += len(stay) - n
        self._free = free
        self.first, self.last = 0, n
        self._rebase()

    def _rebase(self) -> None:
        """Reset positions, scale and sums, before any of them grows too large."""
        n = len(self)
        window = slice(self.first, self.last)
        self.raw[:n] = self.scale * self.raw[window]
        self.entry[:n] = self.entry[window]
        self.prefix[0] = 0.0
        np.cumsum(np.abs(self.raw[:n]), out=self.prefix[1 : n + 1])
        self.first, self.last, self.scale = 0, n, 1.0
        if self._guide is not None:
            self._guide.clear()


def _aligned(n: int, stride: int) -> NDArray[np.float32]:
    """Return zeros, shape (n, stride), aligned so that rows span as few cache lines as possible."""
    block = np.zeros(n * stride + _LINE, np.float32)
    skipped = -block.__array_interface__["data"][0] // block.itemsize % _LINE
    return block[skipped : skipped + n * stride].reshape(n, stride)


def _resized(array: NDArray[Any], n: int) -> NDArray[Any]:
    larger = np.zeros(n, array.dtype)
    larger[: len(array)] = array
    return larger


_SUPPORTED_SCHEMA = StateSchema("iln_stream.Supported", 1)

_UNITS = 1024
"""Number of units of a finite layer, if not given."""

_LATEST = 100
"""Number of points at which a finite layer's error is estimated."""


class Supported(ABC):
    """Support points with their alphas; a subclass estimates."""

    def __init__(self, given: EstimatorContext) -> None:
        self.support = Support(given.budget, given.policy, int(given.key[1]))
        self._features = given.features
        self._key = given.key

    @property
    def alpha_l1(self) -> float:
        return self.support.alpha_l1

    @property
    def n_support(self) -> int:
        return len(self.support)

    @property
    def draws_wanted(self) -> float | None:
        return None

    def noise(self, draws: int) -> float:
        """Return 0, unless a subclass knows a tight bound."""
        return 0.0

    @abstractmethod
    def estimate(self, x: NDArray[np.float64], t: int) -> Estimate:
        """Return E at x, shape (d,), with the randomness of event t."""

    def append(self, x: NDArray[np.float64], alpha: float) -> None:
        """Add x to the support."""
        self.support.append(x, alpha)

    def shrink(self, factor: float) -> None:
        self.support.shrink(factor)

    def reweighed(self, alpha: NDArray[np.float64]) -> Self:
        """Return sum_i alpha_i Phi(x_i) over the same points with new alpha, shape (n,).

        There must be no budget.
        """
        iterate = copy(self)
        iterate.support = self.support.reweighed(alpha)
        return iterate

    def finite_layer(
        self, size: int | None, d: int, rng: np.random.Generator
    ) -> tuple[FiniteLayer, NDArray[np.float64]]:
        """Return f over fresh units, weights_r = sum_i alpha_i psi(x_i; w_r) / R, in O(n R d) time.

        And the latest points, at which to estimate the error due to the finite R.
        """
        size = _UNITS if size is None else size
        if size < 2 or size != int(size):
            raise ValueError(f"size = {size!r} must be a whole number of units, at least 2")
        w = self._features.draw(size, d, rng)
        theta = np.zeros(size)
        X = self.support.rows(d)
        for x, alpha in zip(X, self.support.alpha, strict=True):
            theta += alpha * self._features.psi(x, w)
        return layer_of(self._features, w, theta / size, d), X[-_LATEST:].copy()

    def state(self) -> StateDict:
        """Return the support's state."""
        return _SUPPORTED_SCHEMA.write(support=self.support.state())

    def restore(self, state: StateDict) -> None:
        """Take the support of a state."""
        (support,) = _SUPPORTED_SCHEMA.read(state, "support")
        self.support.restore(support)

    def rng(self, t: int) -> np.random.Generator:
        """The randomness of event t: its own segment, 2^192 long, of one counter-based stream."""
        counter = np.array([0, 0, 0, t], dtype=np.uint64)
        return np.random.Generator(np.random.Philox(key=self._key, counter=counter))
