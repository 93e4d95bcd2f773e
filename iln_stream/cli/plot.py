"""`iln-stream plot`: draws a file of predictions."""

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from iln_stream.errors import IlnError
from iln_stream.plotting import plot_predictions
from iln_stream.plotting.needed import drawing


def plot_file(path: Path, out: Path, console: Console, **options: Any) -> None:
    """Draw a file of predictions; `options` are those of `plot_predictions`.

    Raises
    ------
    IlnError
        When the file can't be drawn, the picture can't be written, or matplotlib is missing.

    """
    try:
        drawing().save(plot_predictions(path, **options), out)
    except ImportError as error:
        raise IlnError(str(error)) from error
    except OSError as error:
        raise IlnError(f"--out {out}: {error.strerror}") from error
    except ValueError as error:
        raise IlnError(f"--out {out}: {error}") from error
    console.print(f"written: {escape(str(out))}", highlight=False, soft_wrap=True)
