"""Networks of gated linear units by gradient steps: rectified linear and semi-random ones."""

from collections.abc import Sequence
from math import sqrt

import numpy as np

from iln_stream.research.experiments.methods.ridges import Array
from iln_stream.research.related.semi_random import random_gates

BATCH = 64
"""Examples in a step."""

FIRST_DECAY, SECOND_DECAY = 0.9, 0.999


class GatedNetwork:
    r"""f(x) = v.h^{(L)} with h^{(l)} = g^{(l)} * (W^{(l) T} h^{(l-1)}) and h^{(0)} = (1, x).

    Its gates g are either those of the units themselves, 1 where W^T h > 0, so that it is a network
    of rectified linear units, or random: linear semi-random units [1]_, of which `random_gates`
    tells the rest. In all else both are the same, so that they can be compared: Adam [2]_ takes
    steps for the mean of squared errors in all W and v, and the size of its steps falls linearly
    to 0. Of the weights after each pass, the fit keeps those with the least error on validation
    data.

    Parameters
    ----------
    hidden
        Units of each layer.
    random
        Whether gates are random.
    step
        The first step of Adam.
    passes
        Over the training data.
    seed
        Of the first weights, the gates and the order of the examples.

    References
    ----------
    .. [1] K. Kawaguchi, B. Xie, V. Verma, L. Song. Deep Semi-Random Features for Nonlinear Function
       Approximation. AAAI 2018.
    .. [2] D. Kingma, J. Ba. Adam: A Method for Stochastic Optimization. ICLR 2015.

    """

    def __init__(
        self,
        hidden: Sequence[int],
        random: bool,
        step: float = 0.01,
        passes: int = 100,
        seed: int = 0,
    ) -> None:
        self.hidden = tuple(hidden)
        self.random = random
        self.step = step
        self.passes = passes
        self.seed = seed

    def fit(self, X: Array, y: Array, V: Array, targets: Array) -> "GatedNetwork":
        """Train on inputs (n, d) and targets (n,); V (m, d) and its targets are validation data."""
        rng = np.random.default_rng(self.seed)
        x, v = _with_one(X), _with_one(V)
        shapes = list(zip((x.shape[1], *self.hidden), self.hidden, strict=False))
        self.R = [rng.standard_normal(shape) for shape in shapes]
        self.weights = [rng.standard_normal(shape) * sqrt(2.0 / shape[0]) for shape in shapes]
        self.weights.append(rng.standard_normal(self.hidden[-1]) / sqrt(self.hidden[-1]))
        gates, of_v = self._gates(x), self._gates(v)
        best, self.validation_error = self.weights, np.inf
        moments = [np.zeros((2, *w.shape)) for w in self.weights]
        t, last = 0, self.passes * -(-len(x) // BATCH)
        for _ in range(self.passes):
            order = rng.permutation(len(x))
            for start in range(0, len(x), BATCH):
                rows = order[start : start + BATCH]
                gradient = self.gradient(x[rows], y[rows], gates and [g[rows] for g in gates])
                step, t = self.step * (1.0 - t / last), t + 1
                for w, g, (first, second) in zip(self.weights, gradient, moments, strict=True):
                    first += (1.0 - FIRST_DECAY) * (g - first)
                    second += (1.0 - SECOND_DECAY) * (g**2 - second)
                    mean = first / (1.0 - FIRST_DECAY**t)
                    w -= step * mean / (np.sqrt(second / (1.0 - SECOND_DECAY**t)) + 1e-8)
            error = float(np.mean((self._layers(v, of_v)[-1] @ self.weights[-1] - targets) ** 2))
            if error < self.validation_error:
                best, self.validation_error = [w.copy() for w in self.weights], error
        self.weights = best
        return self

    def predict(self, X: Array) -> Array:
        """Return f of each input, shape (n,)."""
        x = _with_one(X)
        f: Array = self._layers(x, self._gates(x))[-1] @ self.weights[-1]
        return f

    def gradient(self, x: Array, y: Array, gates: list[Array] | None) -> list[Array]:
        """Return the gradient of half the mean squared error in each W and in v, at rows (1, x)."""
        layers = self._layers(x, gates)
        error = (layers[-1] @ self.weights[-1] - y) / len(y)
        found = [layers[-1].T @ error]
        upper = np.outer(error, self.weights[-1])
        for k in reversed(range(len(self.hidden))):
            # Of a rectified linear unit, h > 0 just where its gate is open.
            upper = upper * ((layers[k + 1] > 0.0) if gates is None else gates[k])
            found.insert(0, layers[k].T @ upper)
            upper = upper @ self.weights[k].T
        return found

    def _gates(self, x: Array) -> list[Array] | None:
        return random_gates(x, self.R) if self.random else None

    def _layers(self, x: Array, gates: list[Array] | None) -> list[Array]:
        """Return h of each layer from the inputs on."""
        layers = [x]
        for k, W in enumerate(self.weights[:-1]):
            z = layers[-1] @ W
            layers.append(np.maximum(z, 0.0) if gates is None else gates[k] * z)
        return layers


def _with_one(X: Array) -> Array:
    return np.column_stack([np.ones(len(X)), X])
