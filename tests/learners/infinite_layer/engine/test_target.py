import numpy as np
import pytest

from iln_stream.compiled.target import scaled
from iln_stream.learners.infinite_layer.engine.target import Target


def test_a_wild_target_counts_as_one_at_six_deviations():
    """A unit is three deviations, and targets beyond two units are clipped to two."""
    target = Target()
    ys = np.random.default_rng(0).normal(5.0, 2.0, size=1_000)
    for y in ys.tolist():
        target.join(y)
    assert target.unit == pytest.approx(3.0 * ys.std(), rel=1e-6)
    assert target.scaled(ys.mean() + 4.5 * ys.std()) == pytest.approx(1.5)
    assert [target.scaled(y) for y in (1e9, -1e9)] == [2.0, -2.0]
    assert [scaled(y, 5.0, 6.0) for y in (14.0, 1e9, -1e9)] == [1.5, 2.0, -2.0]
