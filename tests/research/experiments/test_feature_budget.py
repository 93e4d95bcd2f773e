"""The experiment `feature_budget`, in its quick mode."""

import numpy as np
import pytest

from iln_stream.features import GaussianFourier
from iln_stream.research.experiments.feature_budget import KINDS
from iln_stream.research.related import DoublyStochasticRegressor


class Counting:
    """A family that counts; being no ridge, it is evaluated by the estimators' plain forms."""

    q = 1.0

    def __init__(self):
        self.family, self.n_psi, self.n_draws = GaussianFourier(0.1), 0, 0

    def draw(self, n, d, rng):
        self.n_draws += n
        return self.family.draw(n, d, rng)

    def psi(self, x, w):
        values = self.family.psi(x, w)
        self.n_psi += len(values)
        return values


@pytest.mark.parametrize("name", ["Algorithm 2", "blocks", "full sums"])
def test_accounts(name):
    """psi evaluations and draws of a pass are those that the estimator makes of a plain family."""
    kind, size, T = KINDS[name], 8, 12
    family = Counting()
    event = kind.event(family, size, 0.1, 1)
    for x in np.random.default_rng(0).standard_normal((T, 3)):
        event(x, 0.5)
    assert family.n_draws == kind.draws(size, T)
    assert family.n_psi == kind.psi(size, T)


def test_shrinks_are_counted():
    """With too few draws Algorithm 2 shrinks, and each event returns how often so far."""
    event = KINDS["Algorithm 2"].event(GaussianFourier(0.1), 1, 0.6, 1)
    counts = [event(x, 0.5)[1] for x in np.random.default_rng(0).standard_normal((300, 3))]
    assert counts == sorted(counts)
    assert counts[0] == 0 < counts[-1]


def test_doubly_stochastic_account():
    """Counted are the units that a prediction costs, by the learner's word, and the fresh ones;
    each is drawn once."""
    kind, size, T = KINDS["doubly stochastic"], 8, 12
    model, total = DoublyStochasticRegressor(GaussianFourier(0.1), size, seed=1), 0
    for x in np.random.default_rng(0).standard_normal((T, 3)):
        total += model.n_psi + size
        model.learn_one(dict(enumerate(x.tolist())), 0.5)
    assert total == kind.psi(size, T)
    assert kind.draws(size, T) == size * T == model.n_psi


@pytest.mark.thorough
def test_more_units_lose_less(result):
    """Of each estimator of two sizes the larger has the smaller loss, and spends more."""
    for name in (name for name, kind in KINDS.items() if len(kind.sizes) > 1):
        few, many = (p for p in result.figures["points"] if p["estimator"] == name)
        assert many["loss"]["mean"] < few["loss"]["mean"]
        assert many["psi"] > few["psi"]
        assert many["draws"] > few["draws"]


@pytest.mark.thorough
def test_best(result):
    """The ladder of an account rises in it and falls in loss, and ends at the least loss of all."""
    losses = [point["loss"]["mean"] for point in result.figures["points"]]
    for account, best in result.figures["best"].items():
        assert [p[account] for p in best] == sorted(p[account] for p in best)
        assert [p["loss"] for p in best] == sorted((p["loss"] for p in best), reverse=True)
        assert best[-1]["loss"] == min(losses)


@pytest.mark.thorough
def test_notes_and_plot(result, legend):
    """A note for each account, a curve and a ladder for each estimator."""
    assert (len(result.notes), len(legend)) == (4, 2 * len(KINDS))
