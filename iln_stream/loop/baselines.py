"""Trivial predictors that look at no input, scored on the same labelled events as the learner."""

from collections import OrderedDict, deque
from collections.abc import Sequence
from math import inf, isfinite, log, nan
from statistics import median
from typing import Any

import numpy as np

from iln_stream.loop.scores import Scores, Window, plus
from iln_stream.loop.step import Step
from iln_stream.loop.steps import Steps
from iln_stream.records.series import MOST_SERIES
from iln_stream.reporting import MetricSpec, Samples, errors_metric
from iln_stream.state import StateDict, decode_name, encode_name


def compared(error: float, name: str, base: float, *, recent: bool) -> str:
    """Return an error beside that of a baseline; of a whole run, how much smaller it is.

    Examples
    --------
    >>> from iln_stream.loop.baselines import compared
    >>> compared(9.2, "last_value", 17.1, recent=True)
    '9.2 (last value 17.1)'
    >>> compared(9.2, "last_value", 17.1, recent=False)
    '9.2, 46 % better than the last value (17.1)'

    """
    name = name.replace("_", " ")
    if recent:
        return f"{error:,.4g} ({name} {base:,.4g})"
    saved = 1.0 - error / base if base else -inf if error else 0.0
    than = "better than" if saved > 0.0 else "worse than"
    if abs(saved) < 0.01:  # as on the page
        than = "about as good as"
    elif isfinite(saved):
        than = f"{100.0 * abs(saved):.0f} % {than}"
    return f"{error:,.4g}, {than} the {name} ({base:,.4g})"


class Baseline:
    """Errors of one trivial predictor: their mean over all events, and over the last `window`.

    One thread at a time may add errors; any thread may read the means.
    """

    def __init__(self, window: int) -> None:
        self._total = (0, 0.0, 0.0)
        self._window = Window(window)

    def add(self, errors: Sequence[float], weights: Sequence[float] | None = None) -> None:
        """Add errors; one call with many has the same result as many calls."""
        n, total, weight = self._total
        weight = weight + len(errors) if weights is None else plus(weight, weights)
        self._total = (n + len(errors), plus(total, errors, weights), weight)
        self._window.extend(errors, weights)

    @property
    def running(self) -> float:
        """Mean error since the model was created; nan before the first."""
        _, total, weight = self._total
        return total / weight if weight else nan

    @property
    def windowed(self) -> float:
        """Mean error over the last window; nan before the first."""
        return self._window.mean

    def state(self) -> StateDict:
        """Return the errors as plain values."""
        n, total, weight = self._total
        found = {"n": n, "total": total, "window": self._window.values()}
        if (weights := self._window.weights) is not None:
            found |= {"weight": weight, "weights": weights.values()}
        return found

    def restore(self, state: StateDict) -> None:
        """Restore a `state()`; its window may be longer or shorter."""
        self._total = (state["n"], state["total"], state.get("weight", float(state["n"])))
        self._window.refill(state["window"], state["n"])
        if "weights" in state:
            self._window.weigh(state["weights"])


class Trivial:
    """The mean of all labels so far and the last label; both are 0 before the first."""

    def __init__(self) -> None:
        self._n: float = 0
        self._mean = 0.0
        self._last = 0.0

    @property
    def now(self) -> tuple[float, float]:
        """What they predict for the next event."""
        return self._mean, self._last

    def learn(self, y: float, w: float = 1.0) -> None:
        """Learn a label of this weight."""
        self.predict_and_learn([y], [w])

    def predict_and_learn(
        self, labels: Sequence[float], weights: Sequence[float] | None
    ) -> tuple[list[float], list[float]]:
        """Learn labels; return what each predicted for every one of them: means, last labels."""
        n, mean, means = self._n, self._mean, list[float]()
        for y, w in zip(labels, weights or [1.0] * len(labels), strict=True):
            means.append(mean)
            if w == 1.0:
                n += 1
                mean += y / n - mean / n  # y - mean might overflow
            elif w > 0.0:
                n += w
                mean += (y / n - mean / n) * w
        lasts = [self._last, *labels]
        self._n, self._mean, self._last = n, mean, lasts.pop()
        return means, lasts

    def state(self) -> StateDict:
        """Return the number of labels, their mean and the last one."""
        return {"n_labels": self._n, "mean": self._mean, "last": self._last}

    def restore(self, state: StateDict) -> None:
        self._n, self._mean, self._last = state["n_labels"], state["mean"], state["last"]


