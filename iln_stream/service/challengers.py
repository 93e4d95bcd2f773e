"""Challengers that come and go between two runs."""

import logging
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any, NamedTuple

from iln_stream.errors import RefusedError
from iln_stream.learners import InfiniteLayerClassifier, InfiniteLayerRegressor, state_of
from iln_stream.learners.contest import Contest, ContestClassifier
from iln_stream.learners.contest.contest import contest_in
from iln_stream.records.values import NULLS_OF_0_2
from iln_stream.service.decoding import FIELDS, NOTATION, READING
from iln_stream.service.learners import (
    OF_CONTEST,
    Challenger,
    contest_of,
    described_contest,
    main_contender,
)
from iln_stream.service.settings import ModelSettings, default_of
from iln_stream.snapshots import is_pickle
from iln_stream.state import StateDict

log = logging.getLogger(__name__)

CHALLENGERS = "challengers"
FIELDS_OF_RECORDS = "fields"
"""Entry of a configuration with the settings that say which field is what."""

_FIELDS = Challenger.model_fields


class Changes(NamedTuple):
    """Names of challengers that the settings have and the snapshot has not, and the other way."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


def changes(saved: Mapping[str, Any], settings: ModelSettings) -> Changes:
    """Return how the challengers differ from those of a snapshot's configuration."""
    before, now = saved.get(CHALLENGERS, {}), described_contest(settings).get(CHALLENGERS, {})
    return Changes(
        tuple(name for name in now if name not in before),
        tuple(name for name in before if name not in now),
    )


def not_compared(
    saved: Mapping[str, Any], ours: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return two configurations without what may differ between them.

    Challengers may come and go, but not change. The other settings of a contest may be any where
    there was none before.
    """
    before, now = saved.get(CHALLENGERS), ours.get(CHALLENGERS)
    may_differ = {CHALLENGERS} if before is None or now is None else set()
    if before is None:
        may_differ = {*OF_CONTEST}
    elif now is None:
        may_differ = {*OF_CONTEST} - {"mixture"}
    first, second = (
        {name: value for name, value in each.items() if name not in may_differ}
        for each in (saved, ours)
    )
    if before is not None and now is not None:
        common = before.keys() & now.keys()
        first[CHALLENGERS] = {name: before[name] for name in sorted(common)}
        second[CHALLENGERS] = {name: now[name] for name in sorted(common)}
    return first, second


def described_change(saved: Mapping[str, Any], ours: Mapping[str, Any], name: str) -> str:
    """Return how an entry of a configuration has changed; of challengers, what can be done."""
    before, now = saved.get(name), ours.get(name)
    if name in OF_CONTEST[1:]:
        before, now = (default_of(name) if each is None else each for each in (before, now))
    if name == FIELDS_OF_RECORDS:
        told = _differences(name, _with_defaults(before), _with_defaults(now))
        return "; ".join(told) or "settings of fields were not given, or are not any more"
    if name != CHALLENGERS or before is None or now is None:
        return "; ".join(_differences(name, before, now))
    return "; ".join(_described(each, before, now) for each in now if now[each] != before[each])


def _differences(name: str, before: Any, now: Any) -> Iterator[str]:
    """Yield how a value has changed; of dicts, only the entries that differ."""
    if not (isinstance(before, Mapping) and isinstance(now, Mapping)):
        yield f"{name} was {before!r} and is {now!r}"
        return
    for each in {**before, **now}:
        if (was := before.get(each)) != (is_now := now.get(each)):
            path = each if name == FIELDS_OF_RECORDS else f"{name}.{each}"
            yield from _differences(path, was, is_now)


def _with_defaults(fields: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the entry of the fields with all settings; None: records were events."""
    names = (*FIELDS, *NOTATION, *READING, "learner_inputs")
    usual = {name: default_of(name) for name in names}
    usual["null_values"] = NULLS_OF_0_2  # as `described` writes the default
    usual = {k: list(v) if isinstance(v, tuple) else v for k, v in usual.items()}
    return {**usual, **(fields or {})}


def _described(name: str, before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    old, new = before[name], now[name]
    fields = [each for each in {**old, **new} if old.get(each) != new.get(each)]
    default = {
        each: field.get_default(call_default_factory=True) for each, field in _FIELDS.items()
    }
    told = (
        f"{each} was {old.get(each, default[each])!r} and is {new.get(each, default[each])!r}"
        for each in fields
    )
    numbers = count(2)
    free = next(each for n in numbers if (each := f"{name}-{n}") not in {**before, **now})
    return (
        f"of challenger {name} {', '.join(told)} (give the changed one another name, such as "
        f"{free}: it then learns the log's history)"
    )


def without_code(state: StateDict, removed: tuple[str, ...]) -> StateDict:
    """Return a saved contest in which challengers that were removed need no code of theirs.

    In place of their pickles it has a learner of ours, which has learned nothing, and which
    `with_removed` drops.
    """
    contest = contest_in(state)
    if contest is None or not removed:
        return state
    is_classifier = issubclass(contest, ContestClassifier)
    other = state_of(InfiniteLayerClassifier() if is_classifier else InfiniteLayerRegressor("fast"))
    return {
        **state,
        "contenders": [
            {**each, "learner": other}
            if each["name"] in removed and is_pickle(each["learner"])
            else each
            for each in state["contenders"]
        ],
    }


def with_removed(learner: Any, settings: ModelSettings, removed: tuple[str, ...], here: str) -> Any:
    """Return a snapshot's learner without the challengers that were removed; a contest if need be.

    The learner is as the snapshot has it; `here` names the snapshots, for errors.

    Raises
    ------
    RefusedError
        When the champion was removed, or a mixture can't begin.

    """
    if not isinstance(learner, Contest):
        return contest_of(settings, learner, {}) if settings.challengers else learner
    if learner.champion in removed:
        raise RefusedError(
            f"{here}: {learner.champion} is the champion, and challengers has it no longer: keep "
            f"it there until another contender is promoted (`iln-stream promote "
            f"{main_contender(settings)}`)"
        )
    if settings.challengers and settings.mixture != learner.mixture:
        raise RefusedError(
            f"{here}: mixture was {learner.mixture} and is {settings.mixture}: restore it, or "
            "learn the log again with `iln-stream rebuild`"
        )
    for name in removed:
        learner.remove(name)
        log.info(f"{name} is no challenger any longer, and what it learned is dropped")
    if settings.challengers:
        learner.promotion = settings.promotion
    return learner
