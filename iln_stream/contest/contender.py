"""One learner in a contest, with all that the contest notes of it."""

from inspect import signature
from typing import Any, Literal, TypeAlias, get_args

from river import base

from iln_stream.contest.evidence import Evidence
from iln_stream.contest.scores import ContenderScores
from iln_stream.signatures import takes_weights
from iln_stream.state import StateDict

OnFailure: TypeAlias = Literal["skip", "restart", "stop"]
"""What happens when a challenger can't predict or learn an event."""

POLICIES: tuple[str, ...] = get_args(OnFailure)

MOST_FAILURES = 100
"""After so many failures in a row a challenger is out until the next promotion."""

_LONGEST_REASON = 200
"""Characters of a failure's reason that are kept."""


class Contender:
    """A learner, its scores, its failures, and the evidence for it.

    Parameters
    ----------
    name
        Its name in the contest.
    learner
        Predicts and learns; None for the mixture, which the contest itself computes.
    serial
        Number that no other contender of the contest has or had: tokens name it.
    on_failure
        Its failure policy.
    window
        Scored events in the windowed means.

    """

    __slots__ = (
        *("evidence", "in_a_row", "is_out", "last_failure", "learner", "n_failures", "name"),
        *(
            "on_failure",
            "only_booleans",
            "scores",
            "serial",
            "token_takes_w",
            "takes_token",
            "takes_w",
        ),
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
        """Let the learner learn a late label with its own token, and the weight if it takes one."""
        if self.token_takes_w:
            self.learner.learn_token(x, token, y, w=w)
        else:
            self.learner.learn_token(x, token, y)

    def failed(self, error: BaseException) -> None:
        """Note a failure."""
        self.n_failures += 1
        self.in_a_row += 1
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
        """Go on from a state."""
        self.serial, self.on_failure = state["serial"], state["on_failure"]
        self.scores.restore(state["scores"])
        self.evidence = None
        if (evidence := state["evidence"]) is not None:
            self.evidence = Evidence(evidence["error"])
            self.evidence.restore(evidence["seen"])
        self.n_failures, self.in_a_row = state["n_failures"], state["in_a_row"]
        self.last_failure, self.is_out = state["last_failure"], state["is_out"]
