"""Why a model predicts what it predicts: Shapley values against a background of other events."""

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, TypeVar

from river import base


def input_of(name: Any) -> Any:
    """Return the input that a name belongs to: the text before "=", if there is one.

    >>> input_of("sky=clear"), input_of("wind"), input_of(7)
    ('sky', 'wind', 7)
    """
    return name.partition("=")[0] if isinstance(name, str) else name


def by_input(x: Mapping[Any, float]) -> dict[Any, dict[Any, float]]:
    """Return the entries of x, grouped by the input that they belong to; an angle is one.

    >>> by_input({"sky=clear": 1.0, "wind": 3.0, "sky=dark": 0.0})
    {'sky': {'sky=clear': 1.0, 'sky=dark': 0.0}, 'wind': {'wind': 3.0}}
    >>> by_input({"hour.sin": 1.0, "hour.cos": 0.0})
    {'hour': {'hour.sin': 1.0, 'hour.cos': 0.0}}
    """
    groups: dict[Any, dict[Any, float]] = {}
    for name, value in x.items():
        of = input_of(name)
        if isinstance(of, str) and of.endswith((".sin", ".cos")):
            of = of[:-4]
        groups.setdefault(of, {})[name] = value
    return groups


Outcome = Callable[[Mapping[Any, float]], float]


def outcome_of(model: base.Estimator, x: Mapping[Any, float], label: Any = None) -> Outcome:
    """Return a function from inputs to a number.

    Parameters
    ----------
    model
        A River regressor, or a River classifier that predicts probabilities.
    x
        The inputs of the prediction.
    label
        The class whose probability is wanted; None: the most probable class at x.

    """
    if not isinstance(model, base.Classifier):  # a pipeline is an instance of its last step's class
        predict_one = model.predict_one
        return lambda inputs: float(predict_one(inputs))
    predict_proba_one = model.predict_proba_one
    if label is None:
        probabilities = predict_proba_one(x)
        label = max(probabilities, key=probabilities.__getitem__, default=None)
    return lambda inputs: float(predict_proba_one(inputs).get(label, 0.0))


P = TypeVar("P", bound=Hashable)


def antithetic(
    order: Sequence[P],
    none: float,
    along: Callable[[Sequence[P]], Iterable[float]],
    everyone: float,
) -> dict[P, float]:
    """Return what each player adds as it joins, averaged over an order and its reverse.

    The results sum to the value of all players minus that of none. They are the Shapley values of
    any game that is a sum of terms of one or two players: of two that only together add something,
    each is the later one in one of the orders. For other games, the mean over random orders is the
    Shapley value.

    Parameters
    ----------
    order
        The players.
    none, everyone
        The values of no player and of all.
    along
        From an order to the values of its first player, of its first two, and so on, but not of
        all.

    Examples
    --------
    >>> def along(order):
    ...     for n in range(1, len(order)):
    ...         yield 6.0 * ({"a", "b"} <= set(order[:n])) + ("c" in order[:n])
    >>> antithetic("abc", 0.0, along, 7.0)
    {'a': 3.0, 'b': 3.0, 'c': 1.0}

    """
    shares = dict.fromkeys(order, 0.0)
    for each in (order, order[::-1]):
        before = none
        for player, after in zip(each, (*along(each), everyone), strict=False):
            shares[player] += (after - before) / 2.0
            before = after
    return shares


@dataclass(frozen=True)
class Explanation:
    """What each input contributes to a prediction.

    Parameters
    ----------
    prediction
        The prediction that is explained: a target, or the probability of a class.
    baseline
        The mean prediction over the background.
    contributions
        By input, in the units of the prediction; they sum to `prediction - baseline`, to within
        rounding. Inputs are those of x, and then those that only the background has. Names with the
        same text before "=", or before ".sin" and ".cos", are one input, by that text.

    """

    prediction: float
    baseline: float
    contributions: dict[Any, float]

    def largest(self, n: int) -> dict[Any, float]:
        """Return the n contributions with the largest absolute values, the largest first.

        >>> Explanation(5.0, 1.0, {"a": 1.0, "b": -2.0, "c": 5.0}).largest(2)
        {'c': 5.0, 'b': -2.0}
        """
        ordered = sorted(self.contributions.items(), key=lambda item: -abs(item[1]))
        return dict(ordered[:n])


