"""Settings of another stream, as far as they differ from those of the source."""

from collections.abc import Collection, Sequence

from iln_stream.service.settings import Settings, SettingsError


def with_others(
    settings: Settings, name: str, allowed: Sequence[str], may_be_absent: Collection[str]
) -> Settings:
    """Return the settings with those of another stream in their place.

    Parameters
    ----------
    settings
        Settings of the run.
    name
        The setting that has those of the other stream, by their names.
    allowed
        Settings that may differ.
    may_be_absent
        Those that empty text makes None.

    Raises
    ------
    SettingsError
        When one is invalid or not allowed.

    """
    given = getattr(settings, name)
    if strangers := sorted(given.keys() - set(allowed)):
        raise SettingsError(f"{name}: {strangers[0]} is not one of {', '.join(allowed)}")
    absent = [each for each in may_be_absent if given.get(each, ".") in ("", None)]
    try:
        checked = Settings.load(**{k: v for k, v in given.items() if k not in absent})
    except SettingsError as error:
        raise SettingsError(f"{name}: {error}") from error
    own = {each: getattr(checked, each) for each in given if each not in absent}
    return settings.model_copy(update={**own, **dict.fromkeys(absent)})
