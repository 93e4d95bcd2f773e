"""The adaptive multi-hyperplane machine, online."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from river import base

from iln_stream.learners import validation
from iln_stream.learners.preprocessing.columns import Columns
from iln_stream.related.hyperplanes import Hyperplanes


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
    >>> from iln_stream.related import AdaptiveMultiHyperplane

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
        validation.require_positive(lam=lam, prune=prune)
        validation.require_counts(limit=limit, prune_every=prune_every, max_columns=max_columns)
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
        rows = [self._row(self._columns.row(x)) for x in xs]
        X = np.zeros((len(rows), max(map(len, rows), default=0)))
        for i, row in enumerate(rows):
            X[i, : len(row)] = row
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
