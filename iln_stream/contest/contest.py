"""What contests of regressors and of classifiers have in common."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Generic, TypeVar

from iln_stream.contest import token as tokens
from iln_stream.contest.contender import Contender
from iln_stream.contest.saved import SavedRoster
from iln_stream.contest.token import Part, Token
from iln_stream.state import StateDict

P = TypeVar("P")
"""A prediction: a number, or probabilities by class."""


class Contest(SavedRoster, Generic[P]):
    """Learners on the same events, of which one, the champion, predicts.

    See `ContestRegressor`.
    """

    # What regression and classification do differently.

    @abstractmethod
    def _raw(self, learner: Any, x: Any) -> Any:
        """Return a learner's prediction, as it is."""

    @abstractmethod
    def _checked(self, prediction: Any) -> P:
        """Return a prediction in the form that is scored; raise an error if it is not finite."""

    @abstractmethod
    def _asked(self, learner: Any, x: Any) -> P:
        """Return a learner's prediction, checked; called for each challenger, so kept cheap."""

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
                    seen.append(self._asked(each.learner, xs[k]))
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
                Part(each.serial, self._numbers(prediction), token)
                for each, prediction, token in zip(self._contenders, seen, own, strict=True)
                if prediction is not None
            )
            return answer, tokens.written(parts)

    def _with_token(self, each: Contender, x: Mapping[Any, float]) -> tuple[Any, Token | None]:
        if each.takes_token:
            return each.learner.predict_token(x)  # type: ignore[no-any-return]
        return self._raw(each.learner, x), None

    def _numbers(self, prediction: Any) -> list[float]:
        return [float("nan")] if isinstance(prediction, Exception) else self._packed(prediction)

    # Learning.

    def learn_one(self, x: Mapping[Any, float], y: Any, w: float = 1.0) -> None:
        """Score each contender's prediction of x, then let all learn that y is its label.

        Parameters
        ----------
        x, y
            The event.
        w
            Its weight, for contenders that take one.

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
        is passed on to it.

        Parameters
        ----------
        x
            As it was predicted.
        token
            That of its prediction.
        y
            The label.
        w
            Its weight, for contenders that take one.

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
                    seen.append(ArithmeticError("it did not predict the event when it came"))
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

    def _parts(self, token: Any) -> dict[int, Part]:
        if tokens.is_of_contest(token):
            return tokens.read(token)
        first = self._contenders[0]
        return {first.serial: Part(first.serial, [], token if first.takes_token else None)}

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


def _not_boolean(y: Any) -> ValueError:
    return ValueError(f"it knows two classes, false and true (or 0 and 1), and y is {y!r}")


def contest_in(state: StateDict) -> type[Contest[Any]] | None:
    """Return the class of the contest of which this is the state; None if it is of no contest."""
    classes = Contest.__subclasses__()
    return next((cls for cls in classes if state.get("class") == cls._schema().name), None)
