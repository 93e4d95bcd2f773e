"""Appends the command that makes a contender the champion."""

from collections.abc import Sequence
from contextlib import closing

from iln_stream.errors import SinkError
from iln_stream.events import promotion
from iln_stream.service.addresses import source_stream
from iln_stream.service.challengers import contenders_of
from iln_stream.service.readers import readers
from iln_stream.service.settings import Settings, SettingsError
from iln_stream.streams import Appended, NewRecord

_BROKER_SECONDS = 5.0
"""How long somebody who waits for the command waits for a broker, unless the settings say so."""


def promote(settings: Settings, contender: str) -> Sequence[Appended]:
    """Append the command to the log that the settings name; return its places, durable.

    Each learner gets it once: in the first partition that it reads. It is carried out when the
    learner reaches it, after the events before it.

    Parameters
    ----------
    settings
        Settings of the run.
    contender
        Name of a challenger, or of a former champion.

    Raises
    ------
    SettingsError
        When the source is no log, or the settings name challengers, but not this contender.
    SinkError
        When the log can't be written to.

    """
    if "broker_wait" not in settings.model_fields_set:
        settings = settings.model_copy(update={"broker_wait": _BROKER_SECONDS})
    stream = source_stream(settings)
    if not stream.is_log:
        raise SettingsError(
            f"source = {stream.address!r}: a promotion is a record in the order of the events, and "
            f"only a log takes it: copy the events into one with `iln-stream log import "
            f"{stream.address} sqlite:PATH`, or let the run promote by itself (promotion = "
            "evidence)"
        )
    known = contenders_of(settings)
    if settings.challengers and contender not in known:
        raise SettingsError(
            f"promote: {contender!r} is no contender; choose one of {', '.join(known)}"
        )
    stream.check()
    if not stream.wait():
        raise SinkError(
            f"source = {stream.address!r}: no Kafka broker answers at {settings.bootstrap}: start "
            "it, or name the log of the run with --source (or its settings with --config)"
        )
    partitions = sorted({reader.partitions[0] for reader in readers(settings, stream)})
    with closing(stream.appender()) as log:
        return log.append([NewRecord(promotion(contender), partition=p) for p in partitions])
