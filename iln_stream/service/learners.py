"""The learners that settings name, users' own too: alone, by key, and as contenders."""

import copy
import hashlib
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from importlib.metadata import entry_points
from inspect import isabstract, signature
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from river import base

from iln_stream import features
from iln_stream.errors import SnapshotError, StateError, did_you_mean, imported
from iln_stream.features import check_features
from iln_stream.learners import (
    ChangeOfTarget,
    InfiniteLayerClassifier,
    InfiniteLayerRegressor,
    Pool,
    QuantileRegressor,
    RatioToLevel,
    ScaledTarget,
    ShrinkingGradient,
    WinsorisedScaler,
)
from iln_stream.learners.contest import Contest, ContestClassifier, ContestRegressor
from iln_stream.learners.contest.contender import OnFailure
from iln_stream.learners.contest.contest import MIXTURE
from iln_stream.learners.introspection import find_with
from iln_stream.learners.keyed import HasKeys, KeyedRegressor, KeyFile, StoredKeys
from iln_stream.loop import Classification, Details, Regression, Task
from iln_stream.records.decoding import error_details, reason
from iln_stream.records.series import Level
from iln_stream.service.settings import (
    ContestSettings,
    LearnerSettings,
    ModelSettings,
    RecordSettings,
    SeedSettings,
    Settings,
    unusual,
)
from iln_stream.settings import SettingsError

LEARNERS = "iln_stream.learners"
FEATURES = "iln_stream.features"
DECODERS = "iln_stream.decoders"
"""Groups of entry points by which other packages add learners, feature families and decoders."""


def load_plugin(setting: str, name: str, group: str, builtin: Collection[str] = ()) -> Any:
    """Return the object at an import path, or the entry point of this name in a group.

    Errors name the setting, and `builtin`, the names of the built-in choices.

    Raises
    ------
    SettingsError
        When neither is found; it says the similar name, or else lists those available.

    """
    if ":" not in name:
        for point in entry_points(group=group, name=name):
            return point.load()
        others = {point.name for point in entry_points(group=group)} - set(builtin)
        names = [*sorted(builtin), *sorted(others)]
        if meant := did_you_mean(name, names):
            raise SettingsError(f"{setting} = {name!r}: {meant.removeprefix('; ')}")
        raise SettingsError(
            f"{setting} = {name!r}: give {', '.join(names)}{' or ' if names else ''}"
            "package.module:attribute"
        )
    return imported(setting, name, SettingsError)


class Keys:
    """The keys of a reader's learner and inputs, in files beside its snapshots.

    A later run has a greater number `run`; `in_memory` keys are in memory, and `keep` snapshots are
    kept.
    """

    def __init__(self, folder: Path, run: int, in_memory: int, keep: int) -> None:
        self._folder = folder
        self._run = run
        self._in_memory, self._keep = in_memory, keep
        self._stored: list[StoredKeys] = []

    def give(self, owners: Mapping[str, HasKeys], *, restored: bool) -> None:
        """Let each owner keep its keys in the file of this name.

        `restored` says whether they are of a snapshot; otherwise no key has a state.

        Raises
        ------
        SnapshotError
            When a file can't be used.

        """
        for name, owner in owners.items():
            try:
                with ExitStack() as undo:
                    file = KeyFile(self._folder / name, self._run, must_exist=restored)
                    undo.callback(file.close)
                    state = owner.keys.state() if restored else None
                    stored = StoredKeys(file, owner.size, self._in_memory, self._keep, state)
                    undo.pop_all()
            except StateError as error:
                raise SnapshotError(f"snapshots: {error}") from error
            self._stored.append(stored)
            owner.keep_keys_in(stored)

    @property
    def capture(self) -> Callable[[], Callable[[], None]] | None:
        """Notes what changed, for a checkpoint; None: there are no keys."""
        return self._capture if self._stored else None

    def _capture(self) -> Callable[[], None]:
        written = [each.capture() for each in self._stored]

        def wait() -> None:
            for each in written:
                each()

        return wait

    def stored(self) -> None:
        """Note that a snapshot is stored."""
        for each in self._stored:
            each.stored()

    def close(self) -> None:
        """Close the files."""
        for each in self._stored:
            each.close()


