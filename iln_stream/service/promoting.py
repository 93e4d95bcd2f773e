"""Appends the command that makes a contender the champion."""

from collections.abc import Sequence
from contextlib import closing

from iln_stream.events import promotion
from iln_stream.service.addresses import source_stream
from iln_stream.service.challengers import contenders_of
from iln_stream.service.readers import readers
from iln_stream.service.settings import Settings, SettingsError
from iln_stream.streams import Appended, NewRecord


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
    stream.wait()
    partitions = sorted({reader.partitions[0] for reader in readers(settings, stream)})
    with closing(stream.appender()) as log:
        return log.append([NewRecord(promotion(contender), partition=p) for p in partitions])
