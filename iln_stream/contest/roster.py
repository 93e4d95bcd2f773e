"""Who takes part in a contest, and who is its champion."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from iln_stream.contest.contender import MOST_FAILURES, POLICIES, Contender, OnFailure
from iln_stream.contest.evidence import Evidence, error_of_comparison
from iln_stream.contest.mixing import Mixing
from iln_stream.contest.reports import contest_metrics
from iln_stream.contest.standing import Standing
from iln_stream.errors import ContenderError, StateError
from iln_stream.learners import RestorableLearner, broken_numbers, state_of
from iln_stream.reporting import FlagSpec, MetricSpec, Report, find_metrics, find_reporter

MIXTURE = "mixture"
"""Name of the contender that mixes the others."""

Promotion = Literal["never", "evidence"]


class Roster(RestorableLearner):
    """The contenders, the comparisons of challengers with the champion, and what is reported."""

    def __init__(
        self,
        contenders: Mapping[str, Any],
        promotion: Promotion = "never",
        promotion_error: float = 0.05,
        mixture: bool = False,
        on_failure: OnFailure | Mapping[str, OnFailure] = "skip",
        window: int = 1000,
    ) -> None:
        super().__init__()
        if not isinstance(contenders, Mapping):
            raise ValueError(
                "contenders must be a mapping of learners by name, such as "
                f"{{'a': learner}}, not a {type(contenders).__name__}"
            )
        if not contenders:
            raise ValueError("contenders is empty: name at least one learner")
        for name, learner in contenders.items():
            if not hasattr(learner, "learn_one"):
                raise ValueError(f"contenders[{name!r}] = {learner!r:.60} is no learner of River's")
        if len({id(learner) for learner in contenders.values()}) < len(contenders):
            raise ValueError("contenders has one learner twice: it would learn each event twice")
        if promotion not in ("never", "evidence"):
            raise ValueError(f"promotion = {promotion!r} must be 'never' or 'evidence'")
        if not 0.0 < promotion_error < 1.0:
            raise ValueError(
                f"promotion_error = {promotion_error!r} must be a probability between 0 and 1"
            )
        if window < 1:
            raise ValueError(f"window = {window} must be at least 1 event")
        self.promotion = promotion
        self.promotion_error = promotion_error
        self.mixture = mixture
        self.on_failure = on_failure
        self.window = window
        self._contenders: list[Contender] = []
        self._next_serial = 0
        for name, learner in contenders.items():
            self._contenders.append(self._new(name, learner, self._policy(name)))
        if not isinstance(on_failure, str) and (odd := set(on_failure) - set(contenders)):
            raise ValueError(f"on_failure names {', '.join(sorted(odd))}: {self._names()}")
        self._mixing: Mixing | None = None
        if mixture:
            self._contenders.append(self._numbered(MIXTURE, None, "skip"))
            self._mixing = self._new_mixing(len(contenders))
        self._reporter = next(
            (name for name, each in contenders.items() if find_reporter(each) is not None), None
        )
        self._at = 0  # of the champion
        self._period = 0
        self._promotions = {"command": 0, "evidence": 0}
        self._reporter_learned = False
        self._look: tuple[Any, dict[Any, float], list[Any] | None, Any] | None = None
        self._begin_period()

    @abstractmethod
    def _new_mixing(self, n: int) -> Mixing:
        """Return the rule over n contenders."""

    @property
    def contenders(self) -> dict[str, Any]:
        """The learners by name, without the mixture."""
        return {each.name: each.learner for each in self._contenders if each.learner is not None}

    @property
    def champion(self) -> str:
        """Name of the contender that predicts."""
        return self._contenders[self._at].name

    @property
    def champion_learner(self) -> Any:
        """The learner that predicts; None if the mixture does."""
        return self._contenders[self._at].learner

    @property
    def n_promotions(self) -> dict[str, int]:
        """Number of promotions by reason: "command" and "evidence"."""
        return dict(self._promotions)

    @property
    def mixture_weights(self) -> dict[str, float]:
        """Weight of each contender in the mixture; empty without one."""
        with self._turn:
            if self._mixing is None:
                return {}
            return dict(zip(self.contenders, self._mixing.rule.weights.tolist(), strict=True))

    def promote(self, name: str) -> None:
        """Let a contender predict from now on; the champion becomes a challenger.

        All comparisons begin anew, and contenders that were out take part again, from the start.
        To promote the champion changes nothing.

        Raises
        ------
        ValueError
            When no contender has the name, or it is out.

        """
        with self._turn:
            each = self._named(name)
            if each.is_out:
                raise ValueError(
                    f"{name} is out of the contest after {MOST_FAILURES} failures in a row, the "
                    f"last: {each.last_failure}; it takes part again after another promotion"
                )
            if each.name != self.champion:
                self._promote(each, "command")

    def add(self, name: str, learner: Any, on_failure: OnFailure = "skip") -> None:
        """Let one more learner take part, as a challenger; all comparisons begin anew.

        Raises
        ------
        ValueError
            When the name or the policy is not valid.

        """
        with self._turn:
            each = self._new(name, learner, on_failure)
            if self._mixing is None:
                self._contenders.append(each)
            else:
                if self._contenders[self._at].learner is None:
                    self._at += 1
                self._contenders.insert(-1, each)
                self._mixing.add()
            self._begin_period()

    def remove(self, name: str) -> None:
        """Let a challenger take part no longer; all comparisons begin anew.

        Raises
        ------
        ValueError
            When no contender has the name, or it is the champion, or the mixture.

        """
        with self._turn:
            each = self._named(name)
            if name == self.champion:
                raise ValueError(f"{name} is the champion: promote another contender first")
            if each.learner is None:
                raise ValueError(f"{name} can't be removed: make a contest without one")
            champion = self._contenders[self._at]
            if self._mixing is not None:
                self._mixing.remove(self._contenders.index(each))
            self._contenders.remove(each)
            self._at = self._contenders.index(champion)
            self._begin_period()

    def standings(self) -> tuple[Standing, ...]:
        """Return how each contender is doing, in the order in which they were named."""
        with self._turn:
            return tuple(self._standing(each) for each in self._contenders)

    def _standing(self, each: Contender) -> Standing:
        scores, evidence = each.scores, each.evidence
        return Standing(
            each.name,
            type(self._mixing.rule if each.learner is None else each.learner).__name__,  # type: ignore[union-attr]
            "champion" if evidence is None else "out" if each.is_out else "challenger",
            scores.n, scores.running_error, scores.windowed_error,
            scores.running_loss, scores.windowed_loss,
            None if evidence is None else evidence.lower,
            None if evidence is None else evidence.upper,
            each.n_failures, each.last_failure,
        )  # fmt: skip

    def _named(self, name: str) -> Contender:
        for each in self._contenders:
            if each.name == name:
                return each
        raise ValueError(f"{name!r} takes no part: {self._names()}")

    def _names(self) -> str:
        return f"the contenders are {', '.join(each.name for each in self._contenders)}"

    def _policy(self, name: str) -> OnFailure:
        given = self.on_failure
        return given if isinstance(given, str) else given.get(name, "skip")

    def _new(self, name: str, learner: Any, on_failure: OnFailure) -> Contender:
        if not isinstance(name, str) or not name:
            raise ValueError(f"a contender is named {name!r}: use a text that is not empty")
        if name == MIXTURE:
            raise ValueError(f"{name!r} is the name of the mixture: choose another one")
        if any(each.name == name for each in self._contenders):
            raise ValueError(f"{name!r} takes part already: choose another name")
        if on_failure not in POLICIES:
            raise ValueError(
                f"on_failure of {name} = {on_failure!r} must be one of {', '.join(POLICIES)}"
            )
        return self._numbered(name, learner, on_failure)

    def _numbered(self, name: str, learner: Any, on_failure: OnFailure) -> Contender:
        serial, self._next_serial = self._next_serial, self._next_serial + 1
        return Contender(name, learner, serial, on_failure, self.window)

    def _promote(self, each: Contender, reason: str) -> None:
        self._at = self._contenders.index(each)
        self._promotions[reason] += 1
        for other in self._contenders:
            if other.is_out:
                other.is_out, other.in_a_row = False, 0
        each.in_a_row = 0
        self._begin_period()

    def _begin_period(self) -> None:
        """Begin all comparisons anew, with a smaller chance of an error.

        Challengers share the error probability of the period, so that of any false promotion is at
        most `promotion_error`.
        """
        self._look = None
        self._period += 1
        error = error_of_comparison(self.promotion_error, self._period)
        error /= max(len(self._contenders) - 1, 1)
        champion = self._contenders[self._at]
        for each in self._contenders:
            each.evidence = None if each is champion else Evidence(error)

    def _failed(self, each: Contender, error: Exception) -> None:
        """Note a challenger's failure and do what its policy says."""
        each.failed(error)
        if each.learner is None:
            return  # the mixture, while nobody predicts
        if each.on_failure == "stop":
            raise ContenderError(
                f"challenger {each.name} failed ({each.last_failure}), and its policy is stop: set "
                "on_failure to skip or restart, or remove it"
            ) from error
        each.is_out = each.in_a_row >= MOST_FAILURES
        lost = isinstance(error, ArithmeticError) and _is_lost(each.learner)
        if each.is_out or lost or each.on_failure == "restart":
            self._begin_anew(each)

    def _begin_anew(self, each: Contender) -> None:
        """Replace a challenger's learner by one that has learned nothing."""
        try:
            each.use(each.learner.clone())
        except Exception as error:
            each.last_failure = f"it can't be cloned: {error}"
            each.is_out = True
        each.serial, self._next_serial = self._next_serial, self._next_serial + 1
        if self._mixing is not None:
            self._mixing.forget(self._contenders.index(each))

    # Reporting.

    @property
    def flags(self) -> tuple[FlagSpec, ...]:
        """The flags of the first contender that reports."""
        found = self._found_reporter()
        return () if found is None else tuple(found.flags)

    def report(self, y_pred: Any, y: Any) -> Report:
        """Report no loss, so that it is the task's whoever predicts, and that contender's flags."""
        found = self._found_reporter() if self._reporter_learned else None
        return None, () if found is None else found.report(y_pred, y)[1]

    def metrics(self) -> Sequence[MetricSpec]:
        """Return the metrics of the contest, and those of the first contender that reports."""
        return (*contest_metrics(self), *map(self._current, self._reported()))

    def _found_reporter(self) -> Any:
        learner = self.contenders.get(self._reporter) if self._reporter is not None else None
        return find_reporter(learner)

    def _reported(self) -> Sequence[MetricSpec]:
        learner = self.contenders.get(self._reporter) if self._reporter is not None else None
        return () if learner is None else find_metrics(learner)

    def _current(self, spec: MetricSpec) -> MetricSpec:
        """Return a metric that is read from the learner that has the name then."""

        def read() -> Any:
            with self._turn:
                now = next((each for each in self._reported() if each.name == spec.name), None)
            return None if now is None else now.read()

        return spec._replace(read=read)


def _is_lost(learner: Any) -> bool:
    """Whether a learner's numbers are not finite: it would never predict, nor could it be saved."""
    try:
        return bool(broken_numbers(state_of(learner)))
    except StateError:
        return False
