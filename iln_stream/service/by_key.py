"""A model for each key, as the settings describe it."""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from river import base

from iln_stream.errors import SnapshotError, StateError
from iln_stream.keyed import KEYS_FILE, KeyedRegressor, KeyFile, StoredKeys
from iln_stream.mapping import FieldMapping
from iln_stream.service.settings import Settings, SettingsError

RECORDS_KEY = "@key"
"""Value of `by_key` that means the key of the record itself."""

_ROLES = ("target", "id_field", "time_field", "weight_field")


def with_keys(settings: Settings, learner: Any) -> Any:
    """Return the learner; with `by_key`, a model for each key on top of it.

    Raises
    ------
    SettingsError
        When the learner learns classes.

    """
    if settings.by_key is None:
        return learner
    if isinstance(learner, base.Classifier):
        raise SettingsError(
            "by_key: there is a model for each key only for numbers, and "
            f"{settings.learner} learns classes: leave by_key unset (the key is then a category "
            "among the inputs), or learn a number, such as 0 or 1"
        )
    return KeyedRegressor(settings.by_key, learner)


def check_keys(settings: Settings) -> None:
    """Refuse settings that don't fit `by_key`.

    Raises
    ------
    SettingsError
        Names the setting.

    """
    if settings.by_key is None:
        if "keys_in_memory" in settings.model_fields_set:
            raise SettingsError("keys_in_memory: set by_key, too: the field that is the key")
        return
    for name in _ROLES:
        if getattr(settings, name) == settings.by_key:
            raise SettingsError(
                f"by_key = {settings.by_key!r}: {name} names this field, so it is no input; name "
                "another field"
            )
    is_input = FieldMapping(features=settings.features, ignore=settings.ignore).is_feature
    if settings.by_key != RECORDS_KEY and not is_input(settings.by_key):
        raise SettingsError(
            f"by_key = {settings.by_key!r}: features or ignore leaves this field out, so no record "
            "would have a key; name it in features, and not in ignore"
        )
    if settings.challengers or settings.mixture:
        raise SettingsError(
            "by_key: challengers can't have a model for each key yet: unset challengers and mixture"
        )
    if settings.publish is not None:
        raise SettingsError(
            "publish: a published version can't hold the models of all keys yet: unset publish, or "
            "by_key"
        )
    if settings.snapshots is None and "keys_in_memory" in settings.model_fields_set:
        raise SettingsError(
            "keys_in_memory: without snapshots there is no file for other keys: set snapshots"
        )


def key_name(settings: Settings) -> str | None:
    """Return the name of the input that a record's key becomes; None: it is no input."""
    return RECORDS_KEY if settings.by_key == RECORDS_KEY else None


class Keys:
    """The keys of a reader's learner, in a file beside its snapshots.

    Parameters
    ----------
    settings
        Settings of the run.
    folder
        The folder of its snapshots.
    run
        Number of the run; that of a later one is greater.

    """

    def __init__(self, settings: Settings, folder: Path, run: int) -> None:
        self._settings = settings
        self._path = folder / KEYS_FILE
        self._run = run
        self._stored: StoredKeys | None = None

    def give(self, learner: Any, *, restored: bool) -> None:
        """Let the learner keep its keys in the file.

        `restored` says whether it is of a snapshot; otherwise no key has a state.

        Raises
        ------
        SnapshotError
            When the file can't be used.

        """
        if not isinstance(learner, KeyedRegressor):
            return
        settings = self._settings
        try:
            with ExitStack() as undo:
                file = KeyFile(self._path, self._run, must_exist=restored)
                undo.callback(file.close)
                self._stored = StoredKeys(
                    file, learner.slopes, settings.keys_in_memory, settings.snapshot_keep,
                    learner.keys.state() if restored else None,
                )  # fmt: skip
                undo.pop_all()
        except StateError as error:
            raise SnapshotError(f"snapshots: {error}") from error
        learner.keep_keys_in(self._stored)

    @property
    def capture(self) -> Callable[[], Callable[[], None]] | None:
        """Copies what changed, for a checkpoint; None: there are no keys."""
        return None if self._stored is None else self._stored.capture

    def stored(self) -> None:
        """Note that a snapshot is stored."""
        if self._stored is not None:
            self._stored.stored()

    def close(self) -> None:
        """Close the file."""
        if self._stored is not None:
            self._stored.close()
