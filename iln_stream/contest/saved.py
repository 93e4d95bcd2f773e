"""Saving, restoring and cloning a contest."""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Self

from iln_stream.contest.roster import Roster
from iln_stream.errors import IlnError, StateError
from iln_stream.learners import model_of, state_of
from iln_stream.state import StateDict

_SETTINGS = ("promotion", "promotion_error", "mixture", "window")
"""Parameters that a state has to repeat."""


class SavedRoster(Roster):
    """A roster with a state, which holds that of each learner as it would be saved alone."""

    def state(self, save: Callable[[Any], StateDict] = state_of) -> StateDict:
        """Return the state of the contest and of all contenders.

        Parameters
        ----------
        save
            Returns the state of a learner.

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

        Parameters
        ----------
        state
            From `state`.
        load
            Returns the learner that has a state.

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

    @abstractmethod
    def _task_state(self) -> StateDict:
        """Return what the task needs to judge."""

    @abstractmethod
    def _restore_task(self, state: StateDict) -> None:
        """Go on from what `_task_state` returned."""

    @classmethod
    def from_state(
        cls, state: StateDict, load: Callable[[StateDict], Any] | None = None, **own: Any
    ) -> Self:
        """Return a contest that has this state; it goes on bit for bit.

        Parameters
        ----------
        state
            From `state`.
        load
            Returns the learner that has a state; None: `model_of`.
        own
            Arguments that the learners' states can't store; see `model_of`.

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
        """Return a contest of a state's contenders."""
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


def _loaded(each: StateDict, load: Callable[[StateDict], Any]) -> Any:
    try:
        return load(each["learner"])
    except IlnError as error:
        raise type(error)(f"contender {each['name']}: {error}") from error
