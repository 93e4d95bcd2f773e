"""Predictors of frozen infinite-layer learners: NumPy only."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from iln_stream.features.base import LARGEST_INPUT
from iln_stream.learners.frozen.network import Matrix, in_blocks, load, matrix_of, row_of, save
from iln_stream.state import Migration, StateDict, StateSchema

Parts = Mapping[str, Any]
"""Arrays, plain values and further parts, by name."""


def mixed(rule: Parts, p: Matrix) -> Matrix:
    """Return the mean (n,) of predictions p (n, K) by the weights (K,) of a rule.

    Experts that are not awake (K,), or whose prediction is not finite, do not count. Where no
    expert that counts has weight, all that count weigh the same.
    """
    counts = rule["awake"] & np.isfinite(p)
    weights = np.where(counts, rule["weights"], 0.0)
    weights = np.where(weights.sum(axis=1, keepdims=True) > 0.0, weights, counts)
    total = np.maximum(weights.sum(axis=1), np.finfo(float).tiny)
    value: Matrix = (weights * np.where(counts, p, 0.0)).sum(axis=1) / total
    return value


ROBUST = 30
"""Columns with fewer values clip a new one to `lower` and `upper`, others at 6 sd."""


def standardised(stats: Matrix, X: Matrix) -> tuple[Matrix, Matrix]:
    """Return raw rows and their deviations, both (n, d); nan marks what stays absent in the rows.

    An absent value is 0 where 0 is an ordinary value of its column, and otherwise unknown, with
    deviation 0. The statistics include the row itself, as those of the learner do.

    Parameters
    ----------
    stats
        Of each column (7, d): the number of values, their mean, the sum of squares about it, the
        smallest and largest value, and the bounds of values while there are few.
    X
        Raw inputs (n, d), nan where absent.

    """
    count, mean, squares, low, high, lower, upper = stats
    width = high - low
    ordinary = (count > 0.0) & ((width == 0.0) | ((low <= width) & (high >= -width)))
    row = np.where(np.isnan(X), np.where(ordinary, 0.0, np.nan), X)
    row = np.clip(row, -LARGEST_INPUT, LARGEST_INPUT)
    settled = count >= ROBUST
    delta = np.where(settled, row, np.clip(row, lower, upper)) - mean
    fence = np.where(
        settled & (squares > 0.0), 6.0 * np.sqrt(squares / np.maximum(count, 1.0)), np.inf
    )
    delta = np.clip(delta, -fence, fence)
    step = delta / (count + 1.0)
    mean_with = mean + step
    variance = (squares + delta * (delta - step)) / (count + 1.0)
    varies = (variance > 1e-26 * mean_with * mean_with) & (variance > 0.0)
    z = (row - mean_with) / np.sqrt(np.where(varies, variance, 1.0))
    return row, np.where(varies & ~np.isnan(row), np.clip(z, -5.0, 5.0), 0.0)


@dataclass(frozen=True)
class Event:
    """Events as experts see them: raw rows and deviations z, (n, d), and v = [last targets, z].

    `center` and `unit` are the target's scale.
    """

    row: Matrix
    z: Matrix
    v: Matrix
    center: float
    unit: float


MISSING = np.float32(3e38)
"""Marks absent values and segments that do not exist."""

FURTHEST = 1e38
ABSENT = 1e300

CENTER, INVERSE, FILL, LEVELS = range(4)
LOWER, SLOPE, END = 8, 24, 40
"""Columns of the encoding (L, 40): the mean; 1 / sd or 0; what an absent value stands for; the
number of quantiles; and their lower ends and the inverse lengths of the segments between them."""


class Encoded:
    """Inputs of networks, (n, L) each: deviations, segments (-1: none), and places in these."""

    def __init__(self, parts: Parts, row: Matrix) -> None:
        """Encode raw rows (n, d); the lags are the differences (2,) of the last targets."""
        encoding, origins = parts["encoding"], parts["origins"]
        known = ~np.isnan(row) & (origins < ABSENT)
        difference = np.clip(np.where(known, row - origins, 0.0), -FURTHEST, FURTHEST)
        inputs = np.where(known, difference.astype(np.float32), MISSING)
        lags = np.broadcast_to(parts["lags"], (len(row), len(parts["lags"])))
        value = np.concatenate([lags, inputs], axis=1)
        value = np.where(value >= MISSING, encoding[:, FILL], value)
        absent = value >= MISSING
        value = np.where(absent, np.float32(0.0), value)
        z = np.clip((value - encoding[:, CENTER]) * encoding[:, INVERSE], -5.0, 5.0)
        self.z = np.where(absent, np.float32(0.0), z)
        lower, slope = encoding[:, LOWER:SLOPE], encoding[:, SLOPE:END]
        segment = np.count_nonzero(value[:, :, None] >= lower[None, :, 1:], axis=2)
        column = np.arange(len(encoding))
        along = (value - lower[column, segment]) * slope[column, segment]
        known = ~absent & (encoding[:, LEVELS] >= 3.0) & (encoding[:, INVERSE] > 0.0)
        self.segment = np.where(known, segment, -1)
        self.along = np.where(known, np.clip(along, 0.0, 1.0), 0.0)


def outputs(network: Parts, inputs: Encoded) -> Matrix:
    """Return o = b3 + w3.h2 + skip.z, (n, O).

    h1 = sigma(W1'z + b1 + piecewise-linear functions of the columns), h2 = sigma(W2'h1 + b2). sigma
    is tanh in the first half of a layer and u / (1 + exp(-u)) in the second. A column's increments
    over the segments between its quantiles are (15, U), and move the last U units of the first
    layer.
    """
    h = inputs.z @ network["W1"] + network["b1"]
    increments = network["increments"]
    if (n_units := increments.shape[2]) > 0:
        at_knots = np.concatenate(
            [np.zeros_like(increments[:, :1]), np.cumsum(increments, axis=1)], axis=1
        )
        for f in range(len(increments)):
            b, known = inputs.segment[:, f], inputs.segment[:, f] >= 0
            last = np.minimum(b, increments.shape[1] - 1)  # a value at the last knot
            added = at_knots[f, b] + inputs.along[:, f, None] * increments[f, last]
            h[:, -n_units:] += np.where(known[:, None], added, 0.0)
    h = _activated(_activated(h) @ network["W2"] + network["b2"])
    found: Matrix = (h @ network["w3"].T + network["b3"] + inputs.z @ network["skip"]).astype(
        np.float64
    )
    return found


def _activated(u: Matrix) -> Matrix:
    middle = u.shape[1] // 2
    first, second = u[:, :middle], u[:, middle:]
    half = second.dtype.type(0.5)
    return np.concatenate([np.tanh(first), second * (half + half * np.tanh(half * second))], axis=1)


WIDTH = 3.0
"""Standard deviations in one unit of the target's scale: networks predict these."""