PERIODS = {"day_before": 86_400.0, "week_before": 7 * 86_400.0}
"""Seasonal baselines: the label of the same time so many seconds ago."""

MOST_PAST = 1500
"""Labels that they remember: a day of minutes, a week of ten minutes."""

MOST_PAST_OF_ALL = 60_000
"""Labels of all series together: two hundred each of 300 series, which are a week of hours."""

LEAST_GAP = PERIODS["day_before"] / MOST_PAST

FIRST_FOUND = 20
"""Events in a row with such a label, from which a seasonal baseline is scored."""

MUCH_SMALLER = 0.95
"""Ratio of the median's error to the least one of the others, below which it is exported."""

LEAST_FOUND = 0.9
"""Share of a window's events with such a label, from which it is exported."""


class PastLabels:
    """Labels by the time of their events, with the time from which each was known.

    Of labels that are closer together than a minute, some are left out: they would not reach back
    a day. One with a time far in the future is soon forgotten.

    Attributes
    ----------
    most : int
        Labels that are remembered.
    first, due : float
        The time of the first label, and that from which on the next one is remembered.
    labels : dict
        Label and time by time.

    """

    def __init__(self) -> None:
        self.most, self.first, self.due = MOST_PAST, inf, -inf
        self.labels: dict[float, tuple[float, float]] = {}
        # In order: a dict would look at all removed ones to find the oldest.
        self._times: deque[float] = deque()

    def learn(self, time: float, y: float, known_at: float) -> None:
        """Remember a label; of many, the oldest is forgotten."""
        labels, times = self.labels, self._times
        if time in labels:
            times.remove(time)  # the last one says what is due, also once restored
        labels[time] = y, known_at
        times.append(time)
        self.due = time + LEAST_GAP
        while len(times) > self.most:
            del labels[times.popleft()]
        self.first = times[0]

    def state(self) -> StateDict:
        """Return times, labels and when they were known."""
        rows = [(time, *self.labels[time]) for time in self._times]
        return {"rows": np.array(rows, dtype=float).reshape(-1, 3)}

    def restore(self, state: StateDict) -> None:
        for time, y, known_at in state["rows"].tolist():
            self.learn(time, y, known_at)


class Seasonal(Baseline):
    """The label of the same time some seconds ago, or else the last one.

    Both are compared from the first events in a row that have such a label, so that other streams
    don't pay for it. `last` has the last label's errors, which are this one's until then.
    """

    def __init__(self, window: int, seconds: float, last: Baseline) -> None:
        super().__init__(window)
        self._seconds = seconds
        self._last = last
        self._over_last = 0.0  # sum of the differences from the last label's errors
        self._in_a_row = 0
        self._found = Window(window)
        self._compared: list[tuple[float, float, float, float]] = []

    def compare(
        self, past: PastLabels, time: float, last: float, y: float, weight: float = 1.0
    ) -> None:
        """Score it on a label of an event of this time and weight."""
        if not self._in_a_row and time - past.first < self._seconds:
            return
        found = past.labels.get(time - self._seconds)
        if found is None or found[1] > time:  # there is none, or it was not known by then
            if self._in_a_row < FIRST_FOUND:
                self._in_a_row = 0
            else:
                self._compared.append((abs(last - y), 0.0, weight, 0.0))
        elif self._in_a_row < FIRST_FOUND:
            self._in_a_row += 1
        else:
            error = abs(found[0] - y)
            self._compared.append((error, 1.0, weight, error - abs(last - y)))

    def count(self) -> None:
        """Count what has been compared: many at once take less time."""
        if self._compared:
            errors, hits, all_weights, differences = zip(*self._compared, strict=True)
            weights = None if all_weights.count(1.0) == len(all_weights) else all_weights
            self.add(errors, weights)
            self._over_last = plus(self._over_last, differences, weights)
            self._found.extend(hits)
            self._compared = []

    @property
    def running(self) -> float:
        _, total, weight = self._last._total
        return (total + self._over_last) / weight if weight else nan

    @property
    def is_regular(self) -> bool:
        """Whether most events have such a label."""
        return self._found.mean >= LEAST_FOUND

    def state(self) -> StateDict:
        own = {"found": self._found.values(), "in_a_row": self._in_a_row}
        return {**super().state(), **own, "over_last": self._over_last}

    def restore(self, state: StateDict) -> None:
        super().restore(state)
        self._in_a_row, self._over_last = state["in_a_row"], state["over_last"]
        self._found.refill(state["found"], state["n"])


