"""Champion and challengers as one model: who predicts, who learns, and what is saved."""

import warnings
import zlib
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, Literal, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from iln_stream.errors import ContenderError, IlnError, IlnWarning, StateError
from iln_stream.learners.contest.contender import (
    MOST_FAILURES,
    POLICIES,
    Contender,
    OnFailure,
    Standing,
    UnpredictedError,
    contest_metrics,
)
from iln_stream.learners.contest.evidence import Evidence, error_of_comparison
from iln_stream.learners.contest.mixing import Mixing
from iln_stream.learners.restoring import RestorableLearner, broken_numbers, model_of, state_of
from iln_stream.reporting import FlagSpec, MetricSpec, Report, find_metrics, find_reporter
from iln_stream.state import StateDict

Token = NDArray[np.float64]

_CODE = float(zlib.crc32(b"iln_stream.learners.contest"))
_HEAD = 3
"""Numbers before each contender's: its serial number, and the lengths of the two that follow."""

_NO_TOKEN = -1


class ContenderToken(NamedTuple):
    """What a token has of one contender."""

    serial: int  # number of the contender in the contest
    prediction: list[float]  # its prediction as numbers
    token: Token | None  # its own token; None: it makes none


def written(parts: Iterable[ContenderToken]) -> Token:
    """Return a token with these parts."""
    numbers = [_CODE]
    for serial, prediction, token in parts:
        numbers += (serial, len(prediction), _NO_TOKEN if token is None else len(token))
        numbers += prediction
        if token is not None:
            numbers += np.asarray(token, np.float64).tolist()
    return np.array(numbers)


def read(token: Token) -> dict[int, ContenderToken]:
    """Return a token's parts by the contenders' serial numbers.

    Raises
    ------
    ValueError
        When the token is damaged.

    """
    parts: dict[int, ContenderToken] = {}
    at = 1
    while at < len(token):
        head = token[at : at + _HEAD].tolist()
        if len(head) < _HEAD or not all(map(float.is_integer, head)):
            raise _damaged()
        serial, n_prediction, n_token = map(int, head)
        middle = at + _HEAD + n_prediction
        at = middle + max(n_token, 0)
        if n_prediction < 0 or n_token < _NO_TOKEN or at > len(token):
            raise _damaged()
        own = None if n_token == _NO_TOKEN else np.array(token[middle:at])
        parts[serial] = ContenderToken(serial, token[middle - n_prediction : middle].tolist(), own)
    return parts


def _damaged() -> ValueError:
    return ValueError("token is damaged; learn with learn_one")


MIXTURE = "mixture"
"""Name of the contender that mixes the others."""

Promotion = Literal["never", "evidence"]

_SETTINGS = ("promotion", "promotion_error", "mixture", "window")
"""Parameters that a state has to repeat."""

P = TypeVar("P")
"""A prediction: a number, or probabilities by class."""


