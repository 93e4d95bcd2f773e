"""Adaptive multi-hyperplane machine."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from river import base

from iln_stream.learners.checks import require_counts, require_positive
from iln_stream.learners.preprocessing.columns import Columns
from iln_stream.research.related.base import Array, stacked


class Hyperplanes:
    r"""Weights w_{i,j} of the classes i, and stochastic steps on their objective.

    A class scores by its best hyperplane, $g(i, x) = \max_j \langle w_{i,j}, x \rangle$ (0 if it
    has none), and the objective for assignments z is $\frac\lambda2 \|W\|^2 + \mathrm{mean}_n
    \max(0, 1 + \max_{i \ne y_n} g(i, x_n) - \langle w_{y_n, z_n}, x_n \rangle)$. `lam` is the
    strength of the regularisation, $\lambda$; a class has at most `limit` hyperplanes.
    """

    def __init__(self, lam: float, limit: int) -> None:
        self.lam = lam
        self.limit = limit
        self.classes: list[Any] = []
        self.t = 0
        self.owner = np.zeros(0, dtype=np.int64)  # class of each hyperplane, an index of `classes`
        self._V = np.zeros((0, 0))  # W = s V
        self._s = 1.0

    @property
    def weights(self) -> Array:
        """The hyperplanes, shape (n, d)."""
        return self._s * self._V

    def class_of(self, label: Any) -> int:
        """Return the index of a class, which joins if it is new."""
        if label not in self.classes:
            self.classes.append(label)
        return self.classes.index(label)

    def scores(self, X: Array) -> Array:
        """Return <w, x> for each hyperplane: (n,) of one x (d,), (m, n) of rows (m, d)."""
        d = min(X.shape[-1], self._V.shape[1])
        scores: Array = self._s * (X[..., :d] @ self._V[:, :d].T)
        return scores

    def class_scores(self, X: Array) -> Array:
        """Return g(i, x) for each class, shape (m, classes), of rows X (m, d)."""
        scores, g = self.scores(X), np.zeros((len(X), len(self.classes)))
        for i in set(self.owner.tolist()):
            g[:, i] = scores[:, self.owner == i].max(axis=1)
        return g

    def assigned(self, X: Array, y: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return z: the best hyperplane of the class y (m,) of each row, -1 where it has none."""
        scores = np.where(self.owner == y[:, None], self.scores(X), -np.inf)
        if not scores.shape[1]:
            return np.full(len(X), -1)
        z: NDArray[np.int64] = np.where(np.isinf(scores.max(axis=1)), -1, scores.argmax(axis=1))
        return z

    def objective(self, X: Array, y: NDArray[np.int64], z: NDArray[np.int64]) -> float:
        """Return the objective for the assignments z (m,)."""
        own = np.where(z >= 0, self.scores(X)[np.arange(len(X)), z], 0.0)
        others = self.class_scores(X)
        others[np.arange(len(X)), y] = -np.inf
        loss = np.maximum(0.0, 1.0 + others.max(axis=1) - own)
        return float(self.lam / 2 * np.sum(self.weights**2) + loss.mean())

    def step(self, x: Array, y: int, z: int | None = None) -> None:
        """Take a step of size 1 / (lam t) on one example.

        Parameters
        ----------
        x
            Shape (d,).
        y
            Index of its class.
        z
            Index of the hyperplane assigned to it. None: the best one of its class, or a new
            hyperplane if that has no positive score and the class has room.

        """
        self._widen(len(x))
        scores = self.scores(x)
        free = z is None
        own = self._best(scores, self.owner == y) if z is None else z
        own_score = scores[own] if own >= 0 else 0.0
        rival, j, rival_score = self._rival(scores, y)
        self.t += 1
        self._scale(1.0 - 1.0 / self.t)
        if 1.0 + rival_score - own_score <= 0.0:
            return
        rate = 1.0 / (self.lam * self.t)
        if rival >= 0:
            self._add(j, rival, -rate * x)
        room = np.count_nonzero(self.owner == y) < self.limit
        self._add(-1 if free and own_score <= 0.0 and room else own, y, rate * x)

    def prune(self, c: float) -> int:
        """Drop the smallest hyperplanes while their norm is at most c / (lam t); return how many.

        Each class keeps its largest one.
        """
        squares = self._s**2 * np.vecdot(self._V, self._V)
        keep = np.ones(len(squares), dtype=bool)
        spent, bound = 0.0, (c / (self.lam * max(self.t, 1))) ** 2
        for j in np.argsort(squares):
            spent += squares[j]
            if spent > bound:
                break
            keep[j] = np.count_nonzero(keep & (self.owner == self.owner[j])) == 1
        self._V, self.owner = self._V[keep], self.owner[keep]
        return int(np.count_nonzero(~keep))

    def _rival(self, scores: Array, y: int) -> tuple[int, int, float]:
        """Return the best other class, its best hyperplane (-1: it has none) and its score."""
        best = (-1, -1, 0.0)  # no other class is known
        for i in range(len(self.classes)):
            if i != y:
                j = self._best(scores, self.owner == i)
                score = float(scores[j]) if j >= 0 else 0.0
                if best[0] < 0 or score > best[2]:
                    best = (i, j, score)
        return best

    @staticmethod
    def _best(scores: Array, mask: NDArray[np.bool_]) -> int:
        found = np.flatnonzero(mask)
        return int(found[np.argmax(scores[found])]) if len(found) else -1

    def _scale(self, factor: float) -> None:
        if factor == 0.0:
            self._V[:] = 0.0
        else:
            self._s *= factor

    def _add(self, j: int, i: int, change: Array) -> None:
        """Add to hyperplane j, or give class i a new one if j is -1."""
        if j < 0:
            self._V = np.vstack([self._V, np.zeros(self._V.shape[1])])
            self.owner = np.append(self.owner, i)
        self._V[j, : len(change)] += change / self._s

    def _widen(self, d: int) -> None:
        if (missing := d - self._V.shape[1]) > 0:
            self._V = np.pad(self._V, ((0, 0), (0, missing)))