class Median(Baseline):
    """The median of the latest labels, renewed now and then: the constant with the least error.

    Unlike the others it is that of the labels known when a label comes, late or not.
    """

    def __init__(self, window: int) -> None:
        super().__init__(window)
        self._latest: deque[float] = deque(maxlen=500)
        self.n_seen = 0
        self._now = 0.0

    def score(self, labels: Sequence[float], weights: Sequence[float] | None) -> None:
        """Score it on each of these labels, and learn them."""
        now, latest, n, errors = self._now, self._latest, self.n_seen, list[float]()
        while len(errors) < len(labels):
            # Those until it is renewed.
            some = labels[len(errors) :][: 256 - n % 256 if n >= 63 else 1]
            errors += [abs(now - y) for y in some]
            latest.extend(some)
            n += len(some)
            if n < 64 or n % 256 == 0:
                now = median(latest)
        self._now, self.n_seen = now, n
        self.add(errors, weights)

    def state(self) -> StateDict:
        own = {"latest": np.array(self._latest), "n_seen": self.n_seen, "now": self._now}
        return {**super().state(), **own}

    def restore(self, state: StateDict) -> None:
        super().restore(state)
        self._latest.extend(state["latest"].tolist())
        self.n_seen, self._now = state["n_seen"], state["now"]


class TrivialClasses:
    """How often each class occurred so far, in the order in which they first did."""

    most = 32
    """With more classes, waiting events would carry too many numbers, and get none."""

    def __init__(self) -> None:
        self._counts: dict[Any, float] = {}

    @property
    def now(self) -> tuple[float, ...]:
        """The counts; none if there are more than `most` classes."""
        return tuple(self._counts.values()) if len(self._counts) <= self.most else ()

    def learn(self, y: Any, w: float = 1.0) -> None:
        """Learn a class of this weight."""
        self._counts[y] = self._counts.get(y, 0.0) + w

    def state(self) -> StateDict:
        """Return classes and counts."""
        return {
            "classes": [encode_name(c) for c in self._counts],
            "counts": list(self._counts.values()),
        }

    def restore(self, state: StateDict) -> None:
        classes = map(decode_name, state["classes"])
        self._counts = dict(zip(classes, state["counts"], strict=True))


class Baselines:
    """Scores trivial predictors prequentially: each predicts an event from the labels before it."""

    def __init__(self, window: int, *names: str) -> None:
        self.by_name = {name: Baseline(window) for name in names}

    def update(self, steps: Sequence[Step]) -> None:
        """Score the labelled ones of these steps."""
        raise NotImplementedError

    def metrics(self) -> Sequence[MetricSpec]:
        return (errors_metric(self._errors),)

    def _errors(self) -> Samples:
        raise NotImplementedError

    def summary(self, scores: Scores, *, recent: bool) -> str:
        """Return a learner's scores beside these: of the window if `recent`, else of all events."""
        raise NotImplementedError

    def state(self) -> StateDict:
        """Return the scores, and what predicts, as plain values."""
        return {name: baseline.state() for name, baseline in self.by_name.items()}

    def restore(self, state: StateDict) -> None:
        for name, baseline in self.by_name.items():
            baseline.restore(state[name])


