"""ML-Poly over experts that predict probabilities, for the log loss."""

from iln_stream.compiled.jit import compiled
from iln_stream.compiled.ml_poly import DISCOUNT, WEIGHT, normalise, regret

LARGEST_REGRET = 5.0


@compiled
def mix(state, p, n_awake, mixture):  # type: ignore[no-untyped-def]
    """mixture (C,) = the weighted mean of the first experts' p (K, C); the others adopt it."""
    total = 0.0
    for k in range(n_awake):
        total += state[WEIGHT, k]
    for c in range(mixture.shape[0]):
        s = 0.0
        for k in range(n_awake):
            s += (state[WEIGHT, k] / total if total > 0.0 else 1.0 / n_awake) * p[k, c]
        mixture[c] = s
        for k in range(n_awake, p.shape[0]):
            p[k, c] = s


@compiled
def score(state, p, mixture, label, w):  # type: ignore[no-untyped-def]
    """Score the experts by w times the linearised regrets p_k(y) / mixture(y) - 1, at most 5."""
    for k in range(p.shape[0]):
        r = min(p[k, label] / mixture[label] - 1.0, LARGEST_REGRET)
        regret(state, k, w * r, DISCOUNT)
    normalise(state)
