"""A learner as a state: ours have one; others can be pickled, if allowed."""

import pickle
from functools import partial
from typing import Any

import numpy as np

from iln_stream.errors import NotFiniteError, SnapshotError, StateError
from iln_stream.learners import (
    broken_numbers,
    model_of,
    some_of,
    state_of,
    unserializable_parameters,
)
from iln_stream.learners.contest import Contest, contest_in
from iln_stream.state import StateDict

PICKLE = "pickle"


def learner_state(learner: Any, allow_pickle: bool) -> StateDict:
    """Return a learner's state, which shares no memory with the learner.

    Parameters
    ----------
    learner
        One of ours, or a River pipeline of ours; with `allow_pickle`, any. Contenders of a contest
        are saved one by one, each as it would be alone.
    allow_pickle
        Whether a learner without a state may be pickled.

    Raises
    ------
    SnapshotError
        When the learner has no state and may not be pickled.
    NotFiniteError
        When one of our learners has a state that is not finite.

    """
    if isinstance(learner, Contest):
        return learner.state(partial(learner_state, allow_pickle=allow_pickle))
    try:
        state = state_of(learner)
        if broken := broken_numbers(state):
            raise NotFiniteError(
                f"snapshots: the learner's state is not finite: {some_of(broken)}; the snapshots "
                "before are intact, and `iln-stream run` resumes from the newest of them"
            )
        for parameter, name in unserializable_parameters(state):
            raise StateError(
                f"{parameter} is a {name}, which a state does not describe, so it could not be "
                "restored: make that class a dataclass, with @restorable (iln_stream.learners)"
            )
        return state
    except StateError as error:
        if not allow_pickle:
            raise SnapshotError(
                f"snapshots: {error}; or set snapshot_pickle to save it as a pickle, which runs "
                "code when it is read: do so only if nobody else can write to the folder"
            ) from error
    return {PICKLE: np.frombuffer(pickle.dumps(learner), np.uint8)}


def learner_of(state: StateDict, allow_pickle: bool) -> Any:
    """Return the learner that has this state.

    Raises
    ------
    SnapshotError
        When the state is a pickle and may not be read, or when the learner can't be restored.

    """
    try:
        if (contest := contest_in(state)) is not None:
            return contest.from_state(state, partial(learner_of, allow_pickle=allow_pickle))
        if PICKLE not in state:
            return model_of(state)
        if not allow_pickle:
            raise SnapshotError(
                "the snapshot holds a pickle, which runs code when it is read: allow that with "
                "snapshot_pickle (in Python allow_pickle=True), if nobody else could write to the "
                "folder"
            )
        return _unpickled(state[PICKLE].tobytes())
    except StateError as error:
        raise SnapshotError(
            f"{error}; or learn again from the log with `iln-stream rebuild`"
        ) from error


def is_pickle(state: StateDict | None) -> bool:
    """Return whether a learner was saved as a pickle, which needs the learner's code."""
    return state is not None and PICKLE in state


def _unpickled(data: bytes) -> Any:
    try:
        return pickle.loads(data)  # noqa: S301
    except (ImportError, AttributeError) as error:
        raise SnapshotError(
            f"the snapshot's pickle needs code that is not found: {error}; name its folder in "
            "PYTHONPATH, or, if it is a challenger's, remove the challenger from the settings"
        ) from error
