import numpy as np
import pytest

from iln_stream.kernels.mixing import WEIGHT
from iln_stream.kernels.plain_forecasts import (
    COUNT,
    COUNTS_FROM,
    DIFFERENCE,
    FEW,
    FINAL,
    INDICATORS,
    KNOWN,
    LAST,
    LEADER,
    LINEAR,
    N_FORECASTS,
    OWN,
    PENALTIES,
    PERIOD,
    RING,
    SEASONAL,
    bounded_target,
    learn_forecasts,
    least_squares,
)
from iln_stream.learners.infinite_layer.plain_forecasts import PlainForecasts

SCALE = 0.0, 3.0


def learned(ys, rows=None, own=0.0, part=None, scale=SCALE):
    """The part, and its mixtures before each target was learned."""
    part = part or PlainForecasts(0 if rows is None else rows.shape[1])
    rows = np.zeros((len(ys), 0)) if rows is None else rows
    found = []
    for row, y in zip(rows, ys, strict=True):
        found.append(part.predict(row, own, *scale))
        learn_forecasts(row, float(y), 1.0, *scale, part.array, part.n_columns, False)
    return part, np.array(found)


def test_least_squares_are_those_of_all_events():
    """Weighted ridge regression, solved at once, has the same weights."""
    rng = np.random.default_rng(0)
    X, theta, P = rng.normal(size=(60, 8)), np.zeros(8), np.eye(8) / 0.1
    y, w = X @ rng.normal(size=8) + rng.normal(size=60), rng.random(60) + 0.1
    for x, t, weight in zip(X, y, w, strict=True):
        least_squares(theta, P, x, t - theta @ x, weight, np.zeros(8))
    gram = X.T @ (w[:, None] * X) + 0.1 * np.eye(8)
    assert theta == pytest.approx(np.linalg.solve(gram, X.T @ (w * y)), rel=1e-9)
    assert pytest.approx(np.linalg.inv(gram), abs=1e-9) == P


def test_forecasts_are_what_they_are_called():
    """After a line along the first input: the last target, the two least squares, and a mixture."""
    rows = np.column_stack([np.arange(300.0), np.random.default_rng(0).normal(size=300)])
    part, _ = learned(5.0 + 2.0 * rows[:-1, 0], rows[:-1])
    part.predict(rows[-1], 7.0, *SCALE)
    p = part._look[:N_FORECASTS]
    assert (p[OWN], p[LAST]) == (7.0, 601.0)
    assert p[[DIFFERENCE, LINEAR]] == pytest.approx([603.0, 603.0], abs=0.05)
    assert p[LEADER] == pytest.approx(603.0, abs=0.05)
    assert part._look[FINAL] == pytest.approx(part.weights(*SCALE) @ p, rel=1e-12)


@pytest.mark.parametrize("period", [2, 7, 24, 512])
def test_a_period_is_found(period):
    """Also where the ring of targets begins again; SEASONAL then is what came one period ago."""
    shape = np.random.default_rng(0).normal(size=period)
    y = shape[np.arange(RING + 3 * period) % period]
    part, _ = learned(y[:-1])
    assert part.record[PERIOD] == period
    part.predict(np.zeros(0), 0.0, *SCALE)
    assert part._look[SEASONAL] == pytest.approx(y[-1], abs=1e-9)


def test_noise_has_no_period():
    """Differences of independent targets resemble none."""
    part, _ = learned(np.random.default_rng(0).normal(size=1500))
    assert part.record[PERIOD] == 0


@pytest.mark.parametrize(
    ("targets", "reached"),
    [
        ([1e300], [6.0]),
        ([1e6, 0.0, 1e6], [6.0, 0.0, 6.0]),
        ([1e150, 1e150], [6.0, 24.0]),
        ([-1e150] * 4, [-6.0, -24.0, -96.0, -384.0]),
        ([20.0, 20.0, 0.0, 20.0], [6.0, 20.0, 0.0, 20.0]),  # a level that was seen counts at once
        ([1e6, -1e6], [6.0, -6.0]),
    ],
)
def test_outliers_count_as_far_as_a_run_has_reached(targets, reached):
    """One target counts within 6 sd; each further one of a run four times further."""
    part, _ = learned(np.zeros(20))
    record = part.record
    record[COUNT] = 20
    assert [bounded_target(y, *SCALE, record) for y in targets] == reached


def test_the_mixture_waits_where_it_should():
    """Until as many events were learned the engine's own prediction counts, and its weight is 1."""
    part = PlainForecasts(counts_from=50)
    part, found = learned(3.0 + np.arange(80.0) / 100.0, part=part)
    assert (found[:50] == 0.0).all()
    assert (found[60:] > 3.0).all()
    waiting, _ = learned(np.arange(10.0), part=PlainForecasts(counts_from=50))
    assert waiting.weights(*SCALE).tolist() == [1.0] + [0.0] * (N_FORECASTS - 1)