def explain_one(
    model: base.Estimator,
    x: Mapping[Any, float],
    background: Iterable[Mapping[Any, float]],
    *,
    label: Any = None,
    n_pairs: int = 1,
    seed: int = 0,
) -> Explanation:
    r"""Return the Shapley values [^1] of a model's prediction for x.

    For an event b of the background, the game's players are the inputs in which x and b differ, and
    a coalition's value is the prediction for b with the coalition's inputs taken from x. Shapley
    values of the games are averaged over the background, so they sum to the prediction for x minus
    the baseline, the mean prediction over the background. An input that is absent from x or b is
    taken as absent: to be missing counts as a value.

    For each b the values are estimated by `n_pairs` random orders of the inputs and their reverses
    [^2]: exact where the model is a sum of functions of one or two inputs, and otherwise unbiased.
    With m events and d inputs that takes up to m (2 n_pairs (d - 1) + 1) + 1 predictions. Nothing
    is learned.

    Inputs are exchanged one by one, as if they were independent: where they are correlated, the
    model is asked about combinations that never occur. The values describe the model, not what
    causes the target.

    Parameters
    ----------
    model
        Any River regressor, or a River classifier with `predict_proba_one`, of which a class's
        probability is explained. Probabilities are finite and add up; log-odds would be infinite
        where a model is certain.
    x
        Inputs, as passed to `predict_one`.
    background
        Events to compare x with, such as past ones; at least one.
    label
        The class whose probability is explained; None: the most probable class at x.
    n_pairs
        Number of orders, each with its reverse, for each event of the background.
    seed
        Seeds the orders.

    Raises
    ------
    ValueError
        When the background is empty, or `n_pairs` is less than 1.

    References
    ----------
    [^1]: E. Strumbelj, I. Kononenko. Explaining prediction models and individual predictions with
    feature contributions. Knowledge and Information Systems 41, 2014.
    [^2]: R. Mitchell, J. Cooper, E. Frank, G. Holmes. Sampling permutations for Shapley value
    estimation. Journal of Machine Learning Research 23, 2022.

    Examples
    --------
    >>> from river import base
    >>> from iln_stream.explaining import explain_one
    >>> class Area(base.Regressor):
    ...     def learn_one(self, x, y): ...
    ...     def predict_one(self, x):
    ...         return x["width"] * x["height"]
    >>> explain_one(Area(), {"width": 3.0, "height": 2.0}, [{"width": 1.0, "height": 1.0}])
    Explanation(prediction=6.0, baseline=1.0, contributions={'width': 3.0, 'height': 2.0})

    """
    background = list(background)
    if not background:
        raise ValueError("the background is empty: give at least one event to compare x with")
    if n_pairs < 1:
        raise ValueError(f"n_pairs = {n_pairs} must be at least 1")
    if not all(isinstance(event, Mapping) for event in background):
        raise ValueError("background must be a list of events, each a dict of inputs")
    outcome = outcome_of(model, x, label)
    prediction, random = outcome(x), Random(seed)  # noqa: S311
    baselines: list[float] = []
    shares: dict[Any, list[float]] = {player: [] for player in by_input(x)}
    for event in background:
        exchange = _Exchange(outcome, x, event)
        order = exchange.players
        baselines.append(outcome(event) if order else prediction)
        for player in by_input(event):
            shares.setdefault(player, [])
        for _ in range(n_pairs):
            random.shuffle(order)
            found = antithetic(order, baselines[-1], exchange.along, prediction)
            for player, share in found.items():
                shares[player].append(share)
    m = len(background)
    contributions = {player: math.fsum(parts) / (m * n_pairs) for player, parts in shares.items()}
    return Explanation(prediction, math.fsum(baselines) / m, contributions)


def mean_contributions(
    model: base.Estimator, events: Sequence[Mapping[Any, float]]
) -> dict[Any, float]:
    """Return the share of each input in how far it moves predictions; they sum to one.

    It is the mean absolute contribution, as of `explain_one`, over pairs of events: each is
    compared with up to two others, as far as that takes some 500 predictions.

    Parameters
    ----------
    model
        As of `explain_one`; of a classifier, the probability of the most probable class moves.
    events
        Inputs of events, which are compared with each other; of fewer than two there is no share.

    Examples
    --------
    >>> from river import base
    >>> from iln_stream.learners.explaining import mean_contributions
    >>> class Sum(base.Regressor):
    ...     def learn_one(self, x, y): ...
    ...     def predict_one(self, x):
    ...         return 3.0 * x["a"] + x.get("sky=clear", 0.0)
    >>> mean_contributions(Sum(), [{"a": 1.0, "b": 7.0}, {"a": 2.0, "b": 5.0, "sky=clear": 1.0}])
    {'a': 0.75, 'b': 0.0, 'sky': 0.25}

    """
    sums = {player: 0.0 for event in events for player in by_input(event)}
    n, random = len(events), Random(0)  # noqa: S311
    others = [(i, (i + step) % n) for step in range(1, min(n, 3)) for i in range(n)]
    for i, j in others[: max(1, _PREDICTIONS // (2 * len(sums) or 1))]:
        x, event = events[i], events[j]
        outcome = outcome_of(model, x)
        exchange = _Exchange(outcome, x, event)
        random.shuffle(order := exchange.players)
        if order:
            found = antithetic(order, outcome(event), exchange.along, outcome(x))
            for player, share in found.items():
                sums[player] += abs(share)
    total = math.fsum(sums.values())
    return {player: share / total for player, share in sums.items()} if total else {}


_PREDICTIONS = 500


class _Exchange:
    """Exchanges an event's inputs for those of x."""

    def __init__(
        self, outcome: Outcome, x: Mapping[Any, float], event: Mapping[Any, float]
    ) -> None:
        self._outcome = outcome
        self._event = event
        self._before, self._after = by_input(event), by_input(x)
        # the inputs in which the event and x differ
        self.players = [
            player
            for player in {**self._after, **self._before}
            if self._before.get(player) != self._after.get(player)
        ]

    def along(self, order: Sequence[Any]) -> Iterator[float]:
        """Yield the predictions as inputs are exchanged in this order, up to the last but one."""
        mixed = dict(self._event)
        for player in order[:-1]:
            for name in self._before.get(player, ()):
                del mixed[name]
            mixed.update(self._after.get(player, ()))
            yield self._outcome(mixed.copy())
