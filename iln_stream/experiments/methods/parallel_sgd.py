"""Averaging weights that were trained in parallel."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def sgd(shard: tuple[Array, Array], lam: float, eta: float) -> Array:
    r"""Return w, shape (d,), after one pass of hinge SGD with a constant step.

    $w \leftarrow w - \eta\, \partial_w (\frac\lambda2 \|w\|^2 + \max(0, 1 - y_i \langle w, x_i
    \rangle))$ for each example in turn [^1] (Algorithm 1).
    """
    X, y = shard
    w = np.zeros(X.shape[1])
    for x_i, y_i in zip(X, y, strict=True):
        violates = y_i * (w @ x_i) < 1.0
        w *= 1.0 - eta * lam
        if violates:
            w += eta * y_i * x_i
    return w


def parallel_sgd(
    X: Array,
    y: Array,
    lam: float,
    eta: float,
    machines: int,
    rng: np.random.Generator,
    run: Callable[[Callable[[Any], Array], Iterable[Any]], Iterable[Array]] = map,
) -> Array:
    """Return the mean, shape (d,), of the weights that `sgd` finds on random shards.

    SimuParallelSGD [^1] (Algorithm 3): the examples are dealt out at random, floor(n / machines) to
    each machine, the machines do not communicate, and their weights are averaged once.

    Parameters
    ----------
    X, y
        Inputs (n, d) and signs (n,).
    lam, eta
        The regularisation and the constant step.
    machines
        Number of shards.
    rng
        Deals the examples out.
    run
        Maps the training over the shards: `map`, one after the other, or that of an executor of
        `concurrent.futures`, in parallel.

    References
    ----------
    [^1]: M. Zinkevich, M. Weimer, A. Smola, L. Li. Parallelized Stochastic Gradient Descent. NIPS
    2010.

    """
    if not 1 <= machines <= len(X):
        raise ValueError(f"machines = {machines} must be from 1 to the {len(X)} examples")
    size = len(X) // machines
    dealt = rng.permutation(len(X))[: size * machines].reshape(machines, size)
    weights = run(partial(sgd, lam=lam, eta=eta), [(X[i], y[i]) for i in dealt])
    mean: Array = np.mean(list(weights), axis=0)
    return mean
