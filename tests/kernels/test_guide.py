import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iln_stream.kernels.supports import extend, positions


class Drawn:
    """Sums with a guide table that covers some of them."""

    def __init__(self, weights, first, buckets):
        self.prefix = np.concatenate([[0.0], np.cumsum(weights)])
        self.first, self.covered, self.filled = first, first, 0
        self.table = np.full(buckets + 1, 10**6, np.int32)
        self.origin, self.per_unit = float(self.prefix[first]), 1.0

    def cover(self, last, of_the_table=0.5):
        """Add positions to the table; the first call decides how many sums fill it."""
        if self.filled == 0:
            total = float(self.prefix[last]) - self.origin
            self.per_unit = of_the_table * (len(self.table) - 1) / total
        self.filled = extend(
            self.prefix, self.covered, last, self.table, self.filled, self.origin, self.per_unit
        )
        self.covered = last

    def check(self, shares):
        """The positions of these shares are those of a search through all sums."""
        u, n, last = np.array(shares), len(shares), self.covered
        p = np.full(n, -1)
        positions(
            u, n, self.prefix, self.first, last, self.table, self.origin, self.per_unit, p
        )  # fmt: skip
        low, high = self.prefix[self.first], self.prefix[last]
        assert u == pytest.approx(np.minimum(low + np.array(shares) * (high - low), high))
        assert (u < high).all()
        assert p.tolist() == (np.searchsorted(self.prefix[: last + 1], u, "right") - 1).tolist()


SHARES = [*np.linspace(0.0, 1.0, 64, endpoint=False), 1.0 - 2.0**-40, 1.0 - 2.0**-53]


@settings(deadline=None, max_examples=80)  # the first call compiles
@given(
    st.lists(st.sampled_from([0.0, 0.0, 1.0, 1.0, 3.0, 64.0, 1e-9, 1e6]), min_size=2, max_size=40),
    st.data(),
)
def test_draws_are_those_of_a_search(weights, data):
    """Each share of the sums falls to the position that a search finds.

    Whatever the weights, zeros too, and however the table came to cover them, or came to its end.
    """
    weights = [2.0, *weights]
    first = data.draw(st.integers(0, len(weights) - 1))
    weights[first] = 2.0  # some share is there to draw
    drawn = Drawn(weights, first, data.draw(st.sampled_from([1, 4, 64])))
    for last in sorted(data.draw(st.sets(st.integers(first + 1, len(weights)), min_size=1))):
        drawn.cover(last)
        drawn.check(SHARES)


@pytest.mark.parametrize("joining", [1, 500])
def test_many_beyond_the_table(joining):
    """Sums that outgrow the table a hundredfold are found, whether added singly or at once."""
    rng = np.random.default_rng(0)
    drawn = Drawn(rng.exponential(size=1_000), 0, 64)
    drawn.cover(10)
    for last in range(10 + joining, 1_001, joining):
        drawn.cover(last)
    drawn.check(rng.random(1_000))


@settings(deadline=None, max_examples=80)
@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=40),
    st.sampled_from([0.125, 1.0, 4.0]),
    st.sets(st.integers(1, 40)),
)
def test_table_tells_where_a_search_starts(weights, per_unit, ends):
    """table[b] is the first position whose end lies in bucket b or beyond, however it was made."""
    drawn = Drawn([1.0, *weights], 0, 16)
    drawn.per_unit = per_unit
    for last in sorted({*(end for end in ends if end <= len(weights)), len(weights) + 1}):
        drawn.filled = extend(
            drawn.prefix, drawn.covered, last, drawn.table, drawn.filled, 0.0, per_unit
        )
        drawn.covered = last
        buckets = np.minimum(drawn.prefix[1 : last + 1] * per_unit, 15).astype(int)
        assert drawn.filled == buckets[-1] + 1
        starts = np.searchsorted(buckets, np.arange(drawn.filled))
        assert drawn.table[: drawn.filled].tolist() == starts.tolist()


def test_one_position():
    """A single position gets all shares, and zero draws are possible."""
    drawn = Drawn([5.0, 3.0, 7.0], 1, 4)
    drawn.cover(2)
    drawn.check(SHARES)
    drawn.check([])