LINEAR = 0.3
"""Factor of the linear features."""

FENCE, LARGEST = 2.0, 1e6
"""Predictions are clipped to +-2 units of the target; those beyond 1e6 units do not count."""


def features(units: Parts, v: Matrix) -> Matrix:
    """Return phi = [3 sqrt(2 / R) sigma(v.omega + b), 1, 0.3 v], (n, R + 1 + L), of v (n, L).

    `units` has omega (L, R), b (R,), linear (L,), the share of each linear feature, and activation:
    "cos", whose argument is in turns, or "relu".
    """
    u = v @ units["omega"].astype(np.float64) + units["b"]
    if units["activation"] == "cos":
        sigma = np.cos(2.0 * math.pi * (u - np.round(u)))
    else:
        sigma = np.maximum(u, 0.0)
    scale = 3.0 * math.sqrt(2.0 / max(u.shape[1], 1))
    ones = np.ones((len(v), 1))
    return np.concatenate([scale * sigma, ones, LINEAR * v * units["linear"]], axis=1)


def fenced(p: Matrix) -> Matrix:
    """Return predictions within +-2; nan where they have left all bounds."""
    return np.where(np.abs(p) <= LARGEST, np.clip(p, -FENCE, FENCE), np.nan)


def _kernel(form: Parts, event: Event, before: Matrix) -> Matrix:
    """Predict sum_b alpha_b exp(-|z - point_b|^2 / (2 s)) at the deviations z.

    The form has points (d, B), alpha (B,) and scale, s; a scale of 0 means that it has not begun.
    """
    points, z = form["points"], event.z
    if form["scale"] == 0.0:
        return np.zeros(len(z))
    squares = np.zeros((len(z), points.shape[1]))
    for j in range(z.shape[1]):
        squares += (points[j] - z[:, j, None]) ** 2
    return fenced(np.exp(-0.5 * squares / form["scale"]) @ form["alpha"])


