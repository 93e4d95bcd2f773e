import numpy as np
import pytest
from kernels import plain

from iln_stream.kernels.activations import COS, RELU
from iln_stream.kernels.columns import ABSENT, join, no_statistics
from iln_stream.kernels.regression_event import StoredEvents
from iln_stream.kernels.ridges import STEPS, WAITING, Frame, describe_stored, replay
from iln_stream.learners.infinite_layer.experts.rls_bank import (
    RLSState,
    initial_covariance,
    untrained_record,
)

SIZE, d, LAGS, R, D = 50, 3, 2, 11, 32
SCALE = np.array([0.4, 3.0])


def some_events():
    """Stored events of which one column lacks values, and statistics: ours and in plain numpy."""
    rng = np.random.default_rng(0)
    stored = StoredEvents(
        rng.normal(size=(d, SIZE)),
        rng.normal(size=(SIZE, LAGS)),
        rng.normal(size=SIZE),
        rng.choice([0.0, 0.5, 1.0, 20.0], size=SIZE),
    )
    columns = stored.columns
    columns[1] += 1000.0
    columns[1, rng.random(SIZE) < 0.3] = ABSENT
    stored.lags[7], stored.y[11] = 1e9, -1e9
    stats, known = no_statistics(d), [plain.Column() for _ in range(d)]
    for row in columns.T:
        join(row.copy(), stats, 0)
        plain.joined(known, row)
    return stored, Frame(stats, SCALE), known


def described(stored, i, known):
    z = [c.deviation(x, c.joined) for c, x in zip(known, stored.columns[:, i], strict=True)]
    return np.array([3.0 * plain.scaled(lag, SCALE) for lag in stored.lags[i]] + z)


def test_a_stored_event_is_described_by_the_frame():
    """v = [targets before it, deviations], with absent values at 0 and wild ones within bounds."""
    stored, frame, known = some_events()
    v = np.empty(LAGS + d)
    for i in range(SIZE):
        describe_stored(stored, i, frame, v)
        assert v == pytest.approx(described(stored, i, known), abs=1e-9)
    describe_stored(stored, 7, frame, v)
    assert v[:LAGS].tolist() == [6.0, 6.0]


@pytest.mark.parametrize("activation", [COS, RELU])
@pytest.mark.parametrize(
    ("first", "last"), [(3, 3), (0, 30), (40, 70)], ids=["none", "some", "ring"]
)
@pytest.mark.parametrize("forgetting", [1.0, 0.97])
def test_replay_solves_the_normal_equations_of_the_events(activation, first, last, forgetting):
    """A candidate has then learned events first..last - 1 of a ring; its |errors| are summed.

    Both by the events' weights.
    """
    stored, frame, known = some_events()
    rng = np.random.default_rng(1)
    omega = rng.normal(size=(LAGS + d, R)).astype(np.float32)
    b, linear = rng.normal(size=R).astype(np.float32), np.array([0.0, 0.0, 1.0, 1.0, 1.0])
    theta, record = np.zeros(D), untrained_record()
    new = RLSState(omega, b, initial_covariance(D), np.zeros((WAITING, D)), theta, record)
    lost = replay(stored, first, last, frame, new, activation, linear, forgetting, 0.1, 2.0)
    normal, expected = plain.Normal(D, forgetting, 0.1, huber=2.0), 0.0
    for i in range(first, last):
        v = described(stored, i % SIZE, known)
        phi = plain.features(omega, b, activation == COS, linear, v, D)
        t, p = plain.scaled(stored.y[i % SIZE], SCALE), np.clip(phi @ normal.theta[:, 0], -2.0, 2.0)
        w = stored.weights[i % SIZE]
        expected += w * abs(t - p)
        normal.learn(phi, t, p, w)
    assert record[STEPS] == last - first
    assert lost == pytest.approx(expected, rel=1e-5, abs=1e-4)
    assert theta == pytest.approx(normal.theta[:, 0], abs=1e-4)