OF_CONTEST = tuple(ContestSettings.model_fields)
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


def challengers_of(settings: ModelSettings) -> dict[str, Challenger]:
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


def main_contender(settings: LearnerSettings) -> str:
    """Return the name of the contender that `learner` describes: the last part of that setting.

    Examples
    --------
    >>> from iln_stream.service import Settings
    >>> from iln_stream.service.learners import main_contender
    >>> main_contender(Settings()), main_contender(Settings(learner="river.dummy:PriorClassifier"))
    ('infinite-layer', 'PriorClassifier')

    """
    return re.split(r"[:.]", settings.learner)[-1]


def contenders_of(settings: ModelSettings) -> list[str]:
    """Return the names of all contenders."""
    mixture = [MIXTURE] if settings.mixture else []
    return [main_contender(settings), *settings.challengers, *mixture]


def learner_of_challenger(settings: ModelSettings, each: Challenger) -> LearnerSettings:
    """Return the settings by which a challenger alone would be built."""
    own = {"learner": each.learner, "profile": None, "learner_options": each.learner_options}
    seed = settings.seed if each.seed is None else each.seed
    return LearnerSettings.of(settings, **own, seed=seed)


def seed_of_challenger(settings: SeedSettings, each: Challenger, seed: int) -> int:
    """Return the seed of a challenger, in a run whose learner has this seed.

    It is the challenger's own, if the learner has that of the settings; the learner of another
    partition has a seed of its own, and so has each of its challengers.

    Examples
    --------
    >>> from iln_stream.service import Settings
    >>> from iln_stream.service.learners import Challenger, seed_of_challenger
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
    settings: ModelSettings, learner: base.Regressor | base.Classifier, others: Mapping[str, Any]
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


def described_contest(settings: ModelSettings) -> dict[str, Any]:
    """Return the contest as a snapshot's configuration has it; empty without challengers."""
    if not settings.challengers:
        return {}
    found = {
        name: each.model_dump(exclude_defaults=True)
        for name, each in challengers_of(settings).items()
    }
    return {"challengers": found, **unusual(settings, OF_CONTEST[1:])}


def learners_of(learner: Any) -> list[Any]:
    """Return the learners of a contest, or the only one."""
    return list(learner.contenders.values()) if isinstance(learner, Contest) else [learner]


def champion_of(learner: Any) -> Any:
    """Return the learner that predicts: of a contest the champion; the contest if it mixes."""
    if not isinstance(learner, Contest):
        return learner
    champion = learner.champion_learner
    return learner if champion is None else champion


def check_contest(settings: ModelSettings) -> None:
    """Refuse settings of a contest without challengers, and a learner without a usable name."""
    if settings.challengers:
        if not _NAME.fullmatch(main_contender(settings)):
            raise SettingsError(
                f"learner = {settings.learner!r}: with challengers its last part is its name: use "
                "letters, digits, _, . and -, at most 40"
            )
        return
    for name in unusual(settings, OF_CONTEST[1:]):
        raise SettingsError(f"{name}: set challengers, too: there is only one learner")


BOUNDED: dict[str, Any] = {"budget": 1000, "step": 0.1, "variance": 0.005, "max_draws": 5000}
"""The service's defaults for Algorithm 1. They bound memory and time; and as the budget forgets old
points, the step does not decay: steps that do would stop learning what is forgotten."""


OF_SAMPLING = ("draws", "variance", "min_draws", "max_draws", "budget", "policy")
"""Options of `ShrinkingGradient` that a pool does not use."""


def shrinking_gradient(seed: int, **options: Any) -> ScaledTarget:
    """Return the paper's learner: Algorithm 1 behind online scaling of x and y."""
    defaults = dict(BOUNDED)
    if "horizon" in options:  # which determines the step
        del defaults["step"]
    return ScaledTarget(
        WinsorisedScaler() | ShrinkingGradient(**{**defaults, "seed": seed, **options})
    )