SIMILAR, NEAR = 31, 5
FURTHEST_NEIGHBOUR = 10.0


def _neighbours(memory: Parts, event: Event, before: Matrix) -> Matrix:
    """Make three predictions (n, 3) by events that resemble the new one.

    They are the median target of the 31 events with the most similar predicted mean, which is the
    prediction before these; that of the 5 events nearest in the relevant inputs; and the target,
    scaled as of its event, of the event with the most similar deviations, as of its event as well.
    While there are fewer than 31 events the first two are the mean.

    The form has of N events: raw columns (d, N), targets (N,), metric (d,), the weight of a
    difference in each column; predicted means in ascending order, `ordered` (N,), and the targets
    in that order, `carried`; deviations (d, N) and scaled targets (N,), as of each event.
    """
    mean, row, center, unit = before[:, -1], event.row, event.center, event.unit
    p = np.repeat(mean[:, None], 3, axis=1)
    if len(memory["targets"]) >= SIMILAR:
        middle = [_median_where(memory, key) for key in (center + unit * mean).tolist()]
        near = [_median_of_nearest(memory, each) for each in np.where(np.isnan(row), ABSENT, row)]
        for k, targets in enumerate((middle, near)):
            p[:, k] = np.clip((np.array(targets) - center) / unit, -FENCE, FENCE)
    if len(memory["targets"]) > 0:
        p[:, 2] = [_target_of_most_alike(memory, each) for each in event.z]
    return p


def _median_where(memory: Parts, key: float) -> float:
    """The median target of the events whose predicted means are nearest to the key."""
    keys, n = memory["ordered"], len(memory["ordered"])
    right = int(np.searchsorted(keys, key))
    left = right - 1
    for _ in range(SIMILAR):
        if right == n or (left >= 0 and key - keys[left] <= keys[right] - key):
            left -= 1
        else:
            right += 1
    return float(np.median(memory["carried"][left + 1 : right]))


def _median_of_nearest(memory: Parts, row: Matrix) -> float:
    """The median target of the events nearest in the inputs that the metric weighs."""
    columns, metric = memory["columns"], memory["metric"]
    distances = np.zeros(columns.shape[1])
    for j in np.flatnonzero(metric > 0.0):
        delta = np.clip((columns[j] - row[j]) * metric[j], -FURTHEST_NEIGHBOUR, FURTHEST_NEIGHBOUR)
        distances += delta * delta
    nearest = np.argsort(distances, kind="stable")[:NEAR]
    return float(np.median(memory["targets"][nearest]))


def _target_of_most_alike(memory: Parts, z: Matrix) -> float:
    """The scaled target of the event with the most similar deviations."""
    distances = np.zeros(memory["deviations"].shape[1], np.float32)
    for column, value in zip(memory["deviations"], z.astype(np.float32), strict=True):
        delta = column - value
        distances += delta * delta
    return float(memory["scaled"][np.argmin(distances)])


def predict_target(parts: Parts, X: Matrix) -> Matrix:
    """Return the predictions (n,) for raw inputs X (n, d), nan where absent.

    Parts: stats (7, d); lags, the last targets in standard deviations; center and unit, the
    target's scale; the form of the expert that predicts the scaled target; and plain forecasts,
    which are mixed with its prediction, or None.
    """
    row, z = standardised(parts["stats"], X)
    v = np.column_stack([np.tile(parts["lags"], (len(X), 1)), z])
    event = Event(row, z, v, parts["center"], parts["unit"])
    value: Matrix = event.center + event.unit * _predicted(parts["expert"], event, v[:, :0])
    return value if parts["plain"] is None else _with_plain_forecasts(parts["plain"], row, value)


