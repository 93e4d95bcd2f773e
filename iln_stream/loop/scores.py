"""Scores of a task: errors, coverage, and measures of probabilities."""

from bisect import bisect_left, insort
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import partial
from itertools import accumulate, groupby
from math import nan
from operator import itemgetter
from typing import Any, NamedTuple

from iln_stream.loop.step import Step
from iln_stream.loop.steps import Steps
from iln_stream.reporting import FlagSpec, MetricSpec, Samples, errors_metric
from iln_stream.state import StateDict

Answers = Sequence[Mapping[Hashable, float]]
Ranking = Callable[[Sequence[float], Sequence[bool]], float]

N_BINS = 10

LEAST_IN_BIN = 10


def roc_auc(scores: Sequence[float], positives: Sequence[bool]) -> float:
    """Return the probability that a positive event has a higher score than a negative one.

    A tie counts half. nan if there are no positives or no negatives.

    Examples
    --------
    >>> from iln_stream.loop.scores import roc_auc
    >>> roc_auc([0.9, 0.4, 0.4, 0.1], [True, True, False, False])
    0.875

    """
    n_positive = sum(positives)
    n_negative = len(positives) - n_positive
    if not n_positive or not n_negative:
        return nan
    below = wins = 0.0
    for n_true, n_false in _by_score(scores, positives, reverse=False):
        wins += n_true * (below + n_false / 2)
        below += n_false
    return wins / (n_positive * n_negative)


def average_precision(scores: Sequence[float], positives: Sequence[bool]) -> float:
    """Return the area under the curve of precision over recall, as steps; nan without positives.

    Events of one score are taken together. A constant score has the share of positives.

    Examples
    --------
    >>> from iln_stream.loop.scores import average_precision
    >>> average_precision([0.9, 0.4, 0.3], [True, False, True])
    0.8333333333333333

    """
    n_positive = sum(positives)
    if not n_positive:
        return nan
    area = found = seen = 0.0
    for n_true, n_false in _by_score(scores, positives, reverse=True):
        found += n_true
        seen += n_true + n_false
        area += n_true * found / seen
    return area / n_positive


def by_class(
    measure: Ranking, answers: Answers, labels: Sequence[Hashable], weights: Sequence[float] = ()
) -> float:
    """Return a ranking measure of the rarer of two classes; of more, its mean over classes.

    Weights have no influence. A class without a probability has 0; nan if there is only one class.
    """
    classes = sorted(set(labels), key=labels.count)
    if len(classes) < 2:
        return nan
    found = [
        measure([answer.get(c, 0.0) for answer in answers], [label == c for label in labels])
        for c in (classes[:1] if len(classes) == 2 else classes)
    ]
    return sum(found) / len(found)


def brier_score(
    answers: Answers, labels: Sequence[Hashable], weights: Sequence[float] = ()
) -> float:
    """Return the mean of half the squared distance between probabilities and what came, 0 to 1.

    For two classes it is the squared error of either's probability. nan without events. Weights
    are 1 if there are none.
    """
    total, weights = 0.0, weights or [1.0] * len(labels)
    for answer, label, w in zip(answers, labels, weights, strict=True):
        right = answer.get(label, 0.0)
        total += w * (sum(p * p for p in answer.values()) - right * right + (1.0 - right) ** 2) / 2
    return total / n if (n := sum(weights)) else nan


def calibration_error(
    answers: Answers, labels: Sequence[Hashable], weights: Sequence[float] = ()
) -> float:
    """Return the expected calibration error of the most probable class, 0 to 1.

    The mean over ten bins of confidence, weighted by their events, of the distance between mean
    confidence and share of hits. nan without events. Weights are 1 if there are none.
    """
    distances, weights = [0.0] * N_BINS, weights or [1.0] * len(labels)
    for answer, label, w in zip(answers, labels, weights, strict=True):
        guess = max(answer, key=answer.__getitem__, default=None)
        sure = answer.get(guess, 0.0)
        distance = sure - (bool(answer) and guess == label)
        distances[min(int(sure * N_BINS), N_BINS - 1)] += w * distance
    return sum(map(abs, distances)) / n if (n := sum(weights)) else nan


