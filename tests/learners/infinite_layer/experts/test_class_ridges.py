import numpy as np
import pytest
from kernels import plain

from iln_stream.learners.infinite_layer.expert import Observation
from iln_stream.learners.infinite_layer.experts.class_ridges import ClassRidges
from iln_stream.learners.infinite_layer.experts.rls_bank import RLSSpec, WeightDistribution

d, N_UNITS = 3, 8
SPECS = (
    RLSSpec("smooth", WeightDistribution("cos", 1.0, sparse=False)),
    RLSSpec("kinked", WeightDistribution("relu", 1.0, sparse=False)),
)


def drawn():
    """A bank of two experts with units, and no class yet."""
    bank = ClassRidges(SPECS, N_UNITS)
    bank.widen(d)
    for k, spec in enumerate(SPECS):
        units = spec.prior.draw(N_UNITS, np.eye(d), 0, np.random.default_rng(k))
        bank.put(k, bank.untrained(units), 0)
    return bank


def test_a_class_is_learned_as_if_it_had_always_been_known():
    """Scores are ridge regressions on all events of 1 for the class and 0 otherwise, also for
    a class that first appears after 40 events; each expert uses its own units.
    """
    bank, event, rng = drawn(), Observation(0, d), np.random.default_rng(1)
    labels = [*rng.integers(2, size=40), *rng.integers(3, size=60)]
    D = bank.theta.shape[-1]
    references = [plain.Normal(D, n_targets=3) for _ in SPECS]
    for label, v in zip(labels, rng.normal(size=(100, d)), strict=True):
        while bank.theta.shape[1] <= label:
            bank.add_class()
        event.v[:] = v
        p = np.zeros((len(SPECS), bank.theta.shape[1]))
        bank.predict(event, p)
        for k, (spec, reference) in enumerate(zip(SPECS, references, strict=True)):
            cosine = spec.prior.activation == "cos"
            phi = plain.features(bank.omega[k], bank.b[k], cosine, np.ones(d), v, D)
            assert p[k] == pytest.approx((phi @ reference.theta)[: p.shape[1]], abs=1e-4)
            reference.learn(phi, np.eye(3)[label])
        bank.learn(event, label, p)
