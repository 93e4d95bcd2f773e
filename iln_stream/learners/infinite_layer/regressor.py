"""InfiniteLayerRegressor, the learner to try first."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from river import base

from iln_stream.learners.frames import Frame, targets
from iln_stream.learners.infinite_layer.engine_learner import EngineLearner
from iln_stream.learners.infinite_layer.migrations import (
    regressor_from_version_2,
    regressor_from_version_3,
)
from iln_stream.learners.preprocessing.moments import LARGEST_VALUE, clipped_target
from iln_stream.learners.random_key import random_key
from iln_stream.learners.reports import SHRUNK, algorithm_1_flags, mixture_metrics
from iln_stream.learners.restoring import restorable
from iln_stream.learners.shrinking_gradient import ShrinkingGradient
from iln_stream.reporting import MetricSpec, Report
from iln_stream.state import Migration


@restorable
class InfiniteLayerRegressor(EngineLearner, base.MiniBatchRegressor):
    r"""Online regression on raw streams, with nothing to tune.

    Infinite-layer networks $f(x) = E_{w \sim \mu}[\psi(x; w) f(w)]$ whose $\mu$, the law of the
    hidden units, is learned too. An event is processed in these steps:

    1. **Inputs** of any scale and offset are standardised by running statistics that are robust to
       outliers. They may be missing, constant or new; they only have to be finite numbers.
    2. **Experts** predict. Three are ridge regressions on 320 random hidden units each, solved
       exactly and recursively [^1]: `dense`, smooth cosines of all inputs; `sparse`, ReLUs of 2 or
       4 inputs; `recent`, cosines of these that also see the last two targets. The others are
       `forgetting-rls`, which forgets, on dense's units; `first-order`, Algorithm 1 on a pool of
       cosines; `linear`, `linear-fast` and `linear-recent`; `running-mean`; and `persistence`, the
       last target. Three are networks whose units keep moving, by gradients of each event and of 15
       past ones: `net-piecewise`, `net-smooth` and `net-recent`, which predict by averages of their
       weights. `krls-t` is a Gaussian process on a hundred past inputs that forgets; it follows
       change. Ridges that weigh next to nothing sleep after 4,096 events, and begin anew when the
       error doubles.
    3. A **rule** weighs networks and `krls-t`, and another this mixture and the rest, by their
       regrets (`MLPoly`): the mixture is not much worse than the best of them. By squared errors
       it gives a `mean`. A last such rule, by absolute errors, weighs that mean; `median`, the
       median target of events with about the same predicted mean; `neighbours`, the median target
       of the events nearest in the relevant inputs; and `nearest-as-of`, the target of the event
       whose inputs had the most similar deviations, both scaled as of that event. The prediction
       therefore tends to the conditional median; see `loss`.
    4. **Learning.** After 64, 128, ..., 2048 events the units are redrawn from a prior reshaped by
       the average outer product of the learned function's gradients [^2], and trained on the last
       2048 events, 64 per new event. `sparse` continues to be redrawn while the stream runs.

    Experts on the last targets assume that each label arrives before the next prediction; if labels
    are late, these experts lose their weight.

    Time and memory per event are bounded: O(R^2) for R = 320 units, and about 7 MB at 10 inputs.
    All randomness is a function of the seed and of the number of events learned.

    The profile `"fast"` uses one ridge on 64 sparse cosines whose covariance is kept in blocks of
    16, the mean, the last target, and the ridge stretched to the ends of the targets' range, under
    one rule. Its units are never redrawn: gradients on past events move them, so that it goes on
    learning as long as the stream does.

    Parameters
    ----------
    profile
        "accurate" or "fast".
    seed
        Seeds all randomness. None: drawn from the system's entropy.
    loss
        "absolute": predictions tend to the conditional median of the target, which minimises the
        mean absolute error. "squared": to its mean, which minimises the mean squared error. They
        differ where the noise is skewed: the median of a rare count is 0. Targets beyond six
        standard deviations count as if they lay there.
    max_columns
        The most input names given a column; the inputs of later names are left out and counted in
        `n_overflowed`. Time and memory grow with its square.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from iln_stream import InfiniteLayerRegressor

    >>> model = InfiniteLayerRegressor(seed=1)
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 0.200...

    References
    ----------
    [^1]: A. Rudi, L. Rosasco. Generalization properties of learning with random features.
    NeurIPS 2017.
    [^2]: A. Radhakrishnan, D. Beaglehole, P. Pandit, M. Belkin. Mechanism for feature learning in
    neural networks and backpropagation-free machine learning models. Science, 2024.

    """

    state_version = 4
    migrations: ClassVar[Mapping[int, Migration]] = {
        2: regressor_from_version_2,
        3: regressor_from_version_3,
    }

    def __init__(
        self,
        profile: Literal["accurate", "fast"] = "accurate",
        seed: int | None = None,
        max_columns: int = 256,
        loss: Literal["absolute", "squared"] = "absolute",
    ) -> None:
        super().__init__()
        # Imported here, so that `import iln_stream` does not wait for numba.
        from iln_stream.learners.infinite_layer.profiles.accurate import AccurateEngine
        from iln_stream.learners.infinite_layer.profiles.fast import FastEngine

        profiles: dict[str, type[AccurateEngine | FastEngine]] = {
            "accurate": AccurateEngine,
            "fast": FastEngine,
        }
        if profile not in profiles:
            raise ValueError(f"profile = {profile!r} must be one of {list(profiles)}")
        if loss not in ("absolute", "squared"):
            raise ValueError(f"loss = {loss!r} must be 'absolute' or 'squared'")
        if not isinstance(max_columns, int) or max_columns < 1:
            raise ValueError(f"max_columns = {max_columns} must be at least 1 name")
        self.profile = profile
        self.seed = seed
        self.max_columns = max_columns
        self.loss = loss
        self._engine: AccurateEngine | FastEngine = profiles[profile](
            max_columns, random_key(seed), squared=loss == "squared"
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

    def predict_interval(self, x: Mapping[Any, float], level: float = 0.9) -> tuple[float, float]:
        """Return a finite interval that contains the target of x with probability `level`.

        It also contains the prediction, need not be symmetric about it, and an interval of a higher
        level contains those of lower ones. Coverage is maintained over time: see `Intervals`.

        Raises
        ------
        ValueError
            When `level` is not between 0 and 1, or an input is not a finite number.

        """
        if not 0.0 < level < 1.0:
            raise ValueError(f"level = {level!r} must lie between 0 and 1")
        with self._turn:
            return self._engine.interval(x, level)

    def learn_one(self, x: Mapping[Any, float], y: float) -> None:
        """Learn that y is the target of x.

        Raises
        ------
        ValueError
            When y or an input is not a finite number; nothing is learned from such an event.

        """
        y = float(y)
        if not -LARGEST_VALUE <= y <= LARGEST_VALUE:
            y = clipped_target(y)
        with self._turn:
            self._engine.learn(x, y)

    def predict_many(self, X: Any) -> Any:
        """Return the predictions for the rows of a table, as a series of its kind.

        They equal those of `predict_one`; see `Frame` for what becomes of texts and missing values.

        Parameters
        ----------
        X
            A pandas or polars DataFrame, or a pyarrow Table: one event a row, one input a column.

        Raises
        ------
        ValueError
            When a value is infinite, or neither a number nor a boolean nor a text.

        """
        frame = Frame(X)
        return frame.series(np.concatenate([np.zeros(0), *self._predicted_rows(frame)]))

    def learn_many(self, X: Any, y: Any) -> None:
        """Learn the rows of a table in their order, as `learn_one` does one by one.

        With profile `fast` the loop is compiled: at ten inputs it takes about half the time.

        Parameters
        ----------
        X
            The inputs, as for `predict_many`.
        y
            The targets, a series of any kind, an array or a list.

        Raises
        ------
        ValueError
            When a value of X is infinite, or neither a number nor a boolean nor a text; when a
            target is missing or not finite. Nothing is learned then.

        """
        frame = Frame(X)
        self._learn_rows(frame, np.clip(targets(y, len(frame)), -LARGEST_VALUE, LARGEST_VALUE))

    @property
    def n_learned(self) -> int:
        """Number of events learned."""
        with self._turn:
            return self._engine.n

    @property
    def n_overflowed(self) -> int:
        """Number of inputs of learned events that got no column."""
        with self._turn:
            return self._engine.n_overflowed

    @property
    def n_reset(self) -> int:
        """How often a part was reinitialised because it was not finite, or out of all bounds."""
        return sum(self.resets.values())

    @property
    def resets(self) -> dict[str, int]:
        """The same by part."""
        with self._turn:
            return dict(self._engine.resets)

    @property
    def expert_weights(self) -> dict[str, float]:
        """Weight of each expert in the prediction, by name; they sum to one."""
        with self._turn:
            return self._engine.expert_weights()

    @property
    def relevance(self) -> dict[Any, float]:
        """Share of each input, by name, in how the function varies; they sum to one.

        The mean square of the gradient along the standardised input, over about the last 500 events
        and over the ridge experts, by their weights in the prediction. While the ridges sleep, that
        of the networks over 16 of the last 256 events.
        """
        with self._turn:
            return self._engine.relevance()

    @property
    def drift(self) -> float:
        """Mean |error| of about the last 50 events over that of 1000; about 1 while steady."""
        with self._turn:
            return self._engine.drift

    @property
    def first_order(self) -> ShrinkingGradient | None:
        """The expert that is Algorithm 1, with its ||alpha||_1 and shrinks; None if "fast"."""
        with self._turn:
            return self._engine.first_order

    @property
    def target_unit(self) -> float:
        """The unit of the scale on which targets are learned, in units of y: 3 running sd."""
        with self._turn:
            return self._engine.unit

    @property
    def redrawn_at(self) -> dict[str, int]:
        """Number of events after which each expert's hidden units were last drawn."""
        with self._turn:
            return self._engine.redrawn_at()

    flags = (SHRUNK,)
    """Flags that an event may raise; see `iln_stream.reporting`."""

    def report(self, y_pred: float, y: float) -> Report:
        """Report half the squared error on the target's scale, and Algorithm 1's flags.

        The loss of the first event is 0: one label gives no scale, and in y's units its error could
        outweigh all later ones.
        """
        engine = self._engine  # called by the learning thread, so without the lock
        error = (y_pred - y) / engine.unit if engine.n > 1 else 0.0
        learner = engine.first_order
        flags = () if learner is None else algorithm_1_flags(learner.last_update)
        return error * error / 2, flags

    def metrics(self) -> Sequence[MetricSpec]:
        """Return the metrics of the experts, and those of Algorithm 1 if it is among them."""
        return mixture_metrics(self)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"seed": 1}
        yield {"profile": "fast", "seed": 1, "loss": "squared"}
