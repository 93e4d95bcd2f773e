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
    if "source" not in settings.model_fields_set:
        report(
            console,
            f"promoting in {settings.source_address}, the default: name the log of another run "
            "with --source, or its settings with --config",
        )
    for place in promote(settings, contender):
        report(
            console,
            f"promotion of {contender} appended: partition {place.partition}, offset "
            f"{place.offset}",
        )
