"""InfiniteLayerRegressor, the learner to try first."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from river import base

from iln_stream.learners.checks import (
    clipped_target,
    require_level,
    require_max_columns,
    require_profile,
    weight_of_event,
)
from iln_stream.learners.explaining import Explanation
from iln_stream.learners.infinite_layer.base import InfiniteLayerLearner, column_of
from iln_stream.learners.infinite_layer.category_effects import Effects
from iln_stream.learners.infinite_layer.hashed_categories import HashedCategories, SplitInputs
from iln_stream.learners.metrics import SHRUNK, algorithm_1_flags, mixture_metrics
from iln_stream.learners.preprocessing.moments import LARGEST_VALUE
from iln_stream.learners.restoring import random_key, restorable
from iln_stream.learners.shrinking_gradient import ShrinkingGradient
from iln_stream.learners.tables import TableEvents, require_length
from iln_stream.reporting import FlagSpec, MetricSpec, Report
from iln_stream.state import StateDict

if TYPE_CHECKING:
    from iln_stream.learners.infinite_layer.accurate import AccurateEngine
    from iln_stream.learners.infinite_layer.fast import FastEngine
    from iln_stream.learners.infinite_layer.tokens import PredictedWith


class _Look(NamedTuple):
    """What was predicted for an event with hashed categories."""

    event: SplitInputs
    effects: list[float]  # 0 if they are broken
    prediction: float  # the engine's
    broken: bool


def _with_plain_forecasts(state: StateDict) -> StateDict:
    """From version 5: forecasts that begin with the next event, and count 100 events later."""
    from iln_stream.learners.infinite_layer.plain_forecasts import WAITING, PlainForecasts

    learned = state["learned"]
    plain = PlainForecasts(learned["inputs"]["stats"].shape[1], counts_from=WAITING)
    return {**state, "learned": {**learned, "plain": plain.state()}}


@restorable
class InfiniteLayerRegressor(InfiniteLayerLearner[Effects], base.MiniBatchRegressor):
    """Online regression on raw streams, with little to tune: `profile` and `loss`.

    Mixes several models, the experts below. Many are infinite-layer networks: the mean of
    psi(x; w) f(w) over hidden units w, whose distribution is learned, too; the ridges have random
    ones [^1]. Inputs are finite numbers of any scale, and may be absent, constant or new. None, nan
    and texts are refused: put `RecordInputs()` in front. Integer codes are read as quantities:
    declare them there as categories.

    `expert_weights` has the weight of each expert in the prediction:

    ======================================== ====================================================
    expert                                   predicts by
    ======================================== ====================================================
    ``dense``, ``sparse``                    ridge regression on 320 random hidden units
                                             (smooth cosines of all inputs; ReLUs of 2 or 4)
    ``recent``                               the same; its units also see the last two targets
    ``forgetting-rls``                       dense's units, with less weight for older events
    ``first-order``                          Algorithm 1 on a pool of cosines
    ``linear``, ``linear-fast``              a linear function of the inputs
    ``linear-recent``                        a linear function that sees the last two targets
    ``net-smooth-..``, ``net-piecewise-..``  networks trained on each event and on 15 past ones;
                                             averages of weights over a long or a short time
    ``net-recent..``                         such a network that sees the last two targets
    ``krls-t``                               a Gaussian process on a hundred past inputs
    ``median``                               the median target of events with such a prediction
    ``neighbours``                           the median target of events with nearby inputs
    ``nearest-as-of``                        the target of the event with the most similar inputs
    ``running-mean``                         the mean target
    ``persistence``, ``last-value``          the last target, among scaled and among raw targets
    ``difference``                           the last target and a change learned from the last 12
    ``seasonal``                             the last target and the change one season ago
    ``least-squares``, ``indicators``        lines in raw inputs; also an effect of each value of
                                             inputs with few values
    ``leader``                               a mean of the raw forecasts, by their errors so far
    ======================================== ====================================================

    The profile "fast" has one ridge on 64 units that gradients on past events move, the mean, the
    last target, that ridge stretched to the ends of the targets' range, and the raw forecasts: from
    `last-value`, `difference`, `seasonal`, `least-squares`, `indicators` and `leader`.

    Experts on the last targets assume that each label arrives before the next prediction. If labels
    are late, predict with `predict_token` and learn with `learn_token`: experts then learn from the
    targets that were the last ones at the prediction, and intervals regain their coverage after
    many delays.

    Time and memory per event are bounded: O(R^2) for R = 320 units, and about 7 MB at 10 inputs.
    All randomness is a function of the seed and of the number of events learned.

    Parameters
    ----------
    profile
        "accurate" or "fast".
    seed
        Seeds all randomness. None: drawn from the system's entropy.
    loss
        "absolute": predictions approach the conditional median of the target, which minimises the
        mean absolute error. "squared": its mean, which minimises the mean squared error. They
        differ if the noise is skewed: the median of a rare count is 0. Targets beyond six
        standard deviations count as if they lay there.
    max_columns
        The most input names given a column; time and memory grow with its square. Inputs of later
        names are left out and counted in `n_overflowed`. Categories, inputs "field=category" of
        value 1, are not left out: those without a column, as beyond 32 of a field, are hashed and
        counted in `n_hashed`.

    Notes
    -----
    1. **Inputs** are standardised by running statistics that are robust to outliers.
    2. **A mixing rule** weighs networks and `krls-t` by their regrets (`MLPoly`), so that the
       mixture is not much worse than the best of them. A second rule weighs this mixture and most
       other experts by squared errors; the result is a `mean`. A third rule weighs that mean,
       `median`, `neighbours` and `nearest-as-of` by absolute errors. So the prediction approaches
       the conditional median; see `loss`.
    3. **Raw forecasts**, in the target's units and outside of any clip, are mixed with that
       prediction; see `PlainForecasts`. They follow growth, bursts and seasons.
    4. **Learning.** After 64, 128, ..., 2048 events the units are redrawn from a prior reshaped by
       the average outer product of the learned function's gradients [^2], and trained on the last
       2048 events, 64 per new event. `sparse` continues to be redrawn while the stream runs. Ridges
       with next to no weight sleep after 4,096 events, and start over when the error doubles.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from iln_stream import InfiniteLayerRegressor

    >>> model = InfiniteLayerRegressor(seed=1)
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 0.185...

    References
    ----------
    [^1]: A. Rudi, L. Rosasco. Generalization properties of learning with random features.
    NeurIPS 2017.
    [^2]: A. Radhakrishnan, D. Beaglehole, P. Pandit, M. Belkin. Mechanism for feature learning in
    neural networks and backpropagation-free machine learning models. Science, 2024.

    """

    _engine: "AccurateEngine | FastEngine"

    state_version = 6
    migrations: ClassVar = {5: _with_plain_forecasts}

    def __init__(
        self,
        profile: Literal["accurate", "fast"] = "accurate",
        seed: int | None = None,
        max_columns: int = 512,
        loss: Literal["absolute", "squared"] = "absolute",
    ) -> None:
        super().__init__()
        require_profile(profile)
        if loss not in ("absolute", "squared"):
            raise ValueError(f"loss = {loss!r} must be 'absolute' or 'squared'")
        require_max_columns(max_columns)
        self.profile = profile
        self.seed = seed
        self.max_columns = max_columns
        self.loss = loss
        self._key = random_key(seed)
        self._engine = self._new_engine()
        self._categories = HashedCategories(max_columns, Effects)
        self._beginning = []

    def _new_engine(self) -> Any:
        # Imported here, so that `import iln_stream` does not wait for numba.
        from iln_stream.learners.infinite_layer.accurate import AccurateEngine
        from iln_stream.learners.infinite_layer.fast import FastEngine

        engine = AccurateEngine if self.profile == "accurate" else FastEngine
        return engine(self.max_columns, self._key, squared=self.loss == "squared")

    def predict_one(self, x: Mapping[Any, float]) -> float:
        """Return the prediction for x; 0 before the first label.

        Raises
        ------
        ValueError
            When an input is not a finite number.

        """
        with self._turn:
            event = self._with_hashed(x)
            if event is None:
                return self._engine.predict(x)
            look = self._last_look = self._look(event)
            return look.prediction + sum(look.effects)

    def predict_interval(self, x: Mapping[Any, float], level: float = 0.9) -> tuple[float, float]:
        """Return a finite interval, which contains the target in the share `level` of the events.

        The share holds over the stream, not at each x, and is lower in the first fifty events. Ask
        before the event is learned. The interval also contains the prediction, and an interval of a
        higher level contains those of lower ones; see `Intervals`.

        Raises
        ------
        ValueError
            When `level` is not between 0 and 1, or an input is not a finite number.

        """
        require_level(level)
        with self._turn:
            event = self._with_hashed(x)
            if event is None:
                return self._engine.interval(x, level)
            effects, _ = self._effects_of(event)
            low, high = self._engine.interval(self._for_engine(event, effects), level)
            effect = sum(effects)
            return low + effect, high + effect

    def predict_token(self, x: Mapping[Any, float]) -> tuple[float, NDArray[np.float64]]:
        """Return the prediction for x, and a token for `learn_token`.

        A token has 27 numbers with profile "accurate", 18 with "fast": what was predicted, from
        which last targets, by each expert, and the ends of the intervals. It is valid for later
        states of this learner, those of a snapshot included.

        Raises
        ------
        ValueError
            When an input is not a finite number.

        """
        with self._turn:
            event = self._with_hashed(x)
            if event is None:
                return self._engine.predict_token(x)
            effects, broken = self._effects_of(event)
            prediction, token = self._engine.predict_token(self._for_engine(event, effects))
            self._last_look = _Look(event, effects, prediction, broken)
            effect = sum(effects)
            self._engine.tokens.shift(token, effect)
            return prediction + effect, token

    def explain_one(
        self, x: Mapping[Any, float], background: Iterable[Mapping[Any, float]] | None = None
    ) -> Explanation:
        """Return what each input contributes to the prediction for x: its Shapley value.

        They sum to the prediction minus the baseline, the mean prediction over the background.
        Nothing is learned, and the result depends only on the learner's state, x and the
        background. See `iln_stream.explaining` for the method and its assumptions. The
        last targets, which are inputs of some experts, stay as they are: what they contribute is in
        the baseline. With 10 inputs and m events of background it costs about 20 x m predictions.

        Parameters
        ----------
        x
            As of `predict_one`.
        background
            Events to compare x with; None: 32 remembered ones, as `background` returns them, or x
            itself before the first event.

        Raises
        ------
        ValueError
            When the background is empty, or an input is not a finite number.

        Examples
        --------
        >>> from iln_stream import InfiniteLayerRegressor
        >>> import random
        >>> draw, model = random.Random(1), InfiniteLayerRegressor("fast", seed=1)
        >>> for _ in range(2000):
        ...     a, b, sky = draw.randrange(11), draw.randrange(13), draw.choice(["clear", "dark"])
        ...     model.learn_one({"a": a, "b": b, f"sky={sky}": 1.0}, 2 * a + 4 * (sky == "dark"))
        >>> found = model.explain_one({"a": 10, "b": 3, "sky=dark": 1.0})
        >>> round(found.prediction), {name: round(c) for name, c in found.largest(2).items()}
        (24, {'a': ..., 'sky': ...})

        """
        return self._explanation(x, background)

    def learn_one(self, x: Mapping[Any, float], y: float, w: float = 1.0) -> None:
        """Learn that y is the target of x.

        Parameters
        ----------
        x
            The inputs.
        y
            The target.
        w
            How much the event counts, 0 to 1e6. With weights 1, it is as without. The losses of
            experts and rules are weighted, also where past events are replayed. Events of weight 0
            change no expert and no rule, except that time passes for those that forget, and that
            networks replay other events. Scales of inputs and target, last targets, intervals,
            drift, `relevance` and the memory in which neighbours are found are of all events alike.

        Raises
        ------
        ValueError
            When y or an input is not a finite number, or w is no weight; nothing is learned from
            such an event.

        """
        if w.__class__ is not float or w != 1.0:
            w = weight_of_event(w)
        if y.__class__ is not float or not -LARGEST_VALUE <= y <= LARGEST_VALUE:
            y = clipped_target(y, LARGEST_VALUE)
        self._learn_event(x, y, w)

    def learn_token(self, x: Mapping[Any, float], token: Any, y: float, w: float = 1.0) -> None:
        """Learn that y is the target of x, where other labels came since its prediction.

        The experts learn by their present weights from the last targets of that time. Intervals and
        drift learn from what was predicted then, if as many labels were known then as have come
        since. So do the experts' weights in the mixture, if ten times as many were known: they
        weigh what an expert can do that lacks the latest labels. Where no other label came since,
        this is `learn_one`. Afterwards the last targets are those of the labels learned last.

        A broken number in the token counts as unknown: what it describes is computed again. x is as
        it was predicted, the token that of its prediction, and w as of `learn_one`.

        Raises
        ------
        ValueError
            As of `learn_one`, and when the token is that of another learner, or of a release with
            other experts; nothing is learned then.

        Examples
        --------
        >>> from iln_stream import InfiniteLayerRegressor
        >>> model = InfiniteLayerRegressor("fast", seed=1)
        >>> tokens = []
        >>> for t in range(500):
        ...     tokens.append(model.predict_token({"a": t % 7})[1])
        ...     if t >= 10:
        ...         model.learn_token({"a": (t - 10) % 7}, tokens[t - 10], (t - 10) % 7)
        >>> round(model.predict_one({"a": 4}))
        4

        """
        w = weight_of_event(w)
        self._learn_event_late(x, token, clipped_target(y, LARGEST_VALUE), w)

    def _learn_hashed(
        self,
        event: SplitInputs,
        x: Mapping[Any, float],
        y: float,
        w: float,
        seen: "PredictedWith | None" = None,
    ) -> None:
        """Learn an event with hashed categories: what effects explain, the engine need not."""
        look = self._last_look
        if look is None or look.event != event:
            look = self._look(event)  # raises an error before anything changes
        if look.broken:
            self._categories.begin_anew()
        engine = self._engine
        admitted, effects = self._admit(event, x)
        if self._engine is not engine or admitted != event:
            look = self._look(admitted)
        inputs, effect = self._for_engine(admitted, look.effects), sum(look.effects)
        prediction = look.prediction
        if seen is None:
            self._engine.learn(inputs, y - effect, w)
        else:
            seen = seen.shifted(-effect)
            prediction = self._engine.learn_late(inputs, seen, y - effect, w)
        effects.learn(admitted.names, look.effects, prediction, y, w)

    def _look(self, event: SplitInputs) -> _Look:
        effects, broken = self._effects_of(event)
        prediction = self._engine.predict(self._for_engine(event, effects))
        return _Look(event, effects, prediction, broken)

    def _effects_of(self, event: SplitInputs) -> tuple[list[float], bool]:
        """Return the effects of an event's hashed categories, and whether they are broken."""
        effects = self._categories.effects
        found = [] if effects is None else effects.of(event.names)
        broken = not math.isfinite(sum(found))
        return (found if found and not broken else [0.0] * len(event.names)), broken

    def _for_engine(self, event: SplitInputs, effects: list[float]) -> Mapping[Any, float]:
        """Return the engine's inputs, with the fields' effects if these get columns.

        Through these columns, effects interact with other inputs. They cost more than they bring on
        the 64 units of the profile "fast".
        """
        if self.profile == "fast":
            return event.x
        place = self._engine.inputs.columns.place
        x = dict(event.x)
        for name, effect in zip(event.names, effects, strict=True):
            column = column_of(name.field)
            if column in place or column in x or len(place.keys() | x.keys()) < self.max_columns:
                x[column] = x.get(column, 0.0) + effect
        return x

    def predict_many(self, X: Any) -> Any:
        """Return the predictions for the rows of a table, as a series of its kind.

        They equal those of `predict_one`; see `TableEvents` for what becomes of texts and
        missing values.

        Parameters
        ----------
        X
            A pandas or polars DataFrame, or a pyarrow Table: one event a row, one input a column.

        Raises
        ------
        ValueError
            When a value is infinite, or neither a number nor a boolean nor a text.

        """
        frame = TableEvents(X)
        return frame.series(
            np.concatenate([np.zeros(0), *self._predicted_rows(frame, self.predict_one)])
        )

    def learn_many(self, X: Any, y: Any, w: Any = 1.0) -> None:
        """Learn the rows of a table in their order, as `learn_one` does one by one.

        With profile `fast` the loop is compiled: at ten inputs it takes about half the time.

        Parameters
        ----------
        X
            The inputs, as for `predict_many`.
        y
            The targets, a series of any kind, an array or a list.
        w
            The weights of the rows, as of `learn_one`: a series, an array or a list, or one number
            for all rows.

        Raises
        ------
        ValueError
            When a value of X is infinite, or neither a number nor a boolean nor a text; when a
            target is missing or not finite; when a weight is missing or not from 0 to 1e6. Nothing
            is learned then.

        """
        frame = TableEvents(X)
        targets = np.clip(frame.targets(y), -LARGEST_VALUE, LARGEST_VALUE)
        self._learn_rows(frame, targets, frame.weights(w))

    @property
    def learns_in_a_row(self) -> bool:
        """Whether `learn_in_a_row` takes events: with profile `fast`, while labels come at once."""
        return self.profile == "fast" and self._engine.fresh is None and self._beginning is None

    def learn_in_a_row(
        self, xs: Sequence[Mapping[Any, float]], y: Sequence[float]
    ) -> tuple[list[float], list[float]]:
        """Predict and learn events, each before the next, as `predict_one` and `learn_one` do.

        With profile `fast` this takes three fifths of the time. It ends before the first event with
        a new name, a hashed category, or an input or target that is not a finite number.

        Parameters
        ----------
        xs
            The inputs of each event.
        y
            The targets.

        Returns
        -------
        tuple
            Predictions, and losses as of `report`, of the events that were learned.

        Raises
        ------
        ValueError
            When there are more or fewer targets than inputs.

        Examples
        --------
        >>> from iln_stream import InfiniteLayerRegressor
        >>> model = InfiniteLayerRegressor("fast", seed=1)
        >>> model.learn_one({"a": 1.0}, 2.0)
        >>> model.learn_in_a_row([{"a": 1.0}, {"a": 2.0}, {"b": 1.0}], [2.0, 2.0, 2.0])
        ([2.0, 2.0], [0.0, 0.0])

        """
        require_length(y, len(xs))
        with self._turn:
            if not self.learns_in_a_row:
                return [], []
            plain = list[Mapping[Any, float]]()
            with suppress(Exception):  # `learn_one` says what is wrong with an event
                for x, target in zip(xs, y, strict=False):
                    if self._with_hashed(x) is not None or not math.isfinite(target):
                        break
                    plain.append(x)
            engine = cast("FastEngine", self._engine)
            predictions, units = engine.learn_in_a_row(plain, y)
            self._last_look = None
        scored = zip(predictions, y, units, strict=False)
        errors = [(y_pred - target) / unit for y_pred, target, unit in scored]  # as in `report`
        return predictions, [error * error / 2 for error in errors]

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

    @property
    def flags(self) -> tuple[FlagSpec, ...]:
        """The flag of Algorithm 1 if it is an expert."""
        return () if self.first_order is None else (SHRUNK,)

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
