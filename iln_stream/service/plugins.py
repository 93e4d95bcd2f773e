"""Loads users' learners, listeners, features and decoders by import path or entry point."""

from collections.abc import Collection, Sequence
from importlib.metadata import entry_points
from typing import Any

from iln_stream.errors import imported
from iln_stream.loop import Listener
from iln_stream.service.settings import Settings
from iln_stream.settings import SettingsError

LEARNERS = "iln_stream.learners"
LISTENERS = "iln_stream.listeners"
FEATURES = "iln_stream.features"
DECODERS = "iln_stream.decoders"
"""Groups of entry points by which other packages add learners, listeners, feature families and
decoders."""


def build_listeners(settings: Settings, given: Sequence[Listener] = ()) -> list[Listener]:
    """Return the user's listeners: `given`, then those that `listeners` names."""
    paths = [path.strip() for path in (settings.listeners or "").split(",") if path.strip()]
    found = [load_plugin("listeners", path, LISTENERS) for path in paths]
    named = [each() if callable(each) else each for each in found]
    for path, listener in zip(paths, named, strict=True):
        if not isinstance(listener, Listener):
            raise SettingsError(f"listeners: {path} is no Listener, but {type(listener).__name__}")
    return [*given, *named]


def load_plugin(setting: str, name: str, group: str, builtin: Collection[str] = ()) -> Any:
    """Return the object at an import path, or the entry point of this name in a group.

    Parameters
    ----------
    setting
        Setting that holds the name, for the error.
    name
        Entry point, or `package.module:attribute`.
    group
        Group of entry points.
    builtin
        Names of the built-in choices, for the error.

    Raises
    ------
    SettingsError
        When neither is found; it lists the available names.

    """
    for point in entry_points(group=group, name=name):
        return point.load()
    if ":" not in name:
        others = {point.name for point in entry_points(group=group)} - set(builtin)
        names = [*sorted(builtin), *sorted(others)]
        raise SettingsError(
            f"{setting} = {name!r}: give {', '.join(names)}{' or ' if names else ''}"
            "package.module:attribute"
        )
    return imported(setting, name, SettingsError)
