"""Loads what draws, on first use."""

from types import ModuleType


def drawing() -> ModuleType:
    """Return the module `figure`, which imports matplotlib.

    Raises
    ------
    ImportError
        When matplotlib is missing.

    """
    try:
        from iln_stream.plotting import figure
    except ModuleNotFoundError as error:
        raise ImportError(
            "plots need matplotlib: pip install 'iln-stream[plot]'", name="matplotlib"
        ) from error
    return figure