class Contest(RestorableLearner, Generic[P]):
    """Learners on the same events, of which one, the champion, predicts.

    See `ContestRegressor`.
    """

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

    # What regression and classification do differently.

    @abstractmethod
    def _raw(self, learner: Any, x: Any) -> Any:
        """Return a learner's prediction, as it is."""

    @abstractmethod
    def _checked(self, prediction: Any) -> P:
        """Return a prediction in the form that is scored; raise an error if it is not finite."""

    @abstractmethod
    def _checked_label(self, y: Any) -> Any:
        """Return a label in the form that is scored; raise ValueError if it is not valid."""

    @abstractmethod
    def _judge(self, seen: Sequence[Any], y: Any) -> list[float | None]:
        """Score the predictions; return their bounded losses, 1 of a failure, None of none."""

    @abstractmethod
    def _packed(self, prediction: P) -> list[float]:
        """Return a prediction as numbers, none of them nan."""

    @abstractmethod
    def _unpacked(self, numbers: list[float]) -> P:
        """Return the prediction from what `_packed` returned."""

    @abstractmethod
    def _new_mixing(self, n: int) -> Mixing:
        """Return the rule over n contenders."""

    @abstractmethod
    def _task_state(self) -> StateDict:
        """Return what the task needs to judge."""

    @abstractmethod
    def _restore_task(self, state: StateDict) -> None:
        """Go on from what `_task_state` returned."""

    # Predicting.

    def _predicted(self, x: Mapping[Any, float]) -> Any:
        """Return the champion's prediction, and keep it until the next change of the state."""
        champion = self._contenders[self._at]
        seen = None
        if champion.learner is None:
            seen = self._seen(self._copies(x))
            prediction = seen[-1]
            if isinstance(prediction, Exception):
                raise prediction
        else:
            prediction = self._raw(champion.learner, x)
        self._look = (x, dict(x), seen, prediction)
        return prediction

    def _copies(self, x: Mapping[Any, float]) -> list[dict[Any, float]]:
        """Return x for each contender, so that none can change it for another."""
        copy = dict(x).copy
        return [copy() for _ in self._contenders]

    def _seen(self, xs: list[dict[Any, float]], known: tuple[int, Any] | None = None) -> list[Any]:
        """Return each contender's prediction for its x, or the error; None if it is out.

        `known` is the index and the prediction of one that need not be asked.
        """
        seen: list[Any] = []
        for k, each in enumerate(self._contenders):
            if each.learner is None:
                continue  # the mixture, which is the last
            if each.is_out:
                seen.append(None)
                continue
            try:
                if known is not None and known[0] == k:
                    seen.append(self._checked(known[1]))
                else:
                    seen.append(self._checked(self._raw(each.learner, xs[k])))
            except Exception as error:
                seen.append(error)
        if self._mixing is not None:
            seen.append(self._mixed(seen))
        return seen

    def _mixed(self, seen: Sequence[Any]) -> Any:
        assert self._mixing is not None
        if self._contenders[-1].is_out:
            return None
        try:
            return self._checked(self._mixing.mix(seen))
        except ArithmeticError as error:
            return error

    def _before_label(self, x: Mapping[Any, float], xs: list[dict[Any, float]]) -> list[Any]:
        """Return what `_seen` does, without asking the champion again."""
        look = self._look
        champion = self._contenders[self._at]
        if look is not None and look[0] is x and look[1] == x:
            if look[2] is not None:
                return look[2]
            return self._seen(xs, (self._at, look[3]))
        if champion.learner is None:
            return self._seen(xs)
        try:
            return self._seen(xs, (self._at, self._raw(champion.learner, x)))
        except Exception:  # alone, it might learn the event all the same
            return self._seen(xs)

    def predict_challengers(self, x: Mapping[Any, float]) -> dict[str, P]:
        """Return what all but the champion predict for x, without those that fail or are out."""
        with self._turn:
            seen = self._before_label(x, self._copies(x))
            if (look := self._look) is not None and look[0] is x:  # they need not be asked again
                self._look = (*look[:2], seen, look[3])
            others = zip(self._contenders, seen, strict=True)
            return {
                each.name: found
                for each, found in others
                if each.evidence is not None and not isinstance(found, Exception | None)
            }

    def predict_token(self, x: Mapping[Any, float]) -> tuple[Any, Token]:
        """Return the champion's prediction for x, and a token for `learn_token`.

        The token holds what each contender predicted, and the token of those that make tokens.
        """
        with self._turn:
            seen: list[Any] = []
            own: list[Token | None] = []
            answer: Any = None
            for k, each in enumerate(self._contenders):
                if each.learner is None:
                    continue
                prediction: Any = None
                token = None
                if k == self._at:
                    answer, token = self._with_token(each, x)
                    prediction = self._checked(answer)
                elif not each.is_out:
                    try:
                        raw, token = self._with_token(each, dict(x))
                        prediction = self._checked(raw)
                    except Exception as error:
                        prediction, token = error, None
                        each.note(error)
                seen.append(prediction)
                own.append(token)
            if self._mixing is not None:
                seen.append(self._mixed(seen))
                own.append(None)
                if self._contenders[self._at].learner is None:
                    answer = seen[-1]
                    if isinstance(answer, Exception):
                        raise answer
            parts = (
                ContenderToken(each.serial, self._numbers(prediction), token)
                for each, prediction, token in zip(self._contenders, seen, own, strict=True)
                if prediction is not None
            )
            return answer, written(parts)

    def _with_token(self, each: Contender, x: Mapping[Any, float]) -> tuple[Any, Token | None]:
        if each.takes_token:
            return each.learner.predict_token(x)  # type: ignore[no-any-return]
        return self._raw(each.learner, x), None

    def _numbers(self, prediction: Any) -> list[float]:
        return [float("nan")] if isinstance(prediction, Exception) else self._packed(prediction)

    # Learning.

    def learn_one(self, x: Mapping[Any, float], y: Any, w: float = 1.0) -> None:
        """Score each contender's prediction of x, then let all learn that y is its label.

        w is the event's weight, for contenders that take one.

        Raises
        ------
        ValueError
            When y is not valid. The champion's errors are raised as they are. No contender has
            learned anything then.
        ContenderError
            When a challenger fails whose policy is "stop".

        """
        with self._turn:
            label = self._checked_label(y)
            xs = self._copies(x)
            seen = self._before_label(x, xs)
            champion = self._contenders[self._at]
            self._require_learnable(champion, seen, label)
            self._look = None
            if champion.learner is not None:
                champion.learn(x, y, w)
            self._learn_on(xs, y, label, w, seen, None)

    def learn_token(self, x: Mapping[Any, float], token: Any, y: Any, w: float = 1.0) -> None:
        """Learn that y is the label of x, as it was predicted with a token.

        Contenders are scored on what they predicted then. One that was added or began anew since
        then learns the event, and is not scored on it. A token that the first contender made alone
        is passed on to it. w is its weight, for contenders that take one.

        Raises
        ------
        ValueError
            As of `learn_one`, and when the token is damaged.
        ContenderError
            As of `learn_one`.

        """
        with self._turn:
            label = self._checked_label(y)
            parts = self._parts(token)
            seen: list[Any] = []
            own: list[Token | None] = []
            for each in self._contenders:
                part = None if each.is_out else parts.get(each.serial)
                own.append(None if part is None else part.token)
                if part is None or not part.prediction:
                    seen.append(None)
                elif part.prediction[0] != part.prediction[0]:
                    seen.append(UnpredictedError("it did not predict the event when it came"))
                else:
                    seen.append(self._unpacked(part.prediction))
            champion, at = self._contenders[self._at], self._at
            self._require_learnable(champion, seen, label)
            self._look = None
            xs = self._copies(x)
            if own[at] is not None:
                champion.learn_token(x, own[at], y, w)
            elif champion.learner is not None:
                champion.learn(x, y, w)
            self._learn_on(xs, y, label, w, seen, own)

    def _parts(self, token: Any) -> dict[int, ContenderToken]:
        if np.ndim(token) == 1 and len(token) > 0 and token[0] == _CODE:
            return read(token)  # else it is a learner's own
        first = self._contenders[0]
        return {
            first.serial: ContenderToken(first.serial, [], token if first.takes_token else None)
        }

    def _require_learnable(self, champion: Contender, seen: Sequence[Any], label: Any) -> None:
        if champion.learner is None:
            if isinstance(seen[-1], Exception):
                raise seen[-1]
        elif champion.only_booleans and label not in (0, 1):
            raise _not_boolean(label)

    def _learn_on(
        self,
        xs: list[dict[Any, float]],
        y: Any,
        label: Any,
        w: float,
        seen: list[Any],
        own: list[Token | None] | None,
    ) -> None:
        """Score all, after the champion has learned; let the challengers learn."""
        for k, each in enumerate(self._contenders):
            if each.only_booleans and label not in (0, 1) and seen[k] is not None:
                seen[k] = _not_boolean(label)
        losses = self._judge(seen, label)
        mine = losses[self._at]
        if self._mixing is not None and not isinstance(seen[-1], Exception | None):
            self._mixing.learn(seen[:-1], seen[-1], label)
        champion = self._contenders[self._at]
        if isinstance(seen[self._at], Exception):
            champion.failed(seen[self._at])
        best: Contender | None = None
        by_evidence = self.promotion == "evidence"
        self._reporter_learned = champion.name == self._reporter
        for k, each in enumerate(self._contenders):
            evidence, loss = each.evidence, losses[k]
            if evidence is None or each.is_out:  # it is the champion, or out
                continue
            if mine is not None and loss is not None:
                evidence.update(mine - loss)
                if by_evidence and evidence.is_better:
                    lower = evidence.lower
                    if best is None or lower > best.evidence.lower:  # type: ignore[union-attr]
                        best = each
            error = seen[k]
            if not isinstance(error, Exception):
                if each.learner is None:
                    continue
                try:
                    if own is not None and own[k] is not None:
                        each.learn_token(xs[k], own[k], y, w)
                    else:
                        each.learn(xs[k], y, w)
                    each.in_a_row = 0
                    if each.name == self._reporter:
                        self._reporter_learned = True
                    continue
                except Exception as raised:
                    error = raised
            self._failed(each, error)
        if best is not None and not best.is_out:
            self._promote(best, "evidence")

    # Who takes part.

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
        each.failed(error)
        if each.learner is None:
            return  # the mixture, while nobody predicts
        if each.on_failure == "stop":
            raise ContenderError(
                f"challenger {each.name} failed ({each.last_failure}), and its policy is stop: set "
                "on_failure to skip or restart, or remove it"
            ) from error
        each.is_out = each.in_a_row >= MOST_FAILURES
        if each.n_failures == 1 or each.in_a_row == MOST_FAILURES:
            n = "" if each.n_failures == 1 else f" {MOST_FAILURES} times in a row, and is out"
            text = f"challenger {each.name} failed{n}: {each.last_failure}"
            warnings.warn(text, IlnWarning, stacklevel=2)
        lost = isinstance(error, ArithmeticError) and _is_lost(each.learner)
        if each.is_out or lost or each.on_failure == "restart":
            self._begin_anew(each)

    def _begin_anew(self, each: Contender) -> None:
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
        return find_reporter(self.contenders.get(self._reporter or ""))

    def _reported(self) -> Sequence[MetricSpec]:
        return find_metrics(self.contenders.get(self._reporter or ""))

    def _current(self, spec: MetricSpec) -> MetricSpec:
        """Return a metric that is read from the learner that has the name then."""

        def read() -> Any:
            with self._turn:
                now = next((each for each in self._reported() if each.name == spec.name), None)
            return None if now is None else now.read()

        return spec._replace(read=read)

    # Saving.

    def state(self, save: Callable[[Any], StateDict] = state_of) -> StateDict:
        """Return the state of the contest and of all contenders.

        `save` returns the state of a learner.

        Raises
        ------
        StateError
            When a learner has no state that can be saved.

        """
        with self._turn:
            return self._schema().write(
                parameters={name: getattr(self, name) for name in _SETTINGS},
                contenders=[
                    {
                        "name": each.name,
                        "learner": None if each.learner is None else save(each.learner),
                        **each.state(),
                    }
                    for each in self._contenders
                ],
                rule=None if self._mixing is None else self._mixing.rule.state(),
                champion=self._at,
                next_serial=self._next_serial,
                period=self._period,
                promotions=dict(self._promotions),
                reporter=self._reporter,
                task=self._task_state(),
            )

    def restore(self, state: StateDict, load: Callable[[StateDict], Any] = model_of) -> None:
        """Go on from a state of a contest of the same contenders.

        `load` returns the learner that has a state.

        Raises
        ------
        StateError
            When the state is of another contest.

        """
        with self._turn:
            parameters, contenders, rule, *rest, task = self._schema().read(
                state, "parameters", "contenders", "rule", "champion", "next_serial", "period",
                "promotions", "reporter", "task",
            )  # fmt: skip
            if parameters != (own := {name: getattr(self, name) for name in _SETTINGS}):
                raise StateError(f"the state is of a contest with {parameters}, not {own}")
            found = [each["name"] for each in contenders]
            if found != (names := [each.name for each in self._contenders]):
                raise StateError(f"the state is of the contenders {found}, not {names}")
            learners = [each["learner"] and load(each["learner"]) for each in contenders]
            for each, learner, saved in zip(self._contenders, learners, contenders, strict=True):
                if type(learner) is not type(each.learner):
                    raise StateError(
                        f"the state's {each.name} is a {type(learner).__name__}, not a "
                        f"{type(each.learner).__name__}"
                    )
                each.use(learner)
                each.restore(saved)
            if self._mixing is not None:
                self._mixing.rule.restore(rule)
            self._at, self._next_serial, self._period, self._promotions, self._reporter = rest
            self._promotions = dict(self._promotions)
            self._look = None
            self._reporter_learned = False
            self._restore_task(task)

    @classmethod
    def from_state(
        cls, state: StateDict, load: Callable[[StateDict], Any] | None = None, **own: Any
    ) -> Self:
        """Return a contest that has this state; it goes on bit for bit.

        `load` returns the learner that has a state; None: `model_of`, which says what `own` is.
        """
        loaded = load or (lambda each: model_of(each, **own))
        model = cls._built(state, loaded)
        model.restore(state, loaded)
        return model

    @classmethod
    def _built_from(cls, state: StateDict, own: Mapping[str, Any]) -> Self:
        return cls._built(state, lambda each: model_of(each, **own))

    @classmethod
    def _built(cls, state: StateDict, load: Callable[[StateDict], Any]) -> Self:
        state = cls._schema().migrated(state)
        try:
            learners = [each for each in state["contenders"] if each["learner"] is not None]
            return cls(
                {each["name"]: _loaded(each, load) for each in learners},
                **state["parameters"],
                on_failure={each["name"]: each["on_failure"] for each in learners},
            )
        except (KeyError, TypeError, ValueError) as error:
            raise StateError(f"the state of {cls.__name__} is damaged: {error!r}") from error

    def clone(
        self, new_params: dict[str, Any] | None = None, include_attributes: bool = False
    ) -> Self:
        """Return a contest of contenders that have learned nothing; with attributes, a copy."""
        if include_attributes:
            return super().clone(new_params, include_attributes)
        params = self._arguments()
        params["contenders"] = {name: each.clone() for name, each in self.contenders.items()}
        params["on_failure"] = {
            each.name: each.on_failure for each in self._contenders if each.learner is not None
        }
        return type(self)(**{**params, **(new_params or {})})

    def __getstate__(self) -> dict[str, Any]:
        """What a copy gets: all but the lock and the last prediction."""
        return {**super().__getstate__(), "_look": None}


def _is_lost(learner: Any) -> bool:
    """Whether a learner's numbers are not finite: it would never predict, nor could it be saved."""
    try:
        return bool(broken_numbers(state_of(learner)))
    except StateError:
        return False


def _loaded(each: StateDict, load: Callable[[StateDict], Any]) -> Any:
    try:
        return load(each["learner"])
    except IlnError as error:
        raise type(error)(f"contender {each['name']}: {error}") from error


def _not_boolean(y: Any) -> ValueError:
    return ValueError(f"it knows two classes, false and true (or 0 and 1), and y is {y!r}")


def contest_in(state: StateDict) -> type[Contest[Any]] | None:
    """Return the class of the contest of which this is the state; None if it is of no contest."""
    classes = Contest.__subclasses__()
    return next((cls for cls in classes if state.get("class") == cls._schema().name), None)
