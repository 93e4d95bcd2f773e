"""One ridge regression on random features, with its parameters exposed."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from river import base

from iln_stream.learners.checks import (
    clipped_target,
    require_max_columns,
    require_positive,
    weight_of_event,
)
from iln_stream.learners.infinite_layer.base import EngineLearner
from iln_stream.learners.metrics import columns_metrics, reset_metrics
from iln_stream.learners.preprocessing.moments import LARGEST_VALUE
from iln_stream.learners.restoring import random_key, restorable
from iln_stream.reporting import MetricSpec


def features_wanted(n_events: int) -> int:
    """Return about how many random features n events can use: sqrt(n) log n.

    With that many, ridge regression on random features learns at the rate of the exact kernel,
    O(1 / sqrt(n)) (Rudi and Rosasco 2017, Theorem 1, up to constants).

    >>> [features_wanted(n) for n in (100, 10_000, 1_000_000)]
    [47, 922, 13816]
    """
    if n_events < 1:
        raise ValueError(f"n_events = {n_events} must be at least 1")
    return math.ceil(math.sqrt(n_events) * math.log(n_events)) if n_events > 2 else n_events


@restorable
class RandomFeatureRidge(EngineLearner, base.Regressor):
    """Ridge regression on random features [^1], by exact recursive least squares.

    Learns a linear function of `n_features` hidden units, of the standardised inputs themselves and
    of a constant. Its weights minimise the sum of the squared errors so far, plus `regularization`
    times the squared weights. An event t events ago counts by the power t of `forgetting`, by its
    own weight, and by a Huber weight. Targets are scaled by their running mean and three standard
    deviations. A hidden unit is the `activation` of w z + b, with z the inputs. Each event takes
    O(D^2) time, D = `n_features` + inputs + 1, in double precision. Inputs and targets are scaled
    online, so they may be raw.

    The forgotten part of the penalty is restored, one weight at each event: the covariance never
    winds up in directions without input.

    Parameters
    ----------
    n_features
        M, the number of hidden units; `features_wanted(n)` gives the number that n events can use.
    regularization
        The penalty on the squared weights.
    forgetting
        In (0, 1]; 1 forgets nothing.
    huber
        An error beyond this many running mean absolute errors counts linearly.
    activation
        "cos" or "relu".
    bandwidth
        Units have w ~ N(0, 2 bandwidth / d I): larger is wigglier.
    sampling
        "prior": w is drawn once, for the inputs of the first event; later inputs enter linearly.
        "gradient": after 64, 128, ..., 2048 events the units are redrawn with the average outer
        product of the gradients of f in place of I [^2], and are trained on the last 2048 events,
        64 of them per new event.
    seed
        Seeds all randomness. None: drawn from the system's entropy.
    max_columns
        The most input names given a column; the inputs of later names are left out and counted in
        `n_overflowed`.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from iln_stream import RandomFeatureRidge

    >>> model = RandomFeatureRidge(seed=1)
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 0.44...

    References
    ----------
    [^1]: A. Rudi, L. Rosasco. Generalization properties of learning with random features.
    NeurIPS 2017.
    [^2]: A. Radhakrishnan, D. Beaglehole, P. Pandit, M. Belkin. Mechanism for feature learning in
    neural networks and backpropagation-free machine learning models. Science, 2024.

    """

    state_version = 3

    def __init__(
        self,
        n_features: int = 256,
        regularization: float = 0.1,
        forgetting: float = 1.0,
        huber: float = 2.0,
        activation: Literal["cos", "relu"] = "cos",
        bandwidth: float = 0.7,
        sampling: Literal["prior", "gradient"] = "gradient",
        seed: int | None = None,
        max_columns: int = 256,
    ) -> None:
        super().__init__()
        # Imported here, so that `import iln_stream` does not wait for numba.
        from iln_stream.learners.infinite_layer.experts.rls_bank import (
            ACTIVATIONS,
            RLSSpec,
            WeightDistribution,
        )
        from iln_stream.learners.infinite_layer.single_ridge import SingleRidgeEngine

        require_positive(regularization=regularization, huber=huber, bandwidth=bandwidth)
        if n_features < 1:
            raise ValueError(f"n_features = {n_features} must be at least 1 hidden unit")
        if not 0.0 < forgetting <= 1.0:
            raise ValueError(f"forgetting = {forgetting!r} must be above 0 and at most 1")
        if activation not in ACTIVATIONS:
            raise ValueError(f"activation = {activation!r} must be one of {list(ACTIVATIONS)}")
        if sampling not in ("prior", "gradient"):
            raise ValueError(f"sampling = {sampling!r} must be 'prior' or 'gradient'")
        require_max_columns(max_columns)
        self.n_features = n_features
        self.regularization = regularization
        self.forgetting = forgetting
        self.huber = huber
        self.activation = activation
        self.bandwidth = bandwidth
        self.sampling = sampling
        self.seed = seed
        self.max_columns = max_columns
        prior = WeightDistribution(activation, bandwidth, sparse=False)
        self._engine: SingleRidgeEngine = SingleRidgeEngine(
            RLSSpec("ridge", prior, forgetting=forgetting),
            n_features,
            regularization,
            huber,
            resampled=sampling == "gradient",
            max_columns=max_columns,
            key=random_key(seed),
        )

    def predict_one(self, x: Mapping[Any, float]) -> float:
        """Return the prediction for x; 0 before the first label.

        Raises
        ------
        ValueError
            When an input is not a finite number.

        """
        with self._turn:
            return self._engine.predict(x)

    def predict_token(self, x: Mapping[Any, float]) -> tuple[float, NDArray[np.float64]]:
        """Return the prediction for x, and a token for `learn_token`, of five numbers.

        Raises
        ------
        ValueError
            When an input is not a finite number.

        """
        with self._turn:
            return self._engine.predict_token(x)

    def learn_one(self, x: Mapping[Any, float], y: float, w: float = 1.0) -> None:
        """Learn that y is the target of x.

        Parameters
        ----------
        x
            The inputs.
        y
            The target.
        w
            Its weight in the sum of squares, 0 to 1e6: 2 counts like the same row twice, and 0 adds
            nothing to the sum. Scales, Huber's mean error, drift and the law of the units are of
            all events alike.

        Raises
        ------
        ValueError
            When y or an input is not a finite number, or w is no weight; nothing is learned from
            such an event.

        """
        w = weight_of_event(w)
        y = clipped_target(y, LARGEST_VALUE)
        with self._turn:
            self._engine.learn(x, y, w)

    def learn_token(self, x: Mapping[Any, float], token: Any, y: float, w: float = 1.0) -> None:
        """Learn that y is the target of x, where other labels came since its prediction.

        This is `learn_one`, except that drift is measured by what was predicted then. x is as it
        was predicted, the token that of its prediction, and w as of `learn_one`.

        Raises
        ------
        ValueError
            As of `learn_one`, and when the token is that of another learner; nothing is learned
            then.

        """
        w = weight_of_event(w)
        y = clipped_target(y, LARGEST_VALUE)
        with self._turn:
            seen = self._engine.tokens.read(token)
            if seen.n == self._engine.n:
                self._engine.learn(x, y, w)
            else:
                self._engine.learn_late(x, seen, y, w)

    def metrics(self) -> Sequence[MetricSpec]:
        """Return the metrics of the columns and of the parts that heal."""
        return (*columns_metrics(self), *reset_metrics(self))

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"n_features": 32, "seed": 1}
        yield {"n_features": 32, "activation": "relu", "sampling": "prior", "seed": 1}