def pool(seed: int, size: int = 512, **options: Any) -> ScaledTarget:
    """Return Algorithm 1 on a pool of features, behind online scaling of x and y.

    Its step does not decay, so that it follows a drifting stream.
    """
    if unused := [name for name in OF_SAMPLING if name in options]:
        raise ValueError(
            f"{', '.join(unused)}: a pool draws nothing and keeps no events; remove it, or set "
            "learner = shrinking-gradient"
        )
    defaults = {} if "horizon" in options else {"step": 0.6}
    return ScaledTarget(
        WinsorisedScaler()
        | ShrinkingGradient(estimator=Pool(size), **{**defaults, "seed": seed, **options})
    )


Learner: TypeAlias = base.Regressor | base.Classifier

NAMED: dict[str, Callable[..., Learner]] = {
    "infinite-layer": InfiniteLayerRegressor,
    "infinite-layer-classifier": InfiniteLayerClassifier,
    "shrinking-gradient": shrinking_gradient,
    "pool": pool,
}
"""Built-in learners by name; entry points add others."""


def build_learner(settings: ModelSettings, seed: int | None = None) -> Any:
    """Return a new learner as `learner` names it, seeded by `seed` or else by the settings.

    With challengers, it is the contest of all.
    """
    seed = settings.seed if seed is None else seed
    check_contest(settings)
    learner = _build(settings, settings, seed)
    if not settings.challengers:
        return learner
    others = {name: build_challenger(settings, name, seed) for name in challengers_of(settings)}
    return contest_of(settings, learner, others)


def build_challenger(settings: ModelSettings, name: str, seed: int) -> Learner:
    """Return a new challenger of a learner that has this seed."""
    found = challengers_of(settings)[name]
    own = learner_of_challenger(settings, found)
    try:
        return _build(own, settings, seed_of_challenger(settings, found, seed))
    except SettingsError as error:
        raise SettingsError(f"challengers: {name}: {error}") from error


def _build(settings: LearnerSettings, records: RecordSettings, seed: int) -> Learner:
    learner = _named(settings, seed)
    if records.learner_inputs == "record" and type(learner).__module__.startswith("iln_stream."):
        raise SettingsError(
            f"learner_inputs = record: {settings.learner} takes numbers by name, and no texts: "
            "unset it; of a text, types = {FIELD = text} gives its words"
        )
    if records.by_key is not None:
        if isinstance(learner, base.Classifier):
            raise SettingsError(
                "by_key: there is a model for each key only for numbers, and "
                f"{settings.learner} learns classes: leave by_key unset (the key is then a "
                "category among the inputs), or learn a number, such as 0 or 1"
            )
        learner = KeyedRegressor(records.by_key, learner)
    if settings.prediction_quantiles:
        if task_of(learner).name != "regression":
            raise SettingsError(
                f"prediction_quantiles: {settings.learner} learns classes, which have no "
                "quantiles; unset it"
            )
        learner = QuantileRegressor(learner, settings.prediction_quantiles)
    if records.forecast == "change":
        if not records.horizon or records.target is None:
            raise SettingsError(
                "forecast: only a forecast learns a change: set horizon and target, or unset it"
            )
        if task_of(learner).name != "regression":
            raise SettingsError(
                f"forecast: {settings.learner} learns classes, which have no change; unset it"
            )
        learner = ChangeOfTarget(learner, records.target)
    is_forecast = records.horizon and records.target is not None
    if records.series and is_forecast and task_of(learner).name == "regression":
        assert records.target is not None
        learner = RatioToLevel(learner, records.target, Level(records.target).name)
    return learner


def options_of(settings: LearnerSettings) -> dict[str, Any]:
    """Return the options of the learner, with its profile.

    Raises
    ------
    SettingsError
        When the learner has no profiles, or its options name another one.

    """
    options, profile = settings.learner_options, settings.profile
    if profile is None:
        return options
    if settings.learner not in ("infinite-layer", "infinite-layer-classifier"):
        raise SettingsError(
            f"profile = {profile!r}: only infinite-layer and infinite-layer-classifier have "
            f"profiles, and learner = {settings.learner!r}: unset profile, or set one of these"
        )
    if (other := options.get("profile", profile)) != profile:
        raise SettingsError(
            f"profile = {profile!r}: learner_options has profile = {other!r}: give one of them"
        )
    return {**options, "profile": profile}