def reliability(answers: Answers, labels: Sequence[Hashable]) -> dict[str, Any] | None:
    """Return, for up to ten bins of a probability, its mean, and of how many events it came true.

    Bins have about the same number of events, at least ten: those of a rare class differ, too.

    It is that of the rarer of two classes (`of`); of more, that of the most probable class (`of` is
    None). Weights have no influence. None without events.

    Of two classes, there are also the numbers of events whose probability is in each hundredth
    (`counts`): of those that were this class, and of the others.

    Examples
    --------
    >>> from iln_stream.loop.scores import reliability
    >>> found = reliability([{"a": 0.25, "b": 0.75}, {"a": 0.25, "b": 0.75}], ["a", "b"])
    >>> found["of"], found["bins"], [each[25] for each in found["counts"]]
    ('a', [[0.25, 0.5, 2]], [1, 1])

    """
    classes = sorted(Counter(labels).items(), key=itemgetter(1))
    of = classes[0][0] if len(classes) == 2 else None
    found: list[tuple[float, bool]] = []
    counts = [[0] * 100, [0] * 100]
    for answer, label in zip(answers, labels, strict=True):
        if answer:
            said = max(answer, key=answer.__getitem__) if of is None else of
            p = answer.get(said, 0.0)
            found.append((p, said == label))
            counts[said != label][min(int(100 * p + 1e-9), 99)] += 1  # 0.29 is in 29
    found.sort()
    size = max(LEAST_IN_BIN, -(-len(found) // N_BINS))
    bins = []
    for first in range(0, len(found), size):
        each = found[first : first + size]
        bins.append([sum(column) / len(each) for column in zip(*each, strict=True)] + [len(each)])
    return {"of": of, "bins": bins, "counts": None if of is None else counts} if bins else None


def _by_score(
    scores: Sequence[float], positives: Sequence[bool], *, reverse: bool
) -> list[tuple[int, int]]:
    """Return the numbers of positives and negatives of each distinct score, in order of scores."""
    ordered = sorted(zip(scores, positives, strict=True), key=itemgetter(0), reverse=reverse)
    counts = []
    for _, group in groupby(ordered, key=itemgetter(0)):
        found = [positive for _, positive in group]
        counts.append((sum(found), len(found) - sum(found)))
    return counts


class _Sums(NamedTuple):
    """Sums of a window; replaced as one object, so that other threads see all or none."""

    n: int
    """Values of the present block."""
    present: float
    """Their sum."""
    ends: tuple[float, ...]
    """Sums of the last values of the block before, from each of them on; empty: there is none."""


class Window:
    """The last `size` values of a series.

    The series is divided into blocks of `size` values. The window is an end of one block and a
    beginning of the next; sums of both are kept, so that a mean takes the same time whatever the
    size. Nothing is subtracted: a running sum would accumulate rounding errors. From the first
    weight on that is not 1, values are kept times their weights, and `weights` has these.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._values: deque[float] = deque(maxlen=size)
        self._sums = _Sums(0, 0.0, ())
        self.weights: Window | None = None

    def weigh(self, weights: Sequence[float] | None) -> None:
        """Keep the weights of the values that are there, all 1 or these."""
        self.weights = Window(self._size)
        n = len(self._values)
        self.weights.refill([1.0] * n if weights is None else weights, self._sums.n)

    def extend(self, values: Iterable[float], weights: Sequence[float] | None = None) -> None:
        """Add values; a full window drops its oldest. Weights are 1 if there are none."""
        new = list(values)
        if weights is not None and self.weights is None:
            self.weigh(None)
        if self.weights is not None:
            weights = [1.0] * len(new) if weights is None else weights
            new = [w * value for w, value in zip(weights, new, strict=True)]
            self.weights.extend(weights)
        while new:
            n, present, ends = self._sums
            part = new[: self._size - n]
            new = new[len(part) :]
            self._values.extend(part)
            n, present = n + len(part), plus(present, part)
            if n == self._size:
                n, present, ends = 0, 0.0, _sums_of_ends(self._values)
            self._sums = _Sums(n, present, ends)

    def refill(self, values: Sequence[float], n_ever: int) -> None:
        """Restore the `values()` of a window that had got `n_ever`, in an empty one.

        If they fill it, its means go on to be the same to the last bit.
        """
        n = n_ever % self._size
        before = values[len(values) - self._size : len(values) - n]
        if len(values) < self._size:
            self.extend(values)
            return
        self._values.extend(before)
        self._sums = _Sums(0, 0.0, (0.0,) * n + _sums_of_ends(before))
        self.extend(values[len(values) - n :])

    @property
    def mean(self) -> float:
        """Weighted mean of the values in the window, nan if it is empty."""
        found, weights = self._mean, self.weights
        if weights is None:
            return found
        return found / w if (w := weights._mean) else nan

    @property
    def _mean(self) -> float:
        n, present, ends = self._sums
        if ends:
            return (ends[n] + present) / self._size
        return present / n if n else nan

    def values(self) -> list[float]:
        """Return the values, oldest first. Safe while another thread calls `extend`."""
        return list(self._values)


class _Totals(NamedTuple):
    """Sums and counts; replaced as one object, so that other threads see all or none."""

    n_events: int = 0
    n_labelled: int = 0
    total_loss: float = 0.0
    total_error: float = 0.0
    weight: float = 0.0
    n_unscored: int = 0  # labelled, but predicted before any class was known


class Scores:
    """Means over all labelled events since the model was created, and over the last `window`.

    One thread at a time may update the scores; any thread may read them. A mean always covers whole
    steps, but between two reads there may be an update. The scores have the share of each of the
    learner's flags in the window.
    """

    error_name = "error"
    """Name of the error in the state."""

    measure = "error"
    """What is exported of the error: its name in the metric."""

    def __init__(self, window: int = 1000, flags: Sequence[FlagSpec] = ()) -> None:
        if window < 1:
            raise ValueError(f"window = {window} must be at least 1 event")
        self.totals = _Totals()
        self._flags = tuple(flags)
        self.window_loss = Window(window)
        self.window_error = Window(window)
        self.window_flags = {flag.name: Window(window) for flag in self._flags}

    def errors(self, steps: Steps) -> list[float]:
        """Return the error of each step with a score; people compare learners by its mean."""
        raise NotImplementedError

    def update(self, steps: Sequence[Step]) -> None:
        """Add steps to the scores. One call with many steps is faster and has the same result."""
        labelled = Steps.of(steps).labelled
        scored = labelled.scored
        losses: Sequence[Any] = scored.loss
        errors = self.errors(scored)
        weights = scored.weights
        before = self.totals
        self.totals = _Totals(
            # The event of a late label was counted already.
            before.n_events + len(steps) - sum(labelled.late),
            before.n_labelled + len(labelled),
            plus(before.total_loss, losses, weights),
            plus(before.total_error, errors, weights),
            before.weight + len(losses) if weights is None else plus(before.weight, weights),
            before.n_unscored + len(labelled) - len(scored),
        )
        self.window_loss.extend(losses, weights)
        self.window_error.extend(errors, weights)
        for name, window in self.window_flags.items():
            window.extend([name in flags for flags in labelled.flags])

    @property
    def n_events(self) -> int:
        """Number of events, labelled or not."""
        return self.totals.n_events

    @property
    def n_labelled(self) -> int:
        """Number of labelled events."""
        return self.totals.n_labelled

    @property
    def running_loss(self) -> float:
        """Weighted mean loss of all labelled events; nan before the first."""
        totals = self.totals
        return totals.total_loss / totals.weight if totals.weight else nan

    @property
    def running_error(self) -> float:
        """Weighted mean error of all labelled events; nan before the first."""
        totals = self.totals
        return totals.total_error / totals.weight if totals.weight else nan

    def metrics(self) -> Sequence[MetricSpec]:
        flags = (
            MetricSpec(flag.metric, "gauge", flag.help, _mean_of(self.window_flags[flag.name]))
            for flag in self._flags
        )
        return (
            MetricSpec(
                "iln_running_loss",
                "gauge",
                "Mean loss since the model was created: for a regressor (E_t - y_t)^2 / 2 on its "
                "own target scale (in squared units of y if it reports no loss), for a classifier "
                "the log loss.",
                lambda: self.running_loss,
            ),
            errors_metric(self._errors),
            *flags,
        )

    def _errors(self) -> Samples:
        return {
            ("loss", "window", "model"): self.window_loss.mean,
            ("loss", "all", "model"): self.running_loss,
            (self.measure, "window", "model"): self.window_error.mean,
            (self.measure, "all", "model"): self.running_error,
        }

    def calibration(self) -> dict[str, Any] | None:
        """Return the `reliability` of the window; None: there are no probabilities."""
        return None

    def state(self) -> StateDict:
        """Return the scores as plain values."""
        totals = self.totals._asdict()
        totals[f"total_{self.error_name}"] = totals.pop("total_error")
        if (weights := self.window_loss.weights) is not None:
            totals["weights"] = weights.values()
        return {
            **totals,
            "window_loss": self.window_loss.values(),
            f"window_{self.error_name}": self.window_error.values(),
            **{f"window_{name}": window.values() for name, window in self.window_flags.items()},
        }

    def restore(self, state: StateDict) -> None:
        """Restore a `state()`; its windows may be longer or shorter."""
        totals = {name: state[name] for name in ("n_events", "n_labelled", "total_loss")}
        error, n = state[f"total_{self.error_name}"], state["n_labelled"]
        weight, without = state.get("weight", float(n)), state.get("n_unscored", 0)
        self.totals = _Totals(**totals, total_error=error, weight=weight, n_unscored=without)
        for window, name in ((self.window_loss, "loss"), (self.window_error, self.error_name)):
            window.refill(state[f"window_{name}"], n - without)
            if "weights" in state:
                window.weigh(state["weights"])
        for name, window in self.window_flags.items():
            window.extend(state.get(f"window_{name}", ()))


class RegressionScores(Scores):
    """Loss and absolute error, in y's units."""

    error_name = "absolute_error"
    measure = "mae"

    def errors(self, steps: Steps) -> list[float]:
        """Return |y_pred - y| of each step."""
        return [abs(y_pred - y) for y_pred, y in zip(steps.y_pred, steps.y, strict=True)]


class ClassificationScores(Scores):
    """Log loss and misclassification; over the window also ranking, Brier score, calibration.

    The predicted class is the most probable one. Events that were predicted before any class was
    known count for none of them. Measures over the window are computed when they are read.
    """

    error_name = measure = "misclassification"

    def __init__(self, window: int = 1000, flags: Sequence[FlagSpec] = ()) -> None:
        super().__init__(window, flags)
        self.window_answers: deque[tuple[Mapping[Any, float], Any, float]] = deque(maxlen=window)

    def update(self, steps: Sequence[Step]) -> None:
        super().update(steps)
        scored = Steps.of(steps).labelled.scored
        self.window_answers.extend(zip(scored.y_pred, scored.y, scored.weight, strict=True))

    def errors(self, steps: Steps) -> list[float]:
        """Return 0 for each step whose most probable class is y, else 1."""
        answers = zip(steps.y_pred, steps.y, strict=True)
        return [float(max(y_pred, key=y_pred.__getitem__) != y) for y_pred, y in answers]

    def metrics(self) -> Sequence[MetricSpec]:
        of_probabilities = MetricSpec(
            "iln_probability_score",
            "gauge",
            "Scores of probabilities over the last window of labelled events: roc_auc (how well "
            "they rank the rarer class; 0.5 is chance), pr_auc (its average precision), brier "
            "(mean squared error of a class's probability) and calibration_error (mean distance "
            "between confidence and share of hits).",
            self._probability_scores,
            "measure",
        )
        return (*super().metrics(), of_probabilities)

    def calibration(self) -> dict[str, Any] | None:
        answers = list(self.window_answers)
        return reliability([y_pred for y_pred, _, _ in answers], [y for _, y, _ in answers])

    def _probability_scores(self) -> Mapping[str, float]:
        answers = list(self.window_answers)
        y_pred, y, w = zip(*answers, strict=True) if answers else ((), (), ())
        return {name: score(y_pred, y, w) for name, score in _OF_PROBABILITIES.items()}

    def state(self) -> StateDict:
        answers = [
            [y, list(y_pred), list(y_pred.values()), *(() if w == 1.0 else (w,))]
            for y_pred, y, w in list(self.window_answers)
        ]
        return {**super().state(), "window_answers": answers}

    def restore(self, state: StateDict) -> None:
        super().restore(state)
        self.window_answers.extend(
            (dict(zip(classes, probabilities, strict=True)), y, *(w or (1.0,)))
            for y, classes, probabilities, *w in state["window_answers"]
        )


_OF_PROBABILITIES: Mapping[str, Callable[[Any, Any, Any], float]] = {
    "roc_auc": partial(by_class, roc_auc),
    "pr_auc": partial(by_class, average_precision),
    "brier": brier_score,
    "calibration_error": calibration_error,
}


def _mean_of(window: Window) -> Callable[[], float]:
    return lambda: window.mean


def _sums_of_ends(values: Iterable[float]) -> tuple[float, ...]:
    """Return the sum of the values from each of them on."""
    return tuple(accumulate(reversed(list(values))))[::-1]


def plus(total: float, values: Sequence[float], weights: Sequence[float] | None = None) -> float:
    """Add values one by one: since Python 3.12 the rounding of `sum` depends on their number."""
    if weights is not None:
        values = [w * value for w, value in zip(weights, values, strict=True)]
    for value in values:
        total += value
    return total


class _ByLevel:
    """Means of what steps have for each of some levels, over the last `window` labelled events.

    A label that comes late is compared with what was published. `levels` are of the intervals or
    quantiles that steps have, in this order.
    """

    of: tuple[str, ...] = ("observed",)
    """What there are means of."""

    def __init__(self, levels: Sequence[float], window: int) -> None:
        self._levels = tuple(levels)
        self._size = window
        self._windows = {(of, k): Window(window) for of in self.of for k in self._levels}

    def _means(self, *which: str) -> Samples:
        windows = self._windows.items()
        return {(of, repr(level)): each.mean for (of, level), each in windows if of in which}

    def _shares(self) -> Samples:
        """Return what was observed, and what was promised, once the window is full."""
        found = self._means("observed")
        for level in self._levels:
            if len(self._windows["observed", level].values()) == self._size:
                found["promised", repr(level)] = level
        return found

    def state(self) -> StateDict:
        windows = [window.values() for window in self._windows.values()]
        return {"levels": list(self._levels), "windows": windows}


class Coverage(_ByLevel):
    """Share of labels that their intervals contain."""

    def update(self, steps: Sequence[Step]) -> None:
        """Add the labelled ones of these steps."""
        labelled = Steps.of(steps).labelled
        for k, window in enumerate(self._windows.values()):
            # A step without intervals counts for no level.
            window.extend(
                float(low <= y <= high)
                for y, details in zip(labelled.y, labelled.details, strict=True)
                for low, high in details.intervals[k : k + 1]
            )

    def metrics(self) -> Sequence[MetricSpec]:
        """Return the exported metrics; none without levels."""
        if not self._levels:
            return ()
        return (
            MetricSpec(
                "iln_interval_coverage_ratio",
                "gauge",
                "Share of labels that the interval of this level contained, over the last window "
                "of labelled events (observed), and the level itself once that window is full "
                "(promised).",
                self._shares,
                ("of", "level"),
            ),
        )

    def restore(self, state: StateDict) -> None:
        """Restore a `state()`; levels that it does not have begin empty."""
        saved = dict(zip(state["levels"], state["windows"], strict=True))
        for (_, level), window in self._windows.items():
            window.extend(saved.get(level, ()))


class QuantileScores(_ByLevel):
    """Pinball losses of quantiles, and the share of labels up to each.

    Beside them is the loss of a baseline: the same quantile of the last `window` labels.
    """

    of = ("model", "recent_labels", "observed")

    def __init__(self, levels: Sequence[float], window: int) -> None:
        super().__init__(levels, window)
        self._n = 0
        self._labels: deque[float] = deque()
        self._ordered: list[float] = []  # the labels

    def update(self, steps: Sequence[Step]) -> None:
        """Add the labelled ones of these steps."""
        labelled = Steps.of(steps if self._levels else ()).labelled
        for y, details in zip(labelled.y, labelled.details, strict=True):
            if not details.quantiles:  # a step of before there were quantiles counts for no level
                continue
            n = len(self._ordered)
            self._n += 1
            for level, value in zip(self._levels, details.quantiles, strict=False):
                usual = self._ordered[min(int(level * n), n - 1)] if n else value
                self._windows["model", level].extend([pinball(level, y - value)])
                self._windows["recent_labels", level].extend([pinball(level, y - usual)])
                self._windows["observed", level].extend([float(y <= value)])
            self._add(y)

    def _add(self, y: float) -> None:
        self._labels.append(y)
        insort(self._ordered, y)
        if len(self._labels) > self._size:
            del self._ordered[bisect_left(self._ordered, self._labels.popleft())]

    def metrics(self) -> Sequence[MetricSpec]:
        """Return the exported metrics; none without levels."""
        if not self._levels:
            return ()
        return (
            MetricSpec(
                "iln_pinball_loss",
                "gauge",
                "Mean pinball loss of this level's quantile over the last window of labelled "
                "events: of the model, and of that quantile of the last window of labels.",
                lambda: self._means("model", "recent_labels"),
                ("of", "level"),
            ),
            MetricSpec(
                "iln_quantile_coverage_ratio",
                "gauge",
                "Share of labels up to this level's quantile, over the last window of labelled "
                "events (observed), and the level (promised).",
                self._shares,
                ("of", "level"),
            ),
        )

    def state(self) -> StateDict:
        """Return the losses and the labels."""
        return {**super().state(), "n": self._n, "labels": list(self._labels)}

    def restore(self, state: StateDict) -> None:
        """Restore a `state()`, if it is of the same levels."""
        if state["levels"] != list(self._levels):
            return
        self._n = state["n"]
        for window, values in zip(self._windows.values(), state["windows"], strict=True):
            window.refill(values, self._n)
        for y in state["labels"][-self._size :]:
            self._add(y)


def pinball(level: float, error: float) -> float:
    """Return the pinball loss of a quantile that the label exceeds by `error`."""
    return max(level * error, (level - 1.0) * error)
