"""Semi-random features: random gates times learned linear units."""

from collections.abc import Iterator, Sequence
from math import sqrt
from typing import Any

import numpy as np

from iln_stream.learners.checks import require_counts
from iln_stream.research.related.base import (
    DERIVATIVES,
    Array,
    GradientClassifier,
    GradientModel,
    GradientRegressor,
    fitted,
)


def random_gates(
    X: Array, R: Sequence[Array], power: int = 0, fan_in: int | None = None
) -> list[Array]:
    r"""Return the gates of each layer at rows X (n, d), whose first column is 1.

    $h_r^{(l)} = \sigma_s(R^{(l) T} h_r^{(l-1)})$, $\sigma_s(z) = z^s\, 1[z > 0]$, $h_r^{(0)} = x$;
    where s = 1, z is divided by the square root of the number of inputs of its layer. With s = 1
    the first gates are also random rectified linear units.

    Parameters
    ----------
    X
        Inputs.
    R
        Random weights of the layers, (d, n_1), (n_1, n_2), ..
    power
        s, 0 or 1.
    fan_in
        The number of inputs of the first layer that z is divided by. None: d.

    Examples
    --------
    >>> import numpy as np
    >>> from iln_stream.research.related.semi_random import random_gates
    >>> random_gates(np.array([[1.0, 2.0]]), [np.array([[1.0, 0.0], [1.0, -1.0]])])
    [array([[1., 0.]])]

    """
    h_r = X
    gates: list[Array] = []
    for layer in R:
        z = h_r @ layer
        h_r = (z > 0.0).astype(float)
        if power:
            h_r *= z / sqrt(len(layer) if gates or fan_in is None else fan_in)
        gates.append(h_r)
    return gates


class SemiRandom(GradientModel):
    """What both learners share, with the classifier's defaults; see `SemiRandomRegressor`."""

    def __init__(
        self,
        hidden: Sequence[int] = (50,),
        power: int = 0,
        loss: str = "logistic",
        step: float = 0.3,
        lam: float = 1e-5,
        max_columns: int = 10_000,
        seed: int | None = None,
    ) -> None:
        super().__init__(loss, step, lam, max_columns, seed)
        if not hidden:
            raise ValueError("hidden = () must have at least one layer, such as (50,)")
        for width in hidden:
            require_counts(hidden=width)
        if power not in (0, 1):
            raise ValueError(f"power = {power!r} must be 0 (linear units) or 1 (squared units)")
        self.hidden = hidden
        self.power = power
        self._rng = np.random.default_rng(seed)
        sizes = [1, *hidden]  # the first input is always 1
        self._R = [self._rng.standard_normal(shape) for shape in zip(sizes, hidden, strict=False)]
        self._W = [
            self._rng.standard_normal(shape) * sqrt(2.0 / shape[0])
            for shape in zip(sizes, hidden, strict=False)
        ]
        self._W[-1][:] = 0.0  # f starts as 0, and all other layers get a gradient
        self._n_first = 0  # columns of the first event

    def _f(self, X: Array) -> Array:
        d = len(self._R[0]) - 1
        f: Array = self._layers(fitted(X, d))[-1][1].sum(axis=1) / sqrt(self.hidden[-1])
        return f

    def _learn(self, row: Array, y: float) -> None:
        self._widen(len(row))
        h = self._with_one(fitted(row[np.newaxis], len(self._R[0]) - 1))
        layers = self._layers(h[:, 1:])
        f = float(layers[-1][1].sum()) / sqrt(self.hidden[-1])
        below = [h[0], *(h_w[0] for _, h_w in layers[:-1])]
        slopes: list[Array] = []  # of f by the linear units, before their gates
        upper = np.full(self.hidden[-1], 1.0 / sqrt(self.hidden[-1]))
        for (gate, _), W in zip(reversed(layers), reversed(self._W), strict=True):
            slopes.insert(0, gate[0] * upper)
            upper = W @ slopes[0]
        squares = sum(float((h @ h) * (g @ g)) for h, g in zip(below, slopes, strict=True))
        change = self.step * DERIVATIVES[self.loss](f, y) / max(1.0, squares)
        for W, h, g in zip(self._W, below, slopes, strict=True):
            W *= 1.0 - self.step * self.lam
            W -= change * np.outer(h, g)

    def _layers(self, X: Array) -> list[tuple[Array, Array]]:
        """Return the gates and the outputs h_w of each layer at rows X (n, d)."""
        h_w = self._with_one(X)
        layers: list[tuple[Array, Array]] = []
        # A number of columns that grows must not change the gates of old points.
        gates = random_gates(h_w, self._R, self.power, 1 + self._n_first)
        for gate, W in zip(gates, self._W, strict=True):
            h_w = gate * (h_w @ W)
            layers.append((gate, h_w))
        return layers

    def _with_one(self, X: Array) -> Array:
        return np.column_stack([np.ones(len(X)), X])

    def _widen(self, d: int) -> None:
        """Add rows for new columns to the weights of the first layer."""
        self._n_first = self._n_first or d
        shape = 1 + d - len(self._R[0]), self.hidden[0]
        if shape[0] <= 0:
            return
        self._R[0] = np.vstack([self._R[0], self._rng.standard_normal(shape)])
        scale = sqrt(2.0 / (1 + self._n_first)) if len(self.hidden) > 1 else 0.0
        self._W[0] = np.vstack([self._W[0], scale * self._rng.standard_normal(shape)])


