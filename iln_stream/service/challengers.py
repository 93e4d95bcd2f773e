"""The contenders that the settings describe: the learner, and its challengers."""

import hashlib
import re
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from river import base

from iln_stream.contest import Contest, ContestClassifier, ContestRegressor
from iln_stream.contest.contender import OnFailure
from iln_stream.contest.roster import MIXTURE
from iln_stream.events import error_details, reason
from iln_stream.service.settings import Settings, SettingsError

OF_CONTEST = ("challengers", "promotion", "promotion_error", "mixture")
"""The settings of a contest."""

_NAME = re.compile(r"[\w][\w.-]{0,39}")


class Challenger(BaseModel):
    """How a challenger is built, and what happens when it fails.

    Parameters
    ----------
    learner, learner_options, seed
        As the settings of these names; the seed is that of the run by default.
    on_failure
        As of `ContestRegressor`.

    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    learner: str = Field(min_length=1)
    learner_options: dict[str, Any] = Field(default_factory=dict)
    seed: int | None = Field(default=None, ge=0)
    on_failure: OnFailure = "skip"


def challengers_of(settings: Settings) -> dict[str, Challenger]:
    """Return the challengers by name.

    Raises
    ------
    SettingsError
        When a name or a field is not valid; it names the field.

    """
    found = {}
    own = main_contender(settings)
    for name, fields in settings.challengers.items():
        if not _NAME.fullmatch(name):
            raise SettingsError(
                f"challengers: {name!r} is no name: use at most 40 letters, digits, _, . and -, "
                "with a letter or digit first"
            )
        if name in (own, MIXTURE):
            taken = "learner" if name == own else "mixture"
            raise SettingsError(
                f"challengers: {name!r} is the name of the {taken}: choose another name"
            )
        try:
            found[name] = Challenger.model_validate(fields)
        except ValidationError as error:
            told = reason(error_details(error, name), name)
            misplaced = [each for each in _keys(name, fields) if each in Settings.model_fields]
            if misplaced:
                told += (
                    f"; {misplaced[0]} is a setting of the run: in a TOML file, write it above the "
                    "first table, such as [challengers.NAME]"
                )
            raise SettingsError(f"challengers: {name}: {told}") from None
    return found


def _keys(name: str, fields: Any) -> list[str]:
    """Return the names that do not belong to a challenger; its own if it is none."""
    if not isinstance(fields, Mapping):
        return [name]
    return [each for each in fields if each not in Challenger.model_fields]


def main_contender(settings: Settings) -> str:
    """Return the name of the contender that `learner` describes: the last part of that setting.

    Examples
    --------
    >>> from iln_stream.service import Settings
    >>> from iln_stream.service.challengers import main_contender
    >>> main_contender(Settings()), main_contender(Settings(learner="river.dummy:PriorClassifier"))
    ('infinite-layer', 'PriorClassifier')

    """
    return re.split(r"[:.]", settings.learner)[-1]


def contenders_of(settings: Settings) -> list[str]:
    """Return the names of all contenders."""
    mixture = [MIXTURE] if settings.mixture else []
    return [main_contender(settings), *settings.challengers, *mixture]


def settings_of_challenger(settings: Settings, each: Challenger) -> Settings:
    """Return the settings by which a challenger alone would be built."""
    own = {"learner": each.learner, "learner_options": each.learner_options}
    seed = settings.seed if each.seed is None else each.seed
    return settings.model_copy(update=own | {"seed": seed} | _alone())


def settings_alone(settings: Settings) -> Settings:
    """Return the settings without challengers."""
    return settings.model_copy(update=_alone())


def seed_of_challenger(settings: Settings, each: Challenger, seed: int) -> int:
    """Return the seed of a challenger, in a run whose learner has this seed.

    It is the challenger's own, if the learner has that of the settings; the learner of another
    partition has a seed of its own, and so has each of its challengers.

    Examples
    --------
    >>> from iln_stream.service import Settings
    >>> from iln_stream.service.challengers import Challenger, seed_of_challenger
    >>> other = Challenger(learner="pool", seed=9)
    >>> seed_of_challenger(Settings(seed=1), other, 1)
    9
    >>> seed_of_challenger(Settings(seed=1), other, 2) in (1, 2, 9)
    False

    """
    if each.seed is None or each.seed == settings.seed:
        return seed
    if seed == settings.seed:
        return each.seed
    digest = hashlib.sha256(f"iln_stream seed {each.seed} challenges {seed}".encode()).digest()
    return int.from_bytes(digest[:8], "big")


def contest_of(
    settings: Settings, learner: base.Regressor | base.Classifier, others: Mapping[str, Any]
) -> Contest[Any]:
    """Return the contest of a learner with others, as the settings describe it.

    Raises
    ------
    SettingsError
        When one learns classes and another one numbers.

    """
    policies = {name: each.on_failure for name, each in challengers_of(settings).items()}
    is_classifier = isinstance(learner, base.Classifier)
    for name, other in others.items():
        check_task(name, other, is_classifier)
    contest: Callable[..., Contest[Any]]
    contest = ContestClassifier if is_classifier else ContestRegressor
    return contest(
        {main_contender(settings): learner, **others},
        promotion=settings.promotion,
        promotion_error=settings.promotion_error,
        mixture=settings.mixture,
        on_failure={name: policies[name] for name in others},
        window=settings.window,
    )


def check_task(name: str, challenger: Any, is_classifier: bool) -> None:
    """Refuse a challenger that learns classes where numbers are learned, or the other way round."""
    if isinstance(challenger, base.Classifier) != is_classifier:
        ours, other = ("classes", "numbers") if is_classifier else ("numbers", "classes")
        raise SettingsError(
            f"challengers: {name} ({type(challenger).__name__}) learns {other}, and the learner "
            f"learns {ours}: choose another learner for it"
        )


def described_contest(settings: Settings) -> dict[str, Any]:
    """Return the contest as a snapshot's configuration has it; empty without challengers."""
    if not settings.challengers:
        return {}
    found = {
        name: each.model_dump(exclude_defaults=True)
        for name, each in challengers_of(settings).items()
    }
    others = {name: getattr(settings, name) for name in OF_CONTEST[1:]}
    unusual = {name: value for name, value in others.items() if value != default_of(name)}
    return {"challengers": found, **unusual}


def learners_of(learner: Any) -> list[Any]:
    """Return the learners of a contest, or the only one."""
    return list(learner.contenders.values()) if isinstance(learner, Contest) else [learner]


def champion_of(learner: Any) -> Any:
    """Return the learner that predicts: of a contest the champion; the contest if it mixes."""
    if not isinstance(learner, Contest):
        return learner
    champion = learner.champion_learner
    return learner if champion is None else champion


def check_contest(settings: Settings) -> None:
    """Refuse settings of a contest without challengers, and a learner without a usable name."""
    if settings.challengers:
        if not _NAME.fullmatch(main_contender(settings)):
            raise SettingsError(
                f"learner = {settings.learner!r}: with challengers its last part is its name: use "
                "letters, digits, _, . and -, at most 40"
            )
        return
    for name in OF_CONTEST[1:]:
        if name in settings.model_fields_set and getattr(settings, name) != default_of(name):
            raise SettingsError(f"{name}: set challengers, too: there is only one learner")


def default_of(name: str) -> Any:
    """Return the default of a setting."""
    return Settings.model_fields[name].get_default(call_default_factory=True)


def _alone() -> dict[str, Any]:
    return {name: default_of(name) for name in OF_CONTEST}
