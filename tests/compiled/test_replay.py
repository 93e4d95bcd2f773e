import numpy as np
import pytest
from compiled import plain

from iln_stream.compiled.activations import COS, RELU
from iln_stream.compiled.recursive_ridge import STEPS, WAITING
from iln_stream.compiled.replay import place, replay
from iln_stream.compiled.standardise import ABSENT, join
from iln_stream.learners.infinite_layer.engine.inputs import no_statistics
from iln_stream.learners.infinite_layer.experts.rls_bank import covariance, nothing_learned

SIZE, d, LAGS, R, D = 50, 3, 2, 11, 32
SCALE = np.array([0.4, 3.0])


def some_events():
    """A ring of events, one of whose columns lacks values, and today's statistics of the inputs."""
    rng = np.random.default_rng(0)
    columns, lags, y = (
        rng.normal(size=(d, SIZE)),
        rng.normal(size=(SIZE, LAGS)),
        rng.normal(size=SIZE),
    )
    columns[1] += 1000.0
    columns[1, rng.random(SIZE) < 0.3] = ABSENT
    lags[7], y[11] = 1e9, -1e9
    stats, known = no_statistics(d), [plain.Column() for _ in range(d)]
    for row in columns.T:
        join(row.copy(), stats)
        plain.joined(known, row)
    return columns, lags, y, stats, known


def plain_place(columns, lags, i, known):
    z = [c.deviation(x, c.joined) for c, x in zip(known, columns[:, i], strict=True)]
    return np.array([3.0 * plain.scaled(lag, SCALE) for lag in lags[i]] + z)


def test_an_event_is_placed_by_todays_statistics():
    """[targets before it, deviations], with what is absent at 0 and the wild within bounds."""
    columns, lags, _, stats, known = some_events()
    v = np.empty(LAGS + d)
    for i in range(SIZE):
        place(columns, lags, i, stats, SCALE, v)
        assert v == pytest.approx(plain_place(columns, lags, i, known), abs=1e-9)
    place(columns, lags, 7, stats, SCALE, v)
    assert v[:LAGS].tolist() == [6.0, 6.0]


@pytest.mark.parametrize("activation", [COS, RELU])
@pytest.mark.parametrize(
    ("first", "last"), [(3, 3), (0, 30), (40, 70)], ids=["none", "some", "ring"]
)
@pytest.mark.parametrize("forgetting", [1.0, 0.97])
def test_replay_solves_the_normal_equations_of_the_events(activation, first, last, forgetting):
    """An expert has then learned first..last - 1, places of a ring; what it lost is summed up."""
    columns, lags, y, stats, known = some_events()
    rng = np.random.default_rng(1)
    omega = rng.normal(size=(LAGS + d, R)).astype(np.float32)
    b, linear = rng.normal(size=R).astype(np.float32), np.array([0.0, 0.0, 1.0, 1.0, 1.0])
    theta, record = np.zeros(D), nothing_learned()
    lost = replay(
        columns, lags, y, first, last, stats, SCALE, omega, b, activation, linear,
        covariance(D), np.zeros((WAITING, D)), theta, record, forgetting, 0.1, 2.0,
    )  # fmt: skip
    normal, expected = plain.Normal(D, forgetting, 0.1, huber=2.0), 0.0
    for i in range(first, last):
        v = plain_place(columns, lags, i % SIZE, known)
        phi = plain.features(omega, b, activation == COS, linear, v, D)
        t, p = plain.scaled(y[i % SIZE], SCALE), np.clip(phi @ normal.theta[:, 0], -2.0, 2.0)
        expected += abs(t - p)
        normal.learn(phi, t, p)
    assert record[STEPS] == last - first
    assert lost == pytest.approx(expected, abs=1e-4)
    assert theta == pytest.approx(normal.theta[:, 0], abs=1e-4)
