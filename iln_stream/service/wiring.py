"""From settings to the objects they name. Only here and in the worker are they wired."""

import copy
import warnings
from collections.abc import Callable, Sequence
from importlib.metadata import entry_points
from typing import Any

from river import base

from iln_stream.errors import IlnWarning
from iln_stream.imports import imported
from iln_stream.learners import (
    InfiniteLayerRegressor,
    Pool,
    ScaledTarget,
    ShrinkingGradient,
    WinsorisedScaler,
)
from iln_stream.paper import ReferenceShrinkingGradient
from iln_stream.prequential import Classification, Listener, Regression, Task
from iln_stream.service.settings import Settings, SettingsError
from iln_stream.streams import Scheme, StreamOptions, stream_at

BOUNDED: dict[str, Any] = {"budget": 1000, "variance": 0.005, "max_draws": 5000}
"""What the service changes in Algorithm 1's defaults, so that memory and time stay bounded."""

LEARNERS = "iln_stream.learners"
LISTENERS = "iln_stream.listeners"
FEATURES = "iln_stream.features"
"""Entry points by which other packages add learners, listeners and feature families."""


_OF_LOGS = ("start", "stop_at_end", "partitions", "learner_per", "accept_loss")
"""Settings that have no effect on other sources."""


def shrinking_gradient(seed: int, **options: Any) -> ScaledTarget:
    """Return the paper's learner: Algorithm 1 behind online scaling of x and y."""
    return ScaledTarget(
        WinsorisedScaler() | ShrinkingGradient(**{**BOUNDED, "seed": seed, **options})
    )


def pool(seed: int, size: int = 512, **options: Any) -> ScaledTarget:
    """Return Algorithm 1 on a pool of features, behind online scaling of x and y.

    With a step that doesn't fall, it follows a stream that drifts.
    """
    return ScaledTarget(
        WinsorisedScaler()
        | ShrinkingGradient(estimator=Pool(size), **{"step": 0.6, "seed": seed, **options})
    )


def reference(seed: int, **options: Any) -> ScaledTarget:
    """Return the paper's algorithms as it writes them, behind online scaling: slow, to be read."""
    return ScaledTarget(
        WinsorisedScaler() | ReferenceShrinkingGradient(**{"seed": seed, **options})
    )


NAMED: dict[str, Callable[..., base.Regressor]] = {
    "infinite-layer": InfiniteLayerRegressor,
    "shrinking-gradient": shrinking_gradient,
    "pool": pool,
    "reference": reference,
}
"""The learners that a setting can name, beside those of entry points."""


def build_learner(settings: Settings, seed: int | None = None) -> base.Regressor:
    """Return a regressor of its own, as `learner` names it, with the settings' seed or another."""
    seed = settings.seed if seed is None else seed
    try:
        options = _with_features(settings.learner_options)
        if settings.learner in NAMED:
            return NAMED[settings.learner](**{"seed": seed, **options})
        return _found_learner(settings.learner, options)
    except (TypeError, ValueError) as error:
        raise SettingsError(f"learner, learner_options: {error}") from error


def _found_learner(path: str, options: dict[str, Any]) -> base.Regressor:
    found = named("learner", path, LEARNERS, NAMED)
    if not callable(found) and options:
        raise SettingsError(f"learner_options: {path} is made already and takes none")
    # A copy: two partitions must not train one object.
    model = found(**options) if callable(found) else copy.deepcopy(found)
    # River makes a pipeline an instance of its last step's class.
    if not isinstance(model, base.Regressor):
        raise SettingsError(f"learner = {path!r} is no River regressor: {type(model).__name__}")
    return model


def _with_features(options: dict[str, Any]) -> dict[str, Any]:
    """Return learner options in which a family of features that is named is made."""
    if not isinstance(path := options.get("features"), str):
        return options
    from iln_stream import features

    known = {name: getattr(features, name) for name in features.__all__ if name[:1].isupper()}
    found = known.get(path) or named("learner_options: features", path, FEATURES, known)
    return {**options, "features": found() if callable(found) else found}