FURTHEST_Z, ROUNDING = 1e9, 1e-12
"""Columns of plain forecasts are clipped here, in units of their first deviations, which are more
than that share of the first value."""

YOUNG, EARLY_REACH, FEW = 10.0, 100.0, 64
"""The first ten values of a column may leave its range by a hundred ranges, later ones by one; each
value of a column with at most 64 different ones has an effect."""


def _with_plain_forecasts(plain: Parts, row: Matrix, own: Matrix) -> Matrix:
    """Mix predictions (n,) with forecasts at raw rows (n, d) that no clip bounds.

    Parts: columns (7, d), or (7, 0) if they are too many: how many values there were; the first;
    the first deviation from it; the range; the last value, in units of that deviation; and how many
    different ones. Those values and their effects, (d, 64). Slopes (2, d) and offsets (2,) of two
    linear functions of them, which stay within a range (2,), as does the second with the effects;
    the last target, and what follows by the season; the weights of the leader (6,) and of all, own
    first, (7,).
    """
    seen, first, unit, low, high, present, known = plain["columns"]
    row = row[:, : len(seen)]
    reach = np.where(seen < YOUNG, EARLY_REACH, 1.0) * (high - low)
    inside = np.clip(row, low - reach, high + reach)
    deviation = np.where(high > low, inside, row) - first
    step = np.where(np.abs(deviation) > ROUNDING * np.abs(first), np.sign(deviation), 0.0)
    z = np.where(unit == 0.0, step, deviation / np.where(unit == 0.0, 1.0, unit))
    z = np.where(seen == 0.0, 0.0, np.clip(z, -FURTHEST_Z, FURTHEST_Z))
    z = np.where(np.isnan(row), present, z)
    linear = z @ plain["slopes"].T + plain["offsets"]
    counts = np.arange(plain["values"].shape[1]) < np.where(known <= FEW, known, 0.0)[:, None]
    met = (row[:, :, None] == plain["values"]) & counts
    linear = np.column_stack([linear, linear[:, 1] + (met * plain["effects"]).sum((1, 2))])
    linear = np.clip(linear, *plain["range"])
    last, seasonal = (np.full((len(row), 1), plain[name]) for name in ("last", "seasonal"))
    p = np.column_stack([own, last, linear, seasonal])
    leader = plain["leader"]
    led = p @ (leader / leader.sum()) if leader.any() else own
    value: Matrix = np.column_stack([p, led]) @ plain["weights"]
    return value


def _predicted(form: Parts, event: Event, before: Matrix) -> Matrix:
    """The predictions of a form, given those of the forms before it, (n, k), in its mixture."""
    return FORMS[form["form"]](form, event, before)


def _mixture(mixture: Parts, event: Event, before: Matrix) -> Matrix:
    p = event.v[:, :0]
    for form in mixture["experts"]:
        p = np.column_stack([p, _predicted(form, event, p)])
    return mixed(mixture["rule"], p)


def _stretched(form: Parts, event: Event, before: Matrix) -> Matrix:
    """Predict as the first form of the mixture, `by` times as far from the middle of a range."""
    low, high = form["low"], form["high"]
    middle = (low + high) / 2.0
    stretched: Matrix = middle + form["by"] * (before[:, 0] - middle)
    return np.clip(stretched, low, high)


def _ridge(ridge: Parts, event: Event, before: Matrix) -> Matrix:
    """Predict theta.phi(v), with the features of `units`."""
    return fenced(features(ridge["units"], event.v) @ ridge["theta"])


def _layer(layer: Parts, event: Event, before: Matrix) -> Matrix:
    """Predict weights.cos(omega v + b), clipped to +-1: omega (R, L), b (R,), weights (R,)."""
    value: Matrix = np.cos(event.v @ layer["omega"].T + layer["b"]) @ layer["weights"]
    return np.clip(value, -1.0, 1.0)


