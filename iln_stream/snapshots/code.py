"""Which of the user's modules a learner depends on, and whether they are as they were."""

import hashlib
import re
import sysconfig
import warnings
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from iln_stream.errors import IlnWarning, look_here

_ATTRIBUTE = re.compile(r"([A-Za-z_][\w.]*):[A-Za-z_][\w.]*")
_SETTINGS = ("learner", "decoder", "features")
_DIGITS = 16
_INSTALLED = (
    Path(__file__).parents[1],
    *(Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib", "platlib")),
)
"""Folders whose modules have a version of their own."""


def code_of(configuration: Mapping[str, Any]) -> dict[str, str]:
    """Return digests of the files of the modules that a configuration names, by module.

    Modules that are installed are left out, as are those that the named ones import.
    """
    found = {}
    for name in sorted(set(_names(configuration))):
        if (file := _file(name)) is not None:
            with suppress(OSError):
                found[name] = hashlib.sha256(file.read_bytes()).hexdigest()[:_DIGITS]
    return found


def warn_of_edited(before: Mapping[str, str], now: Mapping[str, str], saved: str) -> None:
    """Warn of each module whose file is not what it was when `saved` was."""
    for name in sorted(before.keys() & now.keys()):
        if before[name] != now[name]:
            warnings.warn(
                f"{_file(name)} was edited since {saved} was saved (digest {before[name]}, now "
                f"{now[name]}), so the model was learned by other code: replace it by what it was, "
                "or learn the log again with `iln-stream rebuild`; ignore this if the edit changes "
                "no input, label or prediction",
                IlnWarning,
                stacklevel=4,
            )


def _names(configuration: Mapping[str, Any]) -> Iterator[str]:
    """Yield the modules of `module:attribute` in settings that name code; a field may look so."""
    for name, value in configuration.items():
        if isinstance(value, Mapping):
            yield from _names(value)
        elif name in _SETTINGS and (match := _ATTRIBUTE.fullmatch(str(value))) is not None:
            yield match[1]


def _file(module: str) -> Path | None:
    """Return the file of a module of the user's; None: there is none."""
    look_here()
    try:
        spec = find_spec(module)
    except Exception:  # it imports the packages of the module, which may fail in any way
        return None
    if spec is None or not spec.has_location or spec.origin is None:
        return None
    path = Path(spec.origin)
    return None if any(path.is_relative_to(folder) for folder in _INSTALLED) else path
