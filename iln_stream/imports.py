"""Objects of a user's own, named by import path."""

import importlib
import sys
from pathlib import Path
from typing import Any


def imported(setting: str, path: str, error: type[Exception]) -> Any:
    """Return what `package.module:attribute` names; a module in the current folder is found, too.

    Parameters
    ----------
    setting
        Where the path was given, for the message.
    path
        The import path.
    error
        Raised when it can't be imported.

    """
    module, _, attribute = path.partition(":")
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, here)  # a module beside the user, as with `python -m`
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as failure:
        raise error(f"{setting} = {path!r}: {failure}") from failure