def _networks(form: Parts, event: Event, before: Matrix) -> Matrix:
    inputs = Encoded(form["encoded"], event.row)
    p = np.column_stack([outputs(network, inputs) for network in form["networks"]])
    return np.clip(p / WIDTH, -FENCE, FENCE)


FORMS: Mapping[str, Callable[[Parts, Event, Matrix], Matrix]] = {
    "constant": lambda form, event, _: np.full(len(event.v), form["value"]),
    "kernel": _kernel,
    "last-target": lambda _, event, __: event.v[:, 0] / WIDTH,
    "layer": _layer,
    "mixture": _mixture,
    "neighbours": _neighbours,
    "networks": _networks,
    "ridge": _ridge,
    "stretched": _stretched,
}
"""How experts predict scaled targets, (n,) or (n, k), by the names that `Expert.frozen` gives."""

LEAST = 1e-4
"""Share of a prediction that is spread evenly."""

LOWEST, HIGHEST = -0.5, 1.5
"""Scores are clipped here."""

LARGEST_RATIO = 8.0
"""Log ratios of probabilities are clipped here."""


def predict_classes(parts: Parts, X: Matrix) -> Matrix:
    """Return the probabilities (n, C) for raw inputs X (n, d), nan where absent.

    The experts are, in this order: for each sharpness softmax(sharpness scores) of each ridge; the
    frequencies of the classes; Gaussian naive Bayes; the past classes; the changes of the inputs;
    and the networks.

    Parts: stats (7, d); ridges, with units and theta (C, D); sharpness (S,); frequencies and
    log_frequencies (C,); naive_bayes; past (5, C); changes; networks, and their encoding; rule,
    with the weights (K,) of the experts and which of them are awake; correction, with the experts
    that take part and their weights; and mixture, the weights (2,) before and after the correction.
    """
    row, z = standardised(parts["stats"], X)
    n_classes = len(parts["frequencies"])
    if n_classes == 1:
        return np.tile(parts["frequencies"], (len(X), 1))
    scores = [features(ridge["units"], z) @ ridge["theta"].T for ridge in parts["ridges"]]
    clipped = [np.clip(each, LOWEST, HIGHEST) for each in scores]
    frequencies, *past = (
        np.broadcast_to(p, (len(X), n_classes)) for p in (parts["frequencies"], *parts["past"])
    )
    experts = [
        *(_softmax(sharpness * each) for sharpness in parts["sharpness"] for each in clipped),
        frequencies,
        _softmax(_naive_bayes(parts["naive_bayes"], z) + parts["log_frequencies"]),
        *past,
        *_input_changes(parts["changes"], row, z),
        *_class_networks(parts, row),
    ]
    p = (1.0 - LEAST) * np.stack(experts, axis=1) + LEAST / n_classes
    rule, correction = parts["rule"], parts["correction"]
    weights = np.where(rule["awake"], rule["weights"], 0.0)
    if not weights.any():
        weights = np.where(rule["awake"], 1.0, 0.0)
    base = np.einsum("k,nkc->nc", weights / weights.sum(), p)
    p[:, ~rule["awake"]] = base[:, None]  # these take part in the correction all the same
    logs = np.log(base)
    ratios = np.clip(np.log(p[:, correction["members"]]) - logs[:, None], -LARGEST_RATIO,
                     LARGEST_RATIO)  # fmt: skip
    corrected = _softmax(logs + np.einsum("k,nkc->nc", correction["weights"], ratios))
    corrected = (1.0 - LEAST) * corrected + LEAST / n_classes
    before, after = parts["mixture"]
    mixed = before * base + after * corrected
    value: Matrix = mixed / mixed.sum(axis=1, keepdims=True)
    return value


def _softmax(scores: Matrix) -> Matrix:
    exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
    value: Matrix = exponentials / exponentials.sum(axis=1, keepdims=True)
    return value