def _named(settings: LearnerSettings, seed: int) -> Learner:
    try:
        options = _with_features(options_of(settings))
        if settings.learner in NAMED:
            return NAMED[settings.learner](**{"seed": seed, **options})
        return _load_learner(settings.learner, options)
    except (TypeError, ValueError) as error:
        advice = _options(settings.learner, error)
        why = re.sub(r"\S+\(\) got an unexpected keyword argument", "unknown option", str(error))
        raise SettingsError(f"learner, learner_options: {why}{advice}") from error


def _options(learner: str, error: Exception) -> str:
    """Return which options a built-in learner takes, if the error is that one is unknown."""
    found = re.search(r"unexpected keyword argument '(\w+)'", str(error))
    if found is None or learner not in NAMED:
        return ""
    makes_one = NAMED[learner] in (shrinking_gradient, pool)  # whose options they take
    names = [*signature(ShrinkingGradient if makes_one else NAMED[learner]).parameters]
    if learner == "pool":
        names = ["size", *(name for name in names if name not in (*OF_SAMPLING, "estimator"))]
    return f"; {learner} has the options {', '.join(names)}{did_you_mean(found[1], names)}"


class PredictOnly:
    """Wraps a learner for the loop, and ignores `learn_one`."""

    def __init__(self, learner: Any) -> None:
        self.learner = learner

    def predict_one(self, x: Mapping[Any, float]) -> Any:
        """Return the learner's prediction."""
        return self.learner.predict_one(x)

    def predict_proba_one(self, x: Mapping[Any, float]) -> Any:
        """Return the learner's probabilities."""
        return self.learner.predict_proba_one(x)

    def learn_one(self, x: Mapping[Any, float], y: Any, w: float = 1.0) -> None:
        """Learn nothing."""

    def promote(self, name: str) -> None:
        """Promote nobody."""


def task_of(learner: Any) -> Task:
    """Return the task of a learner: classification or regression."""
    model = learner.learner if isinstance(learner, PredictOnly) else learner
    # River makes a pipeline an instance of its last step's class, so this works for pipelines.
    if not isinstance(model, base.Classifier):
        return Regression()
    return Classification(only_booleans=not model._multiclass)


def _load_learner(path: str, options: dict[str, Any]) -> Learner:
    found = load_plugin("learner", path, LEARNERS, NAMED)
    if not callable(found) and options:
        raise SettingsError(
            f"learner_options: {path} is an object, which takes none; name a class or a function"
        )
    # Copy the object: two partitions must not train the same one.
    model = found(**options) if callable(found) else copy.deepcopy(found)
    if not isinstance(model, base.Regressor | base.Classifier):
        raise SettingsError(
            f"learner = {path!r} is neither a River regressor nor a River classifier: "
            f"{type(model).__name__}"
        )
    return model


def _with_features(options: dict[str, Any]) -> dict[str, Any]:
    """Return learner options with a feature family in place of its name."""
    if not isinstance(path := options.get("features"), str):
        return options
    if path in (known := _families()):
        return {**options, "features": known[path]()}
    found = load_plugin("learner_options: features", path, FEATURES, known)
    family = found() if callable(found) else found
    check_features(family)
    return {**options, "features": family}


def _families() -> dict[str, Callable[[], features.Features[Any]]]:
    found = {name: getattr(features, name) for name in features.__all__}
    return {
        name: each
        for name, each in found.items()
        if isinstance(each, type) and hasattr(each, "psi") and _needs_nothing(each)
    }


def _needs_nothing(family: type) -> bool:
    required = (each.default is each.empty for each in signature(family).parameters.values())
    return (
        not isabstract(family) and not getattr(family, "_is_protocol", False) and not any(required)
    )


DetailsOf = Callable[[dict[str, float]], Details]