def test_each_value_of_an_input_with_few_has_an_effect():
    """What least squares leave of the target is that of the values; 65 values are too many."""
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.integers(0, 12, 3000), rng.normal(size=3000)]).astype(float)
    y = rng.normal(size=12)[rows[:, 0].astype(int)] + rows[:, 1]
    part, _ = learned(y[:-1], rows[:-1])
    part.predict(rows[-1], 0.0, *SCALE)
    p = part._look
    assert abs(p[INDICATORS] - y[-1]) < 0.1
    assert abs(p[LINEAR] - y[-1]) > 0.2
    assert part.columns[KNOWN].tolist() == [12.0, FEW + 1.0]


def test_an_unusual_row_among_the_first_counts_little():
    """Two close values may be the range so far: exact rows teach exactly, an outlier hardly."""
    X = np.array([[0.1, 0.0], [0.11, 1.0], [1.0, 2.0], [-2.0, 0.5], [0.5, -1.0], [1.5, 1.0]])
    exact, _ = learned(3.0 * X[:, 0] - X[:, 1], X)
    exact.predict(np.array([0.7, 0.3]), 0.0, *SCALE)
    assert exact._look[LINEAR] == pytest.approx(1.8, abs=0.1)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    X[4, 0] = 1e12
    y = rng.normal(size=60) + 3.0 * np.where(X[:, 0] < 1e6, X[:, 0], 0.0)
    spoilt, _ = learned(y, X)
    spoilt.predict(np.array([1.0, 0.0]), 0.0, *SCALE)
    assert spoilt._look[LINEAR] == pytest.approx(3.0, abs=1.0)


@pytest.mark.parametrize("first", [1.0 + 2.0**-52, 1.0 + 1e-9, 1.0])
@pytest.mark.parametrize("what", ["columns", "lags"])
def test_tiny_first_deviations_cost_no_precision(what, first):
    """The unit of a column, and of lags, is the first deviation: it may be rounding, or very small.

    Least squares in units of it went out of precision, and predicted the bounds ever after.
    """
    rng = np.random.default_rng(0)
    n = 6000
    X = np.cumsum(rng.normal(1.0, 0.2, size=(n, 3)), 0) % 5.0
    X[:60] = 1.0
    X[30] = first
    y = X @ [1.0, -1.0, 0.5] + rng.normal(0.0, 0.01, n)
    if what == "lags":
        y[:12] = 0.5
        y[5] = 0.5 * first
    part, _ = learned(y[:-1], X[:-1], scale=(0.5, 1.0))
    part.predict(X[-1], 0.0, 0.5, 1.0)
    assert part._look[[LINEAR, DIFFERENCE]] == pytest.approx([y[-1]] * 2, abs=0.1)


def test_what_is_far_has_weights_of_its_own():
    """While the last target is far, the next one is too; otherwise it is the engine's."""
    ys = np.where(np.arange(600) // 30 % 2, 100.0, 0.1 * np.sin(np.arange(600.0) ** 2))
    part, found = learned(ys)
    errors = np.abs(found - ys)[300:]
    assert np.median(errors) < 0.2
    near, far = part.rules[:, WEIGHT]
    assert (near != far).any()
    assert (part.n_scored > 250).all()


def test_an_outlier_among_the_first_is_forgotten():
    """After ten targets all begins anew if one of them is out of all bounds."""
    part, _ = learned([1.0, 1e9, 0.5, 1.0, 0.0, 1.0, 0.5, 1.0, 0.0, 1.0])
    assert not part.array[: part.record.size].any()
    assert part.record[COUNTS_FROM] == 0


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("name", ["record", "ring", "theta", "beta", "rules"])
def test_what_is_broken_is_left_out_and_marked(name, value):
    """The engine's prediction stays; nothing is learned, and a healer finds the count."""
    part, _ = learned(np.sin(np.arange(50.0)))
    getattr(part, name)[...] = value
    assert part.predict(np.zeros(0), 0.25, *SCALE) == 0.25
    assert not part.is_sound
    learn_forecasts(np.zeros(0), 1.0, 1.0, *SCALE, part.array, 0, False)
    assert np.isnan(part.record[COUNT])
    assert part.heal()
    assert part.predict(np.zeros(0), 0.25, *SCALE) == 0.25
    assert part.is_sound


def test_new_columns_begin_as_if_they_had_been_there():
    """Weights and covariance of others stay; what is rounded up begins without data."""
    rng = np.random.default_rng(0)
    part, _ = learned(rng.normal(size=30), rng.normal(size=(30, 2)))
    theta, P = part.theta.copy(), part.P.copy()
    part.widen(3)
    assert part.theta[: len(theta)].tolist() == theta.tolist()
    assert part.P[: len(P), : len(P)].tolist() == P.tolist()
    new = part.P[len(P) :]
    assert new.tolist() == (np.eye(len(part.P)) / PENALTIES[0])[len(P) :].tolist()
    part.widen(50)  # more than least squares see
    assert part.columns.shape == (7, 0)
    learned(rng.normal(size=30), rng.normal(size=(30, 55)), part=part)
    assert part.is_sound
