"""InfiniteLayerClassifier."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from river import base

from iln_stream.errors import StateError
from iln_stream.learners.checks import require_max_columns, require_profile, weight_of_event
from iln_stream.learners.explaining import Explanation
from iln_stream.learners.infinite_layer.base import InfiniteLayerLearner
from iln_stream.learners.infinite_layer.category_effects import ClassEffects, ClassLook
from iln_stream.learners.infinite_layer.hashed_categories import HashedCategories, SplitInputs
from iln_stream.learners.metrics import (
    columns_metrics,
    expert_metrics,
    hashing_metrics,
    reset_metrics,
)
from iln_stream.learners.restoring import random_key, restorable
from iln_stream.learners.tables import TableEvents
from iln_stream.reporting import MetricSpec
from iln_stream.state import StateDict, encode_name

if TYPE_CHECKING:
    from iln_stream.learners.infinite_layer.classes import ClassificationEngine
    from iln_stream.learners.infinite_layer.tokens import ClassesPredictedWith


MOST_CLASSES = 1_000
"""Of a classifier: at each event all of them take time, 0.05 s for so many."""


def _with_past(state: StateDict) -> StateDict:
    """From version 5, without profiles: what sees the past learns from the next event on."""
    from iln_stream.learners.infinite_layer.classes import with_past

    parameters = state["parameters"] | {"profile": "accurate"}
    return {**state, "parameters": parameters, "learned": with_past(state["learned"])}


@restorable
class InfiniteLayerClassifier(InfiniteLayerLearner[ClassEffects], base.MiniBatchClassifier):
    """Online classification on raw streams, with little to tune: `profile`.

    Experts of two kinds predict the classes. Ridges like those of `InfiniteLayerRegressor`, on 256
    units (`dense`, `sparse`, `sharp`: cosines or rectifiers of some inputs) or on the inputs
    (`linear`), are each fitted to all classes at once, one against the rest, on the same hidden
    units; their scores become probabilities by softmax at four sharpnesses. After 64, 128, ...,
    2048 events the units are redrawn from what was learned. Five networks (`net-..`) with a logit
    for each class, or one for two classes, are trained by a gradient step at each event on the
    event and on fifteen past ones, out of the last 65,536, 1,000 or 300: they keep learning as
    long as the stream runs. Gaussian naive Bayes (`naive-bayes`) and the class `frequencies` are
    experts, too. Five see the past classes alone: the last class (`no-change`), those that followed
    it before (`successors`), the class one period ago (`seasonal`), and how often each came lately
    (`rates-20`, `rates-200`). Two see the inputs and their distances from the means of the last 1,
    4, 16 and 64 events: `changes` is linear in them, and `trees` are ten trees that grow.

    ML-Poly, a mixing rule without a learning rate, mixes the experts' probabilities. The mixture is
    corrected by powers of the experts' probabilities, which Newton steps fit to the log loss, and
    a Bayesian mixture weighs the two. All three discount the past so that they can follow a change,
    so no bound on their total log loss holds. New classes may appear at any time, up to 1,000; time
    and memory grow in proportion to their number.

    The profile `"fast"` has one such ridge, on 64 units, and one network of 96 units, which takes a
    step at every second event after the first 1,024. All else is the same.

    Parameters
    ----------
    profile
        "accurate" or "fast".
    seed
        Seeds all randomness. None: drawn from the system's entropy.
    max_columns
        The most input names given a column; time and memory grow with its square. Inputs of later
        names are left out and counted in `n_overflowed`. Inputs of value 1 are not left out: those
        without a column, as words of a text and categories beyond 32 of a field, are hashed and
        counted in `n_hashed`.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from iln_stream import InfiniteLayerClassifier

    >>> model = InfiniteLayerClassifier(seed=1)
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    Accuracy: 9...%

    """

    _engine: "ClassificationEngine"

    state_version = 6
    migrations: ClassVar = {5: _with_past}

    def __init__(
        self,
        profile: Literal["accurate", "fast"] = "accurate",
        seed: int | None = None,
        max_columns: int = 512,
    ) -> None:
        super().__init__()
        require_profile(profile)
        require_max_columns(max_columns)
        self.profile = profile
        self.seed = seed
        self.max_columns = max_columns
        self._key = random_key(seed)
        self._engine = self._new_engine()
        self._categories = HashedCategories(max_columns, ClassEffects, words=True)
        self._beginning = []

    def _new_engine(self) -> Any:
        # Imported here, so that `import iln_stream` does not wait for numba.
        from iln_stream.learners.infinite_layer.classes import LINEUPS, ClassificationEngine

        return ClassificationEngine(self.max_columns, self._key, LINEUPS[self.profile])

    @property
    def _multiclass(self) -> bool:
        return True

    def predict_proba_one(self, x: Mapping[Any, float]) -> dict[base.typing.ClfTarget, float]:
        """Return the probability of each class seen so far; empty before the first.

        They sum to 1, but a lone class has (n + 1) / (n + 2) after n events: another may come.

        Raises
        ------
        ValueError
            When an input is not a finite number.

        """
        with self._turn:
            found = self._probabilities(x)
            if len(found) == 1:  # as frequent as if the classes had been two from the beginning
                n = float(self._engine.counts[0])
                return dict.fromkeys(found, (n + 1.0) / (n + 2.0))
            return found

    def _probabilities(self, x: Mapping[Any, float]) -> dict[Any, float]:
        event = self._with_hashed(x)
        if event is None:
            return self._engine.predict(x)
        found = self._engine.predict(event.x)
        effects = self._categories.effects
        if effects is None or not found:
            return found
        look = effects.look(event.names, _array(found))
        mixed = effects.mixed(look)
        if not math.isfinite(mixed.sum()):
            return found
        self._last_look = event, look
        return dict(zip(found, mixed.tolist(), strict=True))

    def predict_token(
        self, x: Mapping[Any, float]
    ) -> tuple[dict[base.typing.ClfTarget, float], NDArray[np.float64]]:
        """Return the probabilities of `predict_proba_one`, and a token for `learn_token`.

        A token has 21 numbers for two classes, and 75 for five and more, 11 and 35 with profile
        "fast": what each expert gave the four most probable classes, and the others together. It is
        valid for later states of this learner, those of a snapshot included.

        Raises
        ------
        ValueError
            When an input is not a finite number.

        """
        with self._turn:
            found = self.predict_proba_one(x)
            event = self._with_hashed(x, self._last_look)
            return found, self._engine.predict_token(x if event is None else event.x)[1]

    def explain_one(
        self,
        x: Mapping[Any, float],
        background: Iterable[Mapping[Any, float]] | None = None,
        *,
        label: base.typing.ClfTarget | None = None,
    ) -> Explanation:
        """Return what each input contributes to a class's probability at x: its Shapley value.

        They sum to the probability minus the baseline, its mean over the background. Nothing is
        learned, and the result depends only on the learner's state, x and the background. See
        `iln_stream.explaining` for the method and its assumptions.

        Parameters
        ----------
        x
            As of `predict_proba_one`.
        background
            Events to compare x with; None: 32 remembered ones, as `background` returns them, or x
            itself before the first event.
        label
            The class; None: the most probable one at x.

        Raises
        ------
        ValueError
            When the background is empty, an input is not a finite number, or no event had the
            label.

        Examples
        --------
        >>> from iln_stream import InfiniteLayerClassifier
        >>> model = InfiniteLayerClassifier(seed=1)
        >>> for t in range(300):
        ...     model.learn_one({"a": t * 7 % 11, "b": t * 5 % 13}, t * 7 % 11 > 5)
        >>> found = model.explain_one({"a": 10, "b": 3})
        >>> list(found.largest(1)), round(found.prediction - found.baseline, 1)
        (['a'], 0...)

        """
        if label is not None and label not in (known := self.predict_proba_one(x)):
            told = ", ".join(map(repr, known)) or "none"
            raise ValueError(f"label = {label!r}: no event had it; known: {told}")
        return self._explanation(x, background, label)

    def learn_one(self, x: Mapping[Any, float], y: base.typing.ClfTarget, w: float = 1.0) -> None:
        """Learn that y is the class of x.

        Labels that are equal, such as True and 1, are one class, named by the first of them.

        Parameters
        ----------
        x
            The inputs.
        y
            The class.
        w
            How much the event counts, 0 to 1e6. With weights 1, it is as without. Log losses of
            experts, rules and effects are weighted, also where past events are replayed, and an
            event counts in the classes' frequencies as its weight. So weights of classes shift the
            probabilities. Events of weight 0 change no expert and no rule, except that time passes
            for those that forget, and that networks replay other events; a new class becomes known.
            Scales of inputs and `relevance` are of all events alike.

        Raises
        ------
        ValueError
            When an input is not a finite number, w is no weight, y is a new class beyond 1,000, or
            a state can't store y: a class is a str, int, bool, finite float or a tuple of these; a
            NumPy scalar counts as Python's. Nothing is learned from such an event.

        """
        w = weight_of_event(w)
        (label,) = self._labels([y])
        self._learn_event(x, label, w)

    def learn_token(
        self, x: Mapping[Any, float], token: Any, y: base.typing.ClfTarget, w: float = 1.0
    ) -> None:
        """Learn that y is the class of x, where other labels came since its prediction.

        The experts learn by their present weights; of two classes, from the last labels of that
        time. Their weights in the mixture learn from what was predicted then, if ten times as many
        labels were known then as have come since. Where no other label came since, this is
        `learn_one`. Effects of hashed categories are scored as they are now.

        A token with a broken number has no influence on weights. x is as it was predicted, the
        token that of its prediction, and w as of `learn_one`; y may be a new class.

        Raises
        ------
        ValueError
            As of `learn_one`, and when the token is that of another learner, or of a release with
            other experts; nothing is learned then.

        Examples
        --------
        >>> from iln_stream import InfiniteLayerClassifier
        >>> model = InfiniteLayerClassifier(seed=1)
        >>> tokens = []
        >>> for t in range(100):
        ...     tokens.append(model.predict_token({"a": t % 2})[1])
        ...     if t >= 10:
        ...         model.learn_token({"a": t % 2}, tokens[t - 10], "even" if t % 2 == 0 else "odd")
        >>> model.predict_one({"a": 1})
        'odd'

        """
        w = weight_of_event(w)
        (label,) = self._labels([y])
        self._learn_event_late(x, token, label, w)

    def _learn_hashed(
        self,
        event: SplitInputs,
        x: Mapping[Any, float],
        y: Any,
        w: float,
        seen: "ClassesPredictedWith | None" = None,
    ) -> None:
        """Learn an event with hashed categories: the engine its class, effects what remains."""
        last: tuple[SplitInputs, ClassLook] | None = self._last_look
        if last is None or last[0] != event:
            last = None
            self._engine.predict(event.x)  # raises an error before anything changes
        before = self._engine
        admitted, effects = self._admit(event, x)
        engine, look = self._engine, None
        if y in engine.classes:  # a class never seen can't have been predicted
            if last is not None and engine is before and admitted == event:
                look = last[1]
            else:
                probabilities = _array(engine.predict(admitted.x))
                look = effects.look(admitted.names, probabilities)
                if not math.isfinite(effects.mixed(look).sum()):
                    effects = self._categories.begin_anew()
                    look = effects.look(admitted.names, probabilities)
        if seen is None:
            engine.learn(admitted.x, y, w)
        else:
            engine.learn_late(admitted.x, seen, y, w)
        if look is not None:
            effects.learn(admitted.names, look, engine.classes.index(y), w)

    def predict_proba_many(self, X: Any) -> Any:
        """Return the classes' probabilities for the rows of a table, as a table of its kind.

        They equal those of `predict_proba_one`; see `TableEvents` for what becomes of texts and
        missing values. There is a column for each class seen so far; its name is the class, in
        polars and pyarrow as text.

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
        p = list(chain.from_iterable(self._predicted_rows(frame, self.predict_proba_one)))
        classes = p[0] if p else ()
        return frame.frame({label: [row[label] for row in p] for label in classes})

    def predict_many(self, X: Any) -> Any:
        """Return the most probable class for each row of a table, as a series of its kind."""
        frame = TableEvents(X)
        return frame.series(
            [
                max(p, key=p.__getitem__, default=None)
                for p in chain.from_iterable(self._predicted_rows(frame, self.predict_proba_one))
            ]
        )

    def learn_many(self, X: Any, y: Any, w: Any = 1.0) -> None:
        """Learn the rows of a table in their order, as `learn_one` does one by one.

        Parameters
        ----------
        X
            The inputs, as for `predict_proba_many`.
        y
            The classes, a series of any kind, an array or a list.
        w
            The weights of the rows, as of `learn_one`: a series, an array or a list, or one number
            for all rows.

        Raises
        ------
        ValueError
            When a value of X is infinite, or neither a number nor a boolean nor a text; when a
            class is missing or can't be stored; when a weight is missing or not from 0 to 1e6.
            Nothing is learned then.

        """
        frame = TableEvents(X)
        self._learn_rows(frame, self._labels(frame.labels(y)), frame.weights(w))

    def _labels(self, labels: Iterable[Any]) -> list[Any]:
        """Return labels as `_as_label` does; raise ValueError if there would be too many."""
        known = self._engine.classes
        found = [
            y if y.__class__ in (str, bool, int) and y in known else _as_label(y) for y in labels
        ]
        new = {y for y in found if y not in known}
        if new and len(known) + len(new) > MOST_CLASSES:
            raise ValueError(
                f"y = {max(new, key=str)!r} is a new class, and {MOST_CLASSES:,} are the most: an "
                "id or a number is no class; join rare classes into one"
            )
        return found

    def metrics(self) -> Sequence[MetricSpec]:
        """Return the metrics of the experts, of parts that heal, and of inputs."""
        return (
            *expert_metrics(self),
            *reset_metrics(self),
            *columns_metrics(self),
            *hashing_metrics(self),
        )

    def _unit_test_skips(self) -> set[str]:
        return {"check_predict_proba_one"}  # a class that is alone is not certain

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"seed": 1}
        yield {"seed": 1, "profile": "fast"}


def _array(probabilities: Mapping[Any, float]) -> NDArray[np.float64]:
    return np.fromiter(probabilities.values(), np.float64, len(probabilities))


def _as_label(y: Any) -> Any:
    """Return y with a NumPy scalar made Python's.

    Raises
    ------
    ValueError
        When y is None or a state can't store it.

    """
    label = y.item() if isinstance(y, np.generic) else y
    if label is None:
        raise ValueError(
            "y is None: predict an event without a label, and learn it when you know it"
        )
    try:
        encode_name(label)
    except StateError as error:
        raise ValueError(
            f"y = {y!r} is of type {type(y).__name__}: a class must be a str, int, bool, finite "
            "float or a tuple of these"
        ) from error
    return label
