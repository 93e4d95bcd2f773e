"""AdaBoost over given weak learners."""

import numpy as np
from numpy.typing import NDArray

from iln_stream.research.experiments.methods.ridges import Array


def adaboost(H: Array, y: Array, rounds: int) -> tuple[NDArray[np.int64], Array]:
    """Return the weak learners that AdaBoost chooses, round by round, and their weights.

    Round t takes the weak learner h, or its negation, that has the smallest weighted error e, with
    weight log((1 - e) / e) / 2, and gives wrong examples more weight [^1]. The strong learner is
    the sign of the weighted sum; a negation has a negative weight. It stops early when a weak
    learner makes no error or none is better than chance.

    Parameters
    ----------
    H
        The weak learners' values -1 and 1 on the examples, shape (n, J). Stumps on inputs of 0 and
        1 are the columns of 2 X - 1.
    y
        Signs (n,).
    rounds
        The most rounds.

    Returns
    -------
    Columns of H and weights, both of at most `rounds` entries.

    References
    ----------
    [^1]: Y. Freund, R. E. Schapire. A Decision-Theoretic Generalization of On-Line Learning and an
    Application to Boosting. Journal of Computer and System Sciences 55, 1997.

    """
    weights = np.full(len(y), 1.0 / len(y))
    columns: list[int] = []
    alphas: list[float] = []
    for _ in range(rounds):
        edges = (weights * y) @ H  # 1 - 2 e
        j = int(np.argmax(np.abs(edges)))
        edge = float(np.clip(edges[j], -1.0 + 1e-12, 1.0 - 1e-12))
        if abs(edge) < 1e-12:
            break
        alpha = 0.5 * float(np.log((1.0 + edge) / (1.0 - edge)))
        columns.append(j)
        alphas.append(alpha)
        if abs(edges[j]) >= 1.0 - 1e-12:
            break
        weights *= np.exp(-alpha * y * H[:, j])
        weights /= weights.sum()
    return np.array(columns, dtype=np.int64), np.array(alphas)
