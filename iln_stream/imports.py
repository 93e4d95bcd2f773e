"""Importing objects that a user names by import path."""

import importlib
import sys
from pathlib import Path
from typing import Any


def imported(setting: str, path: str, error: type[Exception]) -> Any:
    """Return the object at `package.module:attribute`; modules may be in the current folder.

    Parameters
    ----------
    setting
        Name of the setting, for the message.
    path
        The import path.
    error
        Raised if the object can't be imported.

    """
    module, _, attribute = path.partition(":")
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, here)  # as with `python -m`
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as failure:
        raise error(f"{setting} = {path!r}: {failure}") from failure