def build_details(
    learner: Any, levels: Sequence[float], n_largest: int = 0, *, challengers: bool = False
) -> DetailsOf | None:
    """Return a function of an event's inputs: intervals of these levels, largest contributions.

    Quantiles are those of the learner. None: it has none, and nothing is asked for.

    Of a contest, the details are the champion's, as far as it has any, and its name; with
    `challengers`, also what these predict.

    Raises
    ------
    SettingsError
        When the learner has no intervals, or explains nothing; of a contest, all of its learners.
        When there are no challengers.

    """
    model = learner.learner if isinstance(learner, PredictOnly) else learner
    _check(levels, n_largest, learners_of(model))
    if isinstance(model, Contest):
        return _OfContest(model, levels, n_largest, challengers)
    if challengers:
        raise SettingsError("prediction_challengers: there are none: set challengers, or unset it")
    if not (levels or n_largest or quantile_levels(model)):
        return None
    return _details_of(model, levels, n_largest, None)


def contender_names(learner: Any) -> list[str]:
    """Return the names that predictions may carry; none without challengers."""
    model = learner.learner if isinstance(learner, PredictOnly) else learner
    return [*model.contenders, MIXTURE] if isinstance(model, Contest) else []


def quantile_levels(learner: Any) -> tuple[float, ...]:
    """Return the levels of a learner's quantiles, or of its contenders'; none if it has none."""
    model = learner.learner if isinstance(learner, PredictOnly) else learner
    found = (find_with("levels", each) for each in learners_of(model))
    return next((each.levels for each in found if isinstance(each, QuantileRegressor)), ())


class _OfContest:
    """Details of the champion's predictions, and those of challengers."""

    def __init__(
        self, contest: Contest[Any], levels: Sequence[float], n_largest: int, challengers: bool
    ) -> None:
        self._contest = contest
        self._wanted = levels, n_largest
        self._challengers = challengers
        self._name = ""
        self._learner: Any = None
        self._of: DetailsOf = lambda _: Details()

    def __call__(self, x: dict[str, float]) -> Details:
        """Return the details of an event that was just predicted."""
        champion = self._contest.champion_learner
        if champion is not self._learner or not self._name:
            self._learner, self._name = champion, self._contest.champion
            self._of = _details_of(champion, *self._wanted, self._name)
        found = self._of(x)
        if not self._challengers:
            return found
        return found._replace(challengers=self._contest.predict_challengers(x))


def _details_of(
    learner: Any, levels: Sequence[float], n_largest: int, contender: str | None
) -> DetailsOf:
    """Return a function of an event's inputs; what a learner does not offer is left out."""
    interval: Any = getattr(learner, "predict_interval", None)
    explain: Any = getattr(learner, "explain_one", None)
    quantiles_of: Any = learner.predict_quantiles_one if quantile_levels(learner) else None
    wanted = levels if interval is not None else ()
    explained = bool(n_largest) and explain is not None
    nothing = Details((), None, contender)
    if not (wanted or explained or quantiles_of):
        return lambda _: nothing

    def details(x: dict[str, float]) -> Details:
        intervals = tuple(interval(x, level) for level in wanted)
        quantiles = () if quantiles_of is None else tuple(quantiles_of(x).values())
        if not explained:
            return Details(intervals, None, contender, quantiles)
        found = explain(x)
        largest = found.baseline, found.largest(n_largest)
        return Details(intervals, largest, contender, quantiles)

    return details


def _check(levels: Sequence[float], n_largest: int, learners: Sequence[Any]) -> None:
    names = ", ".join(type(each).__name__ for each in learners)
    if levels and not any(hasattr(each, "predict_interval") for each in learners):
        raise SettingsError(
            f"prediction_intervals: {names} has no intervals (no method "
            "predict_interval): unset it, or set learner = infinite-layer"
        )
    if n_largest and not any(hasattr(each, "explain_one") for each in learners):
        raise SettingsError(
            f"prediction_contributions: {names} explains no prediction (no method "
            "explain_one): unset it, or set learner = infinite-layer or infinite-layer-classifier"
        )