class SemiRandomRegressor(SemiRandom, GradientRegressor):
    r"""Regression by a network of semi-random units, one hidden layer or several.

    A unit is $\sigma_s(r^T x)\, (w^T x)$ with a random r and a learned w; its gate is $\sigma_s(z)
    = z^s\, 1[z > 0]$ [^1]. In a deep network gates see gates:

    $h_r^{(l)} = \sigma_s(R^{(l) T} h_r^{(l-1)})$, $h_w^{(l)} = h_r^{(l)} \odot (W^{(l) T}
    h_w^{(l-1)})$, $h_r^{(0)} = h_w^{(0)} = (1, x)$, $f(x) = \sum_k h_{w,k}^{(L)} / \sqrt{n_L}$.

    The source's output weights are part of $W^{(L)}$ here, which gives the same functions of one
    output; so f is linear in the weights of a single hidden layer. Steps are normalised, so that
    they stay stable whatever the size of the inputs: $W \leftarrow (1 - \eta \lambda) W - \eta\,
    l'(f(x), y)\, \nabla f / \max(1, \|\nabla f\|^2)$. Targets are not scaled here: see
    `iln_stream.ScaledTarget`.

    Parameters
    ----------
    hidden
        $n_1, .., n_L$, the units of each layer.
    power
        s: 0 for linear semi-random units, 1 for squared ones.
    step
        $\eta$, below 2 for the squared loss.
    lam
        $\lambda$, the strength of the regularisation; may be 0.
    max_columns
        The most input names that get a column; inputs of later names are left out, with a warning.
    seed
        Of the random weights.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from iln_stream import ScaledTarget, WinsorisedScaler
    >>> from iln_stream.research.related import SemiRandomRegressor

    >>> model = ScaledTarget(WinsorisedScaler() | SemiRandomRegressor(seed=1))
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 0...

    References
    ----------
    [^1]: K. Kawaguchi, B. Xie, V. Verma, L. Song. Deep Semi-Random Features for Nonlinear Function
    Approximation. AAAI 2018.

    """

    def __init__(
        self,
        hidden: Sequence[int] = (50,),
        power: int = 0,
        step: float = 0.1,
        lam: float = 1e-5,
        max_columns: int = 10_000,
        seed: int | None = None,
    ) -> None:
        super().__init__(hidden, power, "squared", step, lam, max_columns, seed)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"seed": 1, "hidden": (20,)}
        yield {"seed": 1, "hidden": (20, 10), "power": 1}


class SemiRandomClassifier(SemiRandom, GradientClassifier):
    r"""Classification by a network of semi-random units, one hidden layer or several.

    The network of `SemiRandomRegressor` for $y \in \{-1, +1\}$ and another loss.

    Parameters
    ----------
    loss
        "hinge", "logistic", which gives probabilities, or "squared".
    step
        $\eta$, the step.
    hidden, power, lam, max_columns, seed
        As in `SemiRandomRegressor`.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from iln_stream.research.related import SemiRandomClassifier

    >>> model = preprocessing.StandardScaler() | SemiRandomClassifier(seed=1)
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    Accuracy: ...%

    """

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        for loss in DERIVATIVES:
            yield {"seed": 1, "hidden": (20,), "loss": loss}
