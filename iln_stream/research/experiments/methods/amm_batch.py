"""The adaptive multi-hyperplane machine, batch."""

import numpy as np

from iln_stream.research.experiments.methods.ridges import Array
from iln_stream.research.related.amm import Hyperplanes


class AdaptiveMultiHyperplaneBatch:
    r"""Several hyperplanes a class, trained with fixed assignments in turn (AMM batch).

    The objective of `AdaptiveMultiHyperplane` is not convex, but for fixed
    assignments z it is. So [^1]: find hyperplanes by one pass of the online machine; then, `rounds`
    times, assign each example to the best hyperplane of its class, and take steps for those
    assignments, one pass over the data. An assignment never raises the objective.

    Parameters
    ----------
    lam
        $\lambda$.
    rounds
        Passes with fixed assignments.
    prune
        c: after each pass the smallest hyperplanes are dropped while their joint norm is at most
        $c / (\lambda t)$.
    seed
        Of the order of the examples.

    References
    ----------
    [^1]: Z. Wang, N. Djuric, K. Crammer, S. Vucetic. Trading Representability for Scalability:
    Adaptive Multi-Hyperplane Machine for Nonlinear Classification. KDD 2011.

    """

    def __init__(self, lam: float, rounds: int = 4, prune: float = 10.0, seed: int = 0) -> None:
        self.lam = lam
        self.rounds = rounds
        self.prune = prune
        self.seed = seed

    def fit(self, X: Array, y: Array) -> "AdaptiveMultiHyperplaneBatch":
        """Train on inputs (n, d) and labels (n,) of any kind."""
        rng = np.random.default_rng(self.seed)
        self.model = Hyperplanes(self.lam, limit=20)
        labels = np.array([self.model.class_of(label) for label in y.tolist()])
        for i in rng.permutation(len(X)):
            self.model.step(X[i], labels[i])
        self.objectives: list[tuple[float, float]] = []
        """The objective before and after each assignment but the first."""
        z = None
        for _ in range(self.rounds):
            dropped = self.model.prune(self.prune)
            new = self.model.assigned(X, labels)
            if z is not None and not dropped:
                before, after = (self.model.objective(X, labels, a) for a in (z, new))
                self.objectives.append((before, after))
            z = new
            for i in rng.permutation(len(X)):
                self.model.step(X[i], labels[i], int(z[i]))
        return self

    def predict(self, X: Array) -> list[object]:
        """Return the label of each input."""
        return [self.model.classes[i] for i in self.model.class_scores(X).argmax(axis=1)]