def build_listeners(settings: Settings, own: Sequence[Listener] = ()) -> list[Listener]:
    """Return the user's listeners: those given, and those that `listeners` names."""
    paths = [path.strip() for path in (settings.listeners or "").split(",") if path.strip()]
    found = [named("listeners", path, LISTENERS, ()) for path in paths]
    return [*own, *(each() if callable(each) else each for each in found)]


def named(setting: str, name: str, group: str, known: Any) -> Any:
    """Return what an import path names, or an entry point of a group.

    Raises
    ------
    SettingsError
        When neither is found; it lists what there is.

    """
    for point in entry_points(group=group, name=name):
        return point.load()
    if ":" not in name:
        there = sorted({*known, *(point.name for point in entry_points(group=group))})
        raise SettingsError(
            f"{setting} = {name!r}: give {', '.join(there)}{' or ' if there else ''}"
            "package.module:attribute"
        )
    return imported(setting, name, SettingsError)


def task_of(learner: Any) -> Task:
    """Return what a learner is for."""
    # River makes a pipeline an instance of its last step's class, so this sees through one.
    return Classification() if isinstance(learner, base.Classifier) else Regression()


def source_stream(settings: Settings) -> Scheme:
    """Return the stream that is learned, not yet opened."""
    return stream_at(settings.source_address, stream_options(settings))


def output_stream(settings: Settings, address: str) -> Scheme:
    """Return the stream at an address that is written to, not yet opened."""
    return stream_at(address, stream_options(settings))


def stream_options(settings: Settings) -> StreamOptions:
    """Return what streams are told of the settings."""
    names = StreamOptions.__dataclass_fields__
    return StreamOptions(**{name: getattr(settings, name) for name in names})


def dead_letters_address(settings: Settings) -> str:
    """Return where dead letters go, set or not: nothing is ever dropped."""
    return settings.dead_letters or source_stream(settings).dead_letters()


def check(settings: Settings) -> None:
    """Refuse what can be refused before anything is opened.

    Raises
    ------
    IlnError
        Naming the setting.

    """
    source = source_stream(settings)
    if settings.source.startswith("kafka:") and "topic" in settings.model_fields_set:
        raise SettingsError(
            f"topic = {settings.topic!r}: source = {settings.source!r} names the topic; unset one"
        )
    check_addresses(settings)
    source.check()
    ignored = [name for name in _OF_LOGS if name in settings.model_fields_set]
    if ignored and not source.is_log:
        warnings.warn(
            f"{', '.join(ignored)}: ignored, as {source.address} is not a log such as kafka:TOPIC",
            IlnWarning,
            stacklevel=2,
        )
    build_learner(settings)
    if settings.transactional:
        out = settings.predictions and output_stream(settings, settings.predictions)
        if not (source.is_log and out and out.has_transactions):
            raise SettingsError(
                "transactional: needs a log as source, and predictions = kafka:TOPIC"
            )
    if settings.snapshots is not None and not source.is_log:
        raise SettingsError(
            f"snapshots: reading {source.address} can't go on from a place; unset it, or learn "
            "from a log such as kafka:TOPIC"
        )
    if source.needs_start and settings.snapshots is None and settings.start is None:
        raise SettingsError(
            f"start: say where in {source.address} to begin: earliest, latest or a time"
        )


def check_addresses(settings: Settings) -> None:
    """Refuse to read what is being written, or to write two kinds of messages to one place."""
    used = {source_stream(settings).place: "source"}
    outputs = {"predictions": settings.predictions, "dead_letters": dead_letters_address(settings)}
    for name, address in outputs.items():
        if address is None or address == "-":
            continue
        other = used.setdefault(output_stream(settings, address).place, name)
        if other != name:
            raise SettingsError(f"{name} = {address!r} is also the {other}: choose another place")
