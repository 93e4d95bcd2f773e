import numpy as np
import pytest

from iln_stream.kernels.regression_event import join_target, scaled
from iln_stream.learners.infinite_layer.target import Target


def test_a_unit_is_three_deviations():
    """Of the targets so far, about their mean; a target beyond two units is clipped to two."""
    target = Target()
    assert (target.center, target.unit) == (0.0, 1.0)
    ys = np.random.default_rng(0).normal(5.0, 2.0, size=1_000)
    for y in ys.tolist():
        join_target(y, target.stats, 0)
    assert target.center == pytest.approx(ys.mean())
    assert target.unit == pytest.approx(3.0 * ys.std(), rel=1e-6)
    assert [scaled(y, 5.0, 6.0) for y in (14.0, 1e9, -1e9)] == [1.5, 2.0, -2.0]
