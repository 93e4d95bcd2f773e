"""A learner as named arrays, and back: ours by its state, any other as a pickle, if allowed."""

import pickle
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iln_stream.errors import NotFiniteError, PublishingError, StateError
from iln_stream.learners import broken_numbers, some_of, state_of, unserializable_parameters
from iln_stream.learners.infinite_layer.without_replay import model_to_predict, replay_left_out
from iln_stream.state import StateDict, pack, unpack
from iln_stream.state.pack import TEXT

STATE, PICKLE = "state", "pickle"
"""Forms in which a learner is stored."""


class Capture:
    """Takes copies of a learner, which share no memory with it.

    Parameters
    ----------
    learner
        One of ours, or a River pipeline of ours; with `allow_pickle`, any.
    allow_pickle
        Whether a learner without a state may be pickled.

    Attributes
    ----------
    learner
        The learner.
    form : str
        `STATE` or `PICKLE`.

    Raises
    ------
    PublishingError
        When the learner has no state and may not be pickled, or can't be.

    """

    def __init__(self, learner: Any, allow_pickle: bool) -> None:
        self.learner = learner
        self.form = STATE
        try:
            self._require_known_parameters(self._state())
        except StateError as error:
            if not allow_pickle:
                raise PublishingError(
                    f"publish: {error}; or set snapshot_pickle (in Python allow_pickle=True) to "
                    "publish it as a pickle, which runs code when it is read: do so only if nobody "
                    "else can write to the folder"
                ) from error
            self.form = PICKLE
            self.take()
        except NotFiniteError:
            pass  # the learner may heal

    def take(self) -> dict[str, Any]:
        """Return a copy.

        Raises
        ------
        NotFiniteError
            When the learner's state is not finite.
        PublishingError
            When the learner can't be pickled.

        """
        if self.form == STATE:
            return self._state()
        try:
            return {PICKLE: pickle.dumps(self.learner, pickle.HIGHEST_PROTOCOL)}
        except Exception as error:  # it runs the learner's own code
            raise PublishingError(f"publish: the learner can't be pickled: {error!r}") from error

    def _state(self) -> StateDict:
        with replay_left_out(self.learner):
            state = state_of(self.learner)
        if broken := broken_numbers(state):
            raise NotFiniteError(f"publish: the learner's state is not finite: {some_of(broken)}")
        return state

    def _require_known_parameters(self, state: StateDict) -> None:
        for parameter, name in unserializable_parameters(state):
            raise StateError(
                f"{parameter} is a {name}, which a state does not describe, so it could not be "
                "restored: make that class @restorable (iln_stream.learners)"
            )


def to_arrays(copy: dict[str, Any], form: str) -> dict[str, NDArray[Any]]:
    """Return what `Capture.take` returned as arrays to store."""
    if form == PICKLE:
        return {PICKLE: np.frombuffer(copy[PICKLE], np.uint8)}
    arrays, text = pack(copy)
    return {TEXT: np.frombuffer(text.encode(), np.uint8), **arrays}


def learner_of(arrays: Mapping[str, NDArray[Any]], form: str, allow_pickle: bool) -> Any:
    """Return the learner that `to_arrays` stored.

    Raises
    ------
    PublishingError
        When it is a pickle and may not be read, or can't be restored.

    """
    try:
        if form == STATE:
            state = dict(arrays)
            text = state.pop(TEXT).tobytes().decode()
            return model_to_predict(unpack(state, text))
        if not allow_pickle:
            raise PublishingError(
                "it holds a pickle, which runs code when it is read: allow that with allow_pickle, "
                "if nobody else can write to the folder"
            )
        return pickle.loads(arrays[PICKLE])  # type: ignore[arg-type]  # noqa: S301
    except StateError as error:
        raise PublishingError(str(error)) from error
    except (ImportError, AttributeError) as error:
        raise PublishingError(
            f"it needs code that is not found: {error}; name its folder in PYTHONPATH"
        ) from error
