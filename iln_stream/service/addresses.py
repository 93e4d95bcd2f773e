"""The streams that the settings name: source, predictions and dead letters."""

from iln_stream.service.settings import Settings, SettingsError
from iln_stream.streams import Scheme, StreamOptions, stream_at


def source_stream(settings: Settings) -> Scheme:
    """Return the source's stream, not yet opened."""
    return stream_at(settings.source_address, stream_options(settings))


def output_stream(settings: Settings, address: str) -> Scheme:
    """Return the output stream at an address, not yet opened."""
    return stream_at(address, stream_options(settings))


def stream_options(settings: Settings) -> StreamOptions:
    """Return the settings that streams need."""
    names = StreamOptions.__dataclass_fields__
    return StreamOptions(**{name: getattr(settings, name) for name in names})


def dead_letters_address(settings: Settings) -> str:
    """Return the address of the dead letters, by default one beside the source."""
    return settings.dead_letters or source_stream(settings).dead_letters()


def is_transactional(settings: Settings) -> bool:
    """Whether predictions are published in transactions with their positions.

    Unless `transactional` says so: whenever the source is a log, and the predictions' stream has
    transactions that cost nothing.
    """
    if settings.transactional is not None:
        return settings.transactional
    if settings.predictions is None or not source_stream(settings).is_log:
        return False
    return output_stream(settings, settings.predictions).publishes_once


def check_addresses(settings: Settings) -> None:
    """Refuse to write to the source, and to write predictions and dead letters to one place.

    Raises
    ------
    SettingsError
        Names the setting.

    """
    used = {source_stream(settings).place: "source"}
    outputs = {"predictions": settings.predictions, "dead_letters": dead_letters_address(settings)}
    for name, address in outputs.items():
        if address is None or address == "-":
            continue
        other = used.setdefault(output_stream(settings, address).place, name)
        if other != name:
            raise SettingsError(f"{name} = {address!r} is also the {other}: choose another address")
