"""`benchmarks.forecasts`: each contender's forecast is of the value that many records later."""

import numpy as np
import pytest

from benchmarks import forecasts
from benchmarks.forecasts import Series, ours, persistence, rivers


class Counts:
    """A model of a series that rises by 1: it forecasts the next values."""

    def learn_one(self, y, x=None):
        self.last = y

    def forecast(self, horizon, xs=None):
        return [self.last + 1 + k for k in range(horizon)]


@pytest.fixture
def rising():
    rows = [{"at": 3600.0 * i, "v": float(i)} for i in range(60)]
    mapping = {"target": "v", "time_field": "at"}
    return Series("rising", rows, "v", (1, 6), 12, mapping, lambda _: {"a": 1.0}, {})


@pytest.mark.parametrize("with_inputs", [True, False])
def test_river(rising, with_inputs):
    """A model's k-th value is the forecast of the k-th next record."""
    for horizon, found in rivers(rising, Counts(), with_inputs=with_inputs).items():
        assert found[: 60 - horizon].tolist() == [i + horizon for i in range(60 - horizon)]


def test_persistence(rising):
    """It is the last known value of the same phase; of season 1 the present one."""
    for season in (1, 4, 12):
        for horizon, found in persistence(rising, season).items():
            known = found[20:]
            assert np.all(known <= np.arange(20, 60))
            assert np.all((np.arange(20, 60) + horizon - known) % season == 0)
            assert np.all(np.arange(20, 60) - known < season)


def test_ours(rising, monkeypatch):
    """What is scored is the prediction that was made so many records before."""

    class Present:
        def __init__(self, **_):
            self.n = -1.0

        def predict_token(self, x):
            self.n += 1.0
            return self.n, np.zeros(1)

        def predict_one(self, x):
            raise AssertionError("the loop uses tokens")

        def learn_token(self, x, token, y):
            """Learn nothing."""

        learn_one = learn_token

    monkeypatch.setattr(forecasts, "InfiniteLayerRegressor", Present)
    for horizon, found in ours(rising, "fast", change=False).items():
        assert found[: 60 - horizon].tolist() == list(range(60 - horizon))
        assert np.isnan(found[60 - horizon :]).all()
    changes = ours(rising, "fast", change=True)[6]
    assert changes[:54].tolist() == [2.0 * i for i in range(54)]
