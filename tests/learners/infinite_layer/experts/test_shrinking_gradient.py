import numpy as np

from iln_stream.learners.estimators.pool import Pool
from iln_stream.learners.infinite_layer.expert import Observation
from iln_stream.learners.infinite_layer.experts.shrinking_gradient import ShrinkingGradientExpert
from iln_stream.learners.shrinking_gradient import ShrinkingGradient

N_UNITS, d = 16, 3


def events(n, seed=0):
    """Rows, and targets on the scale of the engine, within +-2."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return [(x, 2.0 * float(np.sin(3.0 * x[0]))) for x in X]


class Steps:
    """The expert, fed with rows."""

    def __init__(self, seed=1):
        self.expert = ShrinkingGradientExpert(N_UNITS, seed)
        self.event, self.p = Observation(0, d), np.zeros(1)

    def predict(self, x):
        self.event.v[:] = x
        self.expert.predict(self.event, self.p)
        return self.p[0]

    def learn(self, x, t):
        p = self.predict(x)
        self.expert.learn(self.event, t, self.p)
        return p


def test_is_algorithm_1_on_clipped_targets():
    """Estimates and targets are those of `ShrinkingGradient`, clipped to +-1."""
    steps = Steps()
    learner = ShrinkingGradient(estimator=Pool(N_UNITS), step=0.6, seed=1)
    estimates = []
    for x, t in events(200):
        estimates.append(learner.estimate_row(x).value)
        assert steps.learn(x, t) == np.clip(estimates[-1], -1.0, 1.0)
        learner.learn_row(x, float(np.clip(t, -1.0, 1.0)))
    assert steps.expert.learner.alpha_l1 == learner.alpha_l1
    assert max(np.abs(estimates)) > 1.0
