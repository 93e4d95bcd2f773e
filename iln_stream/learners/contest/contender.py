"""One contender of a contest: its learner, failures and standing."""

import warnings
from collections.abc import Sequence
from inspect import signature
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from river import base

from iln_stream.errors import IlnWarning, TokenError, takes_weights
from iln_stream.learners.contest.evidence import Evidence
from iln_stream.learners.contest.mixing import ContenderScores
from iln_stream.reporting import MetricSpec, Samples, contender_label, errors_metric
from iln_stream.state import StateDict

Status = Literal["champion", "challenger", "out"]


class Standing(NamedTuple):
    """How a contender is doing, at one moment.

    Errors are absolute errors in y's units of a regressor, and misclassifications (0 or 1) of a
    classifier; losses are half the squared error and the log loss. All means are nan before the
    first scored event.
    """

    name: str  # its name in the contest
    learner: str  # class of its learner
    # "champion", "challenger", or "out": failed too often in a row, and waits for a promotion
    status: Status
    n_scored: int  # events on which its prediction was scored
    # running_error, windowed_error: mean error of all these, and of the last ones in the window
    running_error: float
    windowed_error: float
    # running_loss, windowed_loss: mean loss of the same
    running_loss: float
    windowed_loss: float
    # lower, upper: Bounds of the mean of the champion's bounded loss minus its own, since the last
    # promotion: above 0 it is better. None for the champion.
    lower: float | None
    upper: float | None
    n_failures: int  # events on which it could not predict or learn
    last_failure: str | None  # reason of the last one; None: it never failed

    @property
    def is_champion(self) -> bool:
        """Whether the contest predicts by it."""
        return self.status == "champion"


OnFailure: TypeAlias = Literal["skip", "restart", "stop"]
"""What happens when a challenger can't predict or learn an event."""

POLICIES: tuple[str, ...] = get_args(OnFailure)

MOST_FAILURES = 100
"""After so many failures in a row a challenger is out until the next promotion."""

_LONGEST_REASON = 1000
"""Characters of a failure's reason that are kept."""


class UnpredictedError(ArithmeticError):
    """A contender did not predict an event when it came; its `last_failure` says why."""


class Contender:
    """A learner, its scores, its failures, and the evidence for it.

    The mixture, which the contest itself computes, has no learner. Tokens name a contender by its
    serial number, which no other one of the contest has or had.
    """

    __slots__ = (
        *("evidence", "in_a_row", "is_out", "last_failure", "learner", "n_failures", "name"),
        *("on_failure", "only_booleans", "scores", "serial"),
        *("takes_token", "takes_w", "token_takes_w"),
    )

    def __init__(
        self, name: str, learner: Any, serial: int, on_failure: OnFailure, window: int
    ) -> None:
        self.name = name
        self.serial = serial
        self.on_failure = on_failure
        self.scores = ContenderScores(window)
        self.evidence: Evidence | None = None  # None: it is the champion
        self.n_failures = self.in_a_row = 0
        self.last_failure: str | None = None
        self.is_out = False
        self.use(learner)

    def use(self, learner: Any) -> None:
        """Go on with this learner."""
        self.learner = learner
        # River makes a pipeline an instance of its last step's class.
        self.only_booleans = isinstance(learner, base.Classifier) and not learner._multiclass
        self.takes_w = learner is not None and takes_weights(learner)
        self.takes_token = hasattr(learner, "predict_token") and hasattr(learner, "learn_token")
        self.token_takes_w = self.takes_token and "w" in signature(learner.learn_token).parameters

    def learn(self, x: Any, y: Any, w: float) -> None:
        """Let the learner learn an event, with its weight if it takes one."""
        if self.takes_w:
            self.learner.learn_one(x, y, w=w)
        else:
            self.learner.learn_one(x, y)

    def learn_token(self, x: Any, token: Any, y: Any, w: float) -> None:
        """Let the learner learn a late label with its own token, and the weight if it takes one.

        A token of a release whose learner had other experts is no failure: it does without.
        """
        weight = {"w": w} if self.token_takes_w else {}
        try:
            self.learner.learn_token(x, token, y, **weight)
        except TokenError as error:
            warnings.warn(f"{self.name}: {error}; it does without", IlnWarning, stacklevel=2)
            self.learn(x, y, w)

    def failed(self, error: BaseException) -> None:
        """Count a failure, and note its reason."""
        self.n_failures += 1
        self.in_a_row += 1
        if self.last_failure is None or not isinstance(error, UnpredictedError):
            self.note(error)

    def note(self, error: BaseException) -> None:
        """Note the reason of a failure, which is counted when the label comes."""
        self.last_failure = f"{type(error).__name__}: {error}"[:_LONGEST_REASON]

    def state(self) -> StateDict:
        """Return all but the learner."""
        return {
            "serial": self.serial,
            "on_failure": self.on_failure,
            "scores": self.scores.state(),
            "evidence": None
            if self.evidence is None
            else {"error": self.evidence.error, "seen": self.evidence.state()},
            "n_failures": self.n_failures,
            "in_a_row": self.in_a_row,
            "last_failure": self.last_failure,
            "is_out": self.is_out,
        }

    def restore(self, state: StateDict) -> None:
        self.serial, self.on_failure = state["serial"], state["on_failure"]
        self.scores.restore(state["scores"])
        self.evidence = None
        if (evidence := state["evidence"]) is not None:
            self.evidence = Evidence(evidence["error"])
            self.evidence.restore(evidence["seen"])
        self.n_failures, self.in_a_row = state["n_failures"], state["in_a_row"]
        self.last_failure, self.is_out = state["last_failure"], state["is_out"]


def contest_metrics(contest: Any) -> Sequence[MetricSpec]:
    """Return the metrics of a contest, with a sample for each contender."""
    measure = "misclassification" if isinstance(contest, base.Classifier) else "mae"

    def errors() -> Samples:
        found: Samples = {}
        for each in contest.standings():
            of = contender_label(each.name)
            found["loss", "window", of] = each.windowed_loss
            found["loss", "all", of] = each.running_loss
            for over, error in (("window", each.windowed_error), ("all", each.running_error)):
                found[measure, over, of] = error
        return found

    return (
        errors_metric(errors),
        MetricSpec(
            "iln_contender_evidence",
            "gauge",
            "Bounds of the champion's mean bounded loss minus the challenger's: a lower one above "
            "0 says that the challenger is better, an upper one below 0 that it is worse.",
            lambda: {
                (bound, each.name): value
                for each in contest.standings()
                for bound, value in (("lower", each.lower), ("upper", each.upper))
                if value is not None
            },
            ("bound", "contender"),
        ),
        MetricSpec(
            "iln_contender_failures_total",
            "counter",
            "Events on which a contender could not predict or learn.",
            lambda: {each.name: each.n_failures for each in contest.standings()},
            "contender",
        ),
        MetricSpec(
            "iln_champion",
            "gauge",
            "1 for the contender that predicts, 0 for the others.",
            lambda: {each.name: float(each.is_champion) for each in contest.standings()},
            "contender",
        ),
        MetricSpec(
            "iln_promotions_total",
            "counter",
            "Promotions of a challenger, by command or by evidence.",
            lambda: contest.n_promotions,
            "reason",
        ),
    )
