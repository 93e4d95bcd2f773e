import numpy as np
import pytest

from iln_stream.learners.infinite_layer.inputs import Inputs


def standardised(inputs, x):
    """The standardised row of x, by name."""
    row, z = np.zeros(len(inputs)), np.zeros(len(inputs))
    inputs.standardise(inputs.row(x), row, z)
    return dict(zip(inputs.columns.place, z.tolist(), strict=True))


def learned(values):
    """Inputs that have learned these events."""
    inputs = Inputs(100)
    for x in values:
        inputs.join(inputs.admit(x), 0)
    return inputs


@pytest.mark.parametrize("offset", [0.0, 1e9])
def test_standardises(offset):
    """Scale and offset are taken away, and the statistics include the event's own value."""
    rng = np.random.default_rng(0)
    values = (offset + 5.0 * rng.normal(size=500)).tolist()
    inputs = learned({"a": v} for v in values[:-1])
    z = (values[-1] - np.mean(values)) / np.std(values)
    assert standardised(inputs, {"a": values[-1]})["a"] == pytest.approx(z, abs=1e-4)


def test_constant_is_zero_even_far_away():
    """A constant column is 0, rounding of 1e9 + .1 notwithstanding, and so is a first value."""
    inputs = learned({"a": 1e9 + 0.1, "b": 0.1} for _ in range(100))
    assert standardised(inputs, {"a": 1e9 + 0.1, "b": 0.1}) == {"a": 0.0, "b": 0.0}


def test_outliers_move_the_statistics_by_a_bounded_amount():
    """One value of 1e12 is within +-5, and the next ordinary value is where it was."""
    rng = np.random.default_rng(0)
    values = [{"a": v} for v in rng.normal(size=1_000).tolist()]
    inputs = learned(values)
    before = standardised(inputs, {"a": 1.0})["a"]
    assert standardised(inputs, {"a": 1e12})["a"] == 5.0
    inputs.join(inputs.admit({"a": 1e12}), 0)
    assert standardised(inputs, {"a": 1.0})["a"] == pytest.approx(before, abs=0.05)


def test_absent_is_zero_where_zero_is_ordinary():
    """An absent indicator is 0, and so distinct from a present one."""
    inputs = learned({"sky=clear": 1.0} if k % 2 else {"rain": float(k % 3)} for k in range(100))
    assert standardised(inputs, {})["sky=clear"] < -0.5 < 0.5
    assert standardised(inputs, {"sky=clear": 1.0})["sky=clear"] > 0.5


def test_absent_is_unknown_far_from_zero():
    """A pressure around 1000 that is absent was not measured: it is 0 deviations from its mean."""
    inputs = learned({"pressure": 1000.0 + k % 7} for k in range(100))
    before = inputs.stats.copy()
    assert standardised(inputs, {})["pressure"] == 0.0
    inputs.join(inputs.admit({}), 0)
    assert (inputs.stats == before).all()


def test_inputs_have_changed_once_half_of_them_have():
    """One column of four that changes again and again does not stop what waits after changes."""
    inputs = Inputs(16)
    rng = np.random.default_rng(0)
    for n in range(2_000):
        levels = [100.0 * (n // 300 % 2), *(3 * [1e4 if n >= 1_500 else 0.0])]
        inputs.join(inputs.admit(dict(zip("abcd", rng.normal(size=4) + levels, strict=True))), n)
        if n == 1_499:
            assert inputs.changed_at == 0
    assert 1_500 <= inputs.changed_at < 1_600