def _naive_bayes(model: Parts, z: Matrix) -> Matrix:
    """Log densities (n, C) at deviations z (n, d), by means and variances (C, d) of each class."""
    mean, variance = model["mean"], model["variance"]
    errors = (z[:, None] - mean) ** 2 / variance
    value: Matrix = -0.5 * (np.log(variance) + errors).sum(axis=2)
    return value


def _input_changes(form: Parts | None, row: Matrix, z: Matrix) -> list[Matrix]:
    """Probabilities by inputs and their distances from `means` (d, S) of past events, in `sd`."""
    if form is None:
        return []
    means, sd = form["means"], form["sd"]
    d = len(means)
    distances = (row[:, :d, None] - means) / np.where(sd > 0.0, sd, np.inf)[:, None]
    distances = np.clip(np.where(means < ABSENT, np.nan_to_num(distances), 0.0), -5.0, 5.0)
    v = np.concatenate([z[:, :d, None], distances], axis=2).reshape(len(row), -1)
    scores = features(form["units"], v) @ form["theta"].T
    linear = _softmax(form["sharpness"] * np.clip(scores, LOWEST, HIGHEST))
    return [linear, _trees(form["trees"], v)]


def _trees(form: Parts, v: Matrix) -> Matrix:
    """The mean of the probabilities p (T, N, C) of the leaves that v (n, W) falls into."""
    feature, threshold, left = form["feature"], form["threshold"], form["left"]
    trees, rows = np.arange(len(left)), np.arange(len(v))[:, None]
    at = np.zeros((len(v), len(left)), np.int64)
    while (first := left[trees, at]).any():
        below = first + (v[rows, feature[trees, at]] > threshold[trees, at])
        at = np.where(first > 0, below, at)
    value: Matrix = form["p"][trees, at].mean(axis=1)
    return value


def _class_networks(parts: Parts, row: Matrix) -> list[Matrix]:
    inputs, offsets = Encoded(parts["encoded"], row), parts["log_frequencies"]
    found = []
    for network in parts["networks"]:
        logits = outputs(network, inputs)
        if len(offsets) <= 2:  # one logit, of the second class
            logits = np.concatenate([np.zeros_like(logits), logits], axis=1)[:, : len(offsets)]
        found.append(_softmax(logits + offsets))
    return found


_ROWS_AT_ONCE = 256


