"""`iln-stream promote`: makes a challenger the champion."""

from rich.console import Console

from iln_stream.cli.logs import report
from iln_stream.service import Settings, promote


def promote_contender(settings: Settings, contender: str, console: Console) -> None:
    """Append the command, and report where it is.

    Raises
    ------
    SettingsError
        When the settings name challengers, but not this one.

    """
    for place in promote(settings, contender):
        report(
            console,
            f"promotion of {contender} appended: partition {place.partition}, offset "
            f"{place.offset}",
        )
