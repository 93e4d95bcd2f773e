"""Challengers that come and go between two runs."""

import logging
from collections.abc import Mapping
from typing import Any, NamedTuple

from iln_stream.contest import Contest
from iln_stream.errors import RefusedError
from iln_stream.service.challengers import (
    OF_CONTEST,
    contest_of,
    described_contest,
    main_contender,
)
from iln_stream.service.settings import Settings

log = logging.getLogger(__name__)

CHALLENGERS = "challengers"


class Changes(NamedTuple):
    """Names of challengers that the settings have and the snapshot has not, and the other way."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


def changes(saved: Mapping[str, Any], settings: Settings) -> Changes:
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


def with_removed(learner: Any, settings: Settings, removed: tuple[str, ...], here: str) -> Any:
    """Return a snapshot's learner without the challengers that were removed; a contest if need be.

    Parameters
    ----------
    learner
        As the snapshot has it.
    settings
        Settings of the run.
    removed
        Names of these challengers.
    here
        Names the snapshots, for errors.

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
        learner.promotion_error = settings.promotion_error
    return learner