class AdaptiveMultiHyperplane(base.Classifier):
    r"""Classification with several hyperplanes a class, added as events need them (AMM online).

    A class scores by its best hyperplane, so that linear pieces bound it. Each event steps on the
    regularised hinge loss with its own best hyperplane $z_t = \arg\max_j \langle w_{y_t, j}, x_t
    \rangle$ and $\eta_t = 1 / (\lambda t)$ [^1]:

    1. $W \leftarrow (1 - \eta_t \lambda) W$;
    2. if $1 + \max_{i \ne y_t} g(i, x_t) - g(y_t, x_t) > 0$: the best hyperplane of another class
       loses $\eta_t x_t$, $w_{y_t, z_t}$ gains it; a class with no positive score and with room
       gets a new hyperplane for it;
    3. every `prune_every` events the smallest hyperplanes are dropped, as long as their joint norm
       is at most $c / (\lambda t)$, so that the steps still converge.

    The source has infinitely many hyperplanes of weight 0 in each class. Here, as in its authors'
    toolbox, they serve the event's own class only: a step that pushes one of another class would
    leave the others at 0, and its score as it is.

    Parameters
    ----------
    lam
        $\lambda$, the strength of the regularisation.
    limit
        The most hyperplanes of a class.
    prune_every
        Events between prunings.
    prune
        c, which bounds the joint norm of the hyperplanes that a pruning drops.
    intercept
        Whether to add an input that is always 1.
    max_columns
        The most input names that get a column; inputs of later names are left out, with a warning.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from iln_stream.research.related import AdaptiveMultiHyperplane

    >>> model = preprocessing.StandardScaler() | AdaptiveMultiHyperplane(lam=0.01)
    >>> evaluate.progressive_val_score(datasets.ImageSegments(), model, metrics.Accuracy())
    Accuracy: 8...%

    References
    ----------
    [^1]: Z. Wang, N. Djuric, K. Crammer, S. Vucetic. Trading Representability for Scalability:
    Adaptive Multi-Hyperplane Machine for Nonlinear Classification. KDD 2011.

    """

    def __init__(
        self,
        lam: float = 1e-3,
        limit: int = 20,
        prune_every: int = 10_000,
        prune: float = 10.0,
        intercept: bool = True,
        max_columns: int = 10_000,
    ) -> None:
        require_positive(lam=lam, prune=prune)
        require_counts(limit=limit, prune_every=prune_every, max_columns=max_columns)
        self.lam = lam
        self.limit = limit
        self.prune_every = prune_every
        self.prune = prune
        self.intercept = intercept
        self.max_columns = max_columns
        self._columns = Columns(max_columns)
        self._model = Hyperplanes(lam, limit)

    @property
    def n_hyperplanes(self) -> dict[Any, int]:
        """The number of hyperplanes of each class."""
        model = self._model
        return {c: int(np.sum(model.owner == i)) for i, c in enumerate(model.classes)}

    def predict_one(self, x: Mapping[Any, float]) -> Any:
        """Return the class with the best score, None before any is known."""
        found = self.predict_several([x])
        return found[0] if found else None

    def predict_several(self, xs: Iterable[Mapping[Any, float]]) -> list[Any]:
        """Return the class of each input, faster than one by one; nothing before any is known."""
        if not self._model.classes:
            return []
        X = stacked([self._row(self._columns.row(x)) for x in xs])
        return [self._model.classes[i] for i in self._model.class_scores(X).argmax(axis=1)]

    def learn_one(self, x: Mapping[Any, float], y: Any) -> None:
        """Take one step."""
        self._model.step(self._row(self._columns.learn(x)), self._model.class_of(y))
        if self._model.t % self.prune_every == 0:
            self._model.prune(self.prune)

    def _row(self, row: Any) -> Any:
        return np.concatenate([[1.0], row]) if self.intercept else row  # first: columns grow

    @property
    def _multiclass(self) -> bool:
        return True

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {}
        yield {"limit": 1, "prune_every": 50, "intercept": False}
