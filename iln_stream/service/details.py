"""Computes what a prediction has beside its value, as the settings describe."""

from collections.abc import Callable, Sequence
from typing import Any

from iln_stream.contest import Contest
from iln_stream.contest.roster import MIXTURE
from iln_stream.prequential import Details
from iln_stream.service.challengers import learners_of
from iln_stream.service.learners import PredictOnly
from iln_stream.service.settings import Settings, SettingsError

DetailsOf = Callable[[dict[str, float]], Details]


def build_details(settings: Settings, learner: Any) -> DetailsOf | None:
    """Return a function of an event's inputs; None if the settings ask for nothing.

    Of a contest, the details are the champion's, as far as it has any, and its name.

    Raises
    ------
    SettingsError
        When the learner has no intervals, or explains nothing; of a contest, all of its learners.

    """
    levels, n_largest = settings.prediction_intervals, settings.prediction_contributions
    model = learner.learner if isinstance(learner, PredictOnly) else learner
    _check(levels, n_largest, learners_of(model))
    if isinstance(model, Contest):
        return _OfChampion(model, levels, n_largest)
    return _details_of(model, levels, n_largest, None) if levels or n_largest else None


def contender_names(learner: Any) -> list[str]:
    """Return the names that predictions may carry; none without challengers."""
    model = learner.learner if isinstance(learner, PredictOnly) else learner
    return [*model.contenders, MIXTURE] if isinstance(model, Contest) else []


class _OfChampion:
    """Details of the champion's predictions."""

    def __init__(self, contest: Contest[Any], levels: Sequence[float], n_largest: int) -> None:
        self._contest = contest
        self._wanted = levels, n_largest
        self._name = ""
        self._learner: Any = None
        self._of: DetailsOf = _nothing

    def __call__(self, x: dict[str, float]) -> Details:
        """Return the details of an event that was just predicted."""
        champion = self._contest.champion_learner
        if champion is not self._learner or not self._name:
            self._learner, self._name = champion, self._contest.champion
            self._of = _details_of(champion, *self._wanted, self._name)
        return self._of(x)


def _details_of(
    learner: Any, levels: Sequence[float], n_largest: int, contender: str | None
) -> DetailsOf:
    """Return a function of an event's inputs; a learner without intervals has none."""
    interval: Any = getattr(learner, "predict_interval", None)
    explain: Any = getattr(learner, "explain_one", None)
    wanted = levels if interval is not None else ()
    explained = bool(n_largest) and explain is not None
    nothing = Details((), None, contender)
    if not (wanted or explained):
        return lambda _: nothing

    def details(x: dict[str, float]) -> Details:
        intervals = tuple(interval(x, level) for level in wanted)
        if not explained:
            return Details(intervals, None, contender)
        found = explain(x)
        return Details(intervals, (found.baseline, found.largest(n_largest)), contender)

    return details


def _nothing(x: dict[str, float]) -> Details:
    return Details()


def _check(levels: Sequence[float], n_largest: int, learners: Sequence[Any]) -> None:
    names = ", ".join(type(each).__name__ for each in learners)
    if levels and not any(hasattr(each, "predict_interval") for each in learners):
        raise SettingsError(
            f"prediction_intervals: {names} has no intervals (no method "
            "predict_interval): unset it, or set learner = infinite-layer"
        )
    if n_largest and not any(hasattr(each, "explain_one") for each in learners):
        raise SettingsError(
            f"prediction_contributions: {names} explains no prediction (no method "
            "explain_one): unset it, or set learner = infinite-layer or infinite-layer-classifier"
        )