class RegressionBaselines(Baselines):
    """Absolute errors of the mean of all labels so far, and of the last label.

    Where events have labels of the same time a day or a week before, in their series, also of
    these; and of the median of the latest labels, where it is much better, as if most are 0. Like
    the learner, a baseline predicts an event when it comes, not when its label comes. Windowed
    means are over `window` labelled events.
    """

    def __init__(self, window: int) -> None:
        super().__init__(window, "running_mean", "last_value")
        self._trivial = Trivial()
        self._past = PastLabels()
        self._of_series: OrderedDict[tuple[str, ...], PastLabels] = OrderedDict()
        last = self.by_name["last_value"]
        self.seasonal = {k: Seasonal(window, seconds, last) for k, seconds in PERIODS.items()}
        self.median = Median(window)

    def update(self, steps: Sequence[Step]) -> None:
        labelled = Steps.of(steps).labelled
        labels, weights = labelled.y, labelled.weights
        means, lasts = self._trivial.predict_and_learn(labels, weights)
        if any(labelled.baselines):
            for k, known in enumerate(labelled.baselines):
                if known:  # when the event came
                    means[k], lasts[k] = known
        self.by_name["running_mean"].add(_errors(means, labels), weights)
        self.by_name["last_value"].add(_errors(lasts, labels), weights)
        self.median.score(labels, weights)
        if any(labelled.series) or not self._is_early(labelled.time):
            self._repeat(labelled, lasts)

    def _is_early(self, times: Sequence[float | None]) -> bool:
        """Return whether none of these has labels a day before, or is one to remember."""
        known = [time for time in times if time is not None]
        if not known:
            return True
        past, first, last = self._past, min(known), max(known)
        soon = last - past.first < PERIODS["day_before"] and last < past.due
        return soon and past.due - first <= PERIODS["week_before"]

    def _repeat(self, labelled: Steps, lasts: Sequence[float]) -> None:
        """Score what was at the same time a day and a week ago, and remember labels."""
        past, day, week = self._past, PERIODS["day_before"], PERIODS["week_before"]
        columns = (labelled.series, labelled.time, labelled.y, labelled.weight, labelled.delay)
        for series, time, y, weight, delay, late, last in zip(
            *columns, labelled.late, lasts, strict=True
        ):
            if series:
                past = self._past_of(series)
            if time is None:
                continue
            if time - past.first >= day:
                for each in self.seasonal.values():
                    each.compare(past, time, last, y, weight)
            # Where a label is due, or the time of an earlier one was wrong.
            if not 0.0 < past.due - time <= week and not (late and delay is None):
                past.learn(time, y, time + (delay or 0.0))
        for each in self.seasonal.values():
            each.count()

    def _past_of(self, series: tuple[str, ...]) -> PastLabels:
        """Return the labels of a series; of too many, the least recent one leaves."""
        found = self._of_series.setdefault(series, PastLabels())
        self._of_series.move_to_end(series)
        if len(self._of_series) > MOST_SERIES:
            self._of_series.popitem(last=False)
        found.most = min(MOST_PAST, MOST_PAST_OF_ALL // len(self._of_series))
        return found

    def _known(self) -> dict[str, Baseline]:
        """Return the baselines: seasonal ones that have something to repeat, a median that pays."""
        found = {**self.by_name, **{k: v for k, v in self.seasonal.items() if v.is_regular}}
        least = min(each.running for each in found.values())
        if self.median.n_seen >= FIRST_FOUND and self.median.running < MUCH_SMALLER * least:
            found["median"] = self.median
        return found

    def _errors(self) -> Samples:
        found: Samples = {}
        for name, baseline in self._known().items():
            found["mae", "window", name] = baseline.windowed
            found["mae", "all", name] = baseline.running
        return found

    def summary(self, scores: Scores, *, recent: bool) -> str:
        error = scores.window_error.mean if recent else scores.running_error
        bases = {k: each.windowed if recent else each.running for k, each in self._known().items()}
        best = min(bases, key=bases.__getitem__)
        return f"MAE {compared(error, best, bases[best], recent=recent)}"

    def state(self) -> StateDict:
        seasonal = {name: each.state() for name, each in self.seasonal.items()}
        if self._of_series:
            rows = [each.state()["rows"] for each in self._of_series.values()]
            names, sizes = [list(name) for name in self._of_series], list(map(len, rows))
            seasonal["series"] = {"names": names, "sizes": sizes, "rows": np.concatenate(rows)}
        return {
            **super().state(),
            **self._trivial.state(),
            "median": self.median.state(),
            "seasonal": {"past": self._past.state(), **seasonal},
        }

    def restore(self, state: StateDict) -> None:
        super().restore(state)
        self._trivial.restore(state)
        if "seasonal" in state:  # since release 0.3
            self.median.restore(state["median"])
            self._past.restore(state["seasonal"]["past"])
            for name, each in self.seasonal.items():
                each.restore(state["seasonal"][name])
            if (found := state["seasonal"].get("series")) is not None:
                ends = np.cumsum(found["sizes"])[:-1]
                for name, rows in zip(found["names"], np.split(found["rows"], ends), strict=True):
                    self._past_of(tuple(name)).restore({"rows": rows})


def _errors(predicted: Sequence[float], labels: Sequence[float]) -> list[float]:
    return [abs(each - y) for each, y in zip(predicted, labels, strict=True)]


class ClassificationBaselines(Baselines):
    """Log loss of the classes' frequencies so far, and misclassification by the majority class.

    Where the learner has no score, as no class was known, they have none. A label that comes late
    is scored by the frequencies when its event came; with more than 32 classes, by those when it
    comes, as a copy for each waiting event would be large. Windowed means are over `window`
    labelled events; in the log loss, a probability is at least `least`.
    """

    def __init__(self, window: int, least: float) -> None:
        super().__init__(window, "class_frequencies", "majority_class")
        self._loss_of_unseen = -log(least)
        self._counts: dict[Any, float] = {}
        self._majority: list[Any] = []  # empty before the first label
        self._n_labels: float = 0

    def update(self, steps: Sequence[Step]) -> None:
        counts, n, unseen = self._counts, self._n_labels, self._loss_of_unseen
        majority = self._majority[0] if self._majority else None  # None is no class
        most = counts.get(majority, 0)
        losses: list[float] = []
        misses: list[float] = []
        each = Steps.of(steps).labelled
        columns = zip(each.y, each.y_pred, each.late, each.baselines, each.weight, strict=True)
        for y, y_pred, late, known, w in columns:
            count = counts.get(y, 0)
            if late and len(counts) <= TrivialClasses.most:
                loss, miss = self._late(y, known)
            else:
                loss = log(n / count) if count else unseen if n else 0.0
                miss = 0.0 if y == majority else 1.0
            if y_pred != {}:
                losses.append(loss)
                misses.append(miss)
            weight = 1 if w == 1.0 else w
            counts[y] = count = count + weight
            n += weight
            if count > most:
                majority, most = y, count
        self._n_labels = n
        self._majority = [majority] if n else []
        weights = each.scored.weights
        self.by_name["class_frequencies"].add(losses, weights)
        self.by_name["majority_class"].add(misses, weights)

    def _late(self, y: Any, known: tuple[float, ...]) -> tuple[float, float]:
        """Return log loss and miss of a late class, given the counts when its event came."""
        if not known:
            return 0.0, 1.0
        counts = dict(zip(self._counts, known, strict=False))  # classes keep their order
        count = counts.get(y, 0.0)
        loss = log(sum(known) / count) if count else self._loss_of_unseen
        return loss, 0.0 if y == max(counts, key=counts.__getitem__) else 1.0

    def _errors(self) -> Samples:
        frequencies, majority = self.by_name.values()
        return {
            ("loss", "window", "class_frequencies"): frequencies.windowed,
            ("loss", "all", "class_frequencies"): frequencies.running,
            ("misclassification", "window", "majority_class"): majority.windowed,
            ("misclassification", "all", "majority_class"): majority.running,
        }

    def summary(self, scores: Scores, *, recent: bool) -> str:
        frequencies, majority = self.by_name.values()
        if recent:
            error, base = scores.window_loss.mean, frequencies.windowed
            return f"log loss {compared(error, 'class_frequencies', base, recent=True)}"
        loss = compared(scores.running_loss, "class_frequencies", frequencies.running, recent=False)
        right, base = 1.0 - scores.running_error, 1.0 - majority.running
        text = f"log loss {loss}; accuracy {right:.4g} (majority class {base:.4g})"
        if (n := scores.totals.n_unscored) > 1:
            text += f"; {n:,} events without a score, predicted before any class was known"
        return text

    def state(self) -> StateDict:
        counts = dict(self._counts)
        return {
            **super().state(),
            "classes": list(counts),
            "counts": list(counts.values()),
            "majority": list(self._majority),
        }

    def restore(self, state: StateDict) -> None:
        super().restore(state)
        self._counts = dict(zip(state["classes"], state["counts"], strict=True))
        self._n_labels = sum(state["counts"])
        self._majority = list(state["majority"])