@dataclass(frozen=True, eq=False, kw_only=True)
class FrozenLearner:
    """A learner as it was at one moment, in plain arrays.

    Parameters
    ----------
    names
        The d inputs, in the order of columns. Inputs with other names are ignored.
    profile
        Of the learner.
    parts
        The arrays that `predict_target` or `predict_classes` takes.
    card
        The model card: data, settings, versions, scores.

    """

    schema: ClassVar[StateSchema]

    names: tuple[Any, ...]
    profile: str
    parts: Parts
    card: Mapping[str, Any]

    def save(self, path: str | Path) -> None:
        """Write one npz file, which holds numbers and JSON but no pickle."""
        save(self, self.schema, path)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Return what `save` wrote.

        Raises
        ------
        StateError
            When the file was not written by `save`.

        """
        return load(cls, cls.schema, path, cls.__name__)


def _with_forms(state: StateDict) -> StateDict:
    """From version 1, in which the experts of each profile had places of their own."""
    old = state["parts"]

    def mixture(rule: str, *experts: Parts) -> Parts:
        return {"form": "mixture", "rule": old[rule], "experts": experts}

    simple = {"form": "constant", "value": 0.0}, {"form": "last-target"}
    if state["profile"] == "fast":
        ends = {"form": "stretched", "low": old["low"], "high": old["high"]}
        ridge = {"form": "ridge", "units": old["units"], "theta": old["theta"]}
        expert = mixture("rule", ridge, *simple, {"by": 2.0, **ends}, {"by": 4.0, **ends})
    else:
        networks = {"form": "networks", "networks": old["networks"], "encoded": old["encoded"]}
        moving = mixture("moving", networks, {"form": "kernel", **old["krls_t"]})
        forgetting = {"units": old["ridges"][0]["units"], "theta": old["forgetting"]}
        banks = [*old["ridges"], forgetting, *old["linear"]]
        ridges = [{"form": "ridge", **each} for each in banks]
        mean = mixture("mean", *ridges, {"form": "layer", **old["first_order"]}, *simple, moving)
        expert = mixture("last", mean, {"form": "neighbours", **old["memory"]})
    kept = {name: old[name] for name in ("stats", "lags", "center", "unit")}
    return {**state, "parts": {**kept, "expert": expert}}


def _with_parts(**more: Any) -> Migration:
    """From a version that had none of these parts."""
    return lambda state: {**state, "parts": {**state["parts"], **more}}


@dataclass(frozen=True, eq=False, kw_only=True)
class FrozenRegressor(FrozenLearner):
    """An `InfiniteLayerRegressor` as it was at one moment; it needs NumPy only.

    It predicts as the learner did, to within rounding: the learner computes in single precision
    where this computes in double. The last targets, inputs of some experts, stay those of that
    moment. `load` reads what `iln-stream export` or `save` wrote.

    Examples
    --------
    >>> from iln_stream import InfiniteLayerRegressor
    >>> from iln_stream.learners.frozen import freeze_learner
    >>> model = InfiniteLayerRegressor("fast", seed=1)
    >>> for t in range(500):
    ...     model.learn_one({"a": t % 7, "b": t % 5}, 3.0 * (t % 7))
    >>> frozen = freeze_learner(model)
    >>> x = {"a": 3, "b": 2}
    >>> abs(frozen.predict_one(x) - model.predict_one(x)) < 1e-4
    True
    >>> frozen.names
    ('a', 'b')
    >>> frozen.predict_many([[3, 2], [3, float("nan")]]).shape  # nan: absent
    (2,)

    """

    schema = StateSchema(
        "iln_stream.FrozenRegressor", 3, {1: _with_forms, 2: _with_parts(plain=None)}
    )

    def predict_one(self, x: Mapping[Any, float]) -> float:
        """Return the prediction for a dict of inputs, as passed to the learner.

        Raises
        ------
        ValueError
            When an input is not a finite number.

        """
        return float(self.predict_many(row_of(x, self.names))[0])

    def predict_many(self, X: ArrayLike) -> Matrix:
        """Return predictions for many points, shape (n,).

        Parameters
        ----------
        X
            Shape (n, d), the columns in the order of `names`; nan where an input is absent.

        Raises
        ------
        ValueError
            When the shape is wrong, or an entry is infinite.

        """
        X = matrix_of(X, self.names)
        return in_blocks(partial(predict_target, self.parts), X, _ROWS_AT_ONCE, np.zeros(0))


@dataclass(frozen=True, eq=False, kw_only=True)
class FrozenClassifier(FrozenLearner):
    """An `InfiniteLayerClassifier` as it was at one moment; it needs NumPy only.

    As `FrozenRegressor`, with probabilities.

    Parameters
    ----------
    classes
        The C classes, in the order in which the learner met them.

    """

    schema = StateSchema("iln_stream.FrozenClassifier", 2, {1: _with_parts(past=(), changes=None)})

    classes: tuple[Any, ...]

    def predict_one(self, x: Mapping[Any, float]) -> Any:
        """Return the most probable class."""
        probabilities = self.predict_proba_one(x)
        return max(probabilities, key=probabilities.__getitem__)

    def predict_proba_one(self, x: Mapping[Any, float]) -> dict[Any, float]:
        """Return the probability of each class; as `FrozenRegressor.predict_one`."""
        found = self.predict_proba_many(row_of(x, self.names))[0]
        return dict(zip(self.classes, found.tolist(), strict=True))

    def predict_proba_many(self, X: ArrayLike) -> Matrix:
        """Return the probabilities of the classes at the points X (n, d), shape (n, C).

        X and errors are as of `FrozenRegressor.predict_many`.
        """
        X, none = matrix_of(X, self.names), np.zeros((0, len(self.classes)))
        return in_blocks(partial(predict_classes, self.parts), X, _ROWS_AT_ONCE, none)
