"""Options of clients whose values are the contents of files, as in `kafka_secrets`."""

import stat
import warnings
from collections.abc import Collection, Mapping
from pathlib import Path

from iln_stream.errors import IlnWarning, SourceError

SECRETS = ("sasl_plain_password", "sasl_plain_username", "ssl_password")
"""The options whose value may be in a file."""

_LARGEST = 64 << 10
"""Bytes; a longer file is not a password, but a mistake."""


def read_secrets(
    files: Mapping[str, str],
    setting: str = "kafka_secrets",
    known: Collection[str] = SECRETS,
    options: str = "kafka_options",
) -> dict[str, str]:
    """Return the content of each file, without the newline at its end.

    Errors name the option and not the path, which may be the password itself, given by mistake.

    Parameters
    ----------
    files
        Path of the file, by the option's name.
    setting
        Name of the setting that has the files, for errors.
    known
        The options whose value may be in a file.
    options
        Name of the setting for other options, for errors.

    Raises
    ------
    SourceError
        When an option can't be in a file, or a file is missing, unreadable, empty or too long.

    """
    if unknown := sorted(files.keys() - set(known)):
        raise SourceError(
            f"{setting}: {', '.join(unknown)} can't be in a file: only "
            f"{', '.join(known)} can; set it in {options}"
        )
    return {name: _content(f"{setting}: {name}", path) for name, path in files.items()}


def warn_of_readable(files: Mapping[str, str], setting: str = "kafka_secrets") -> None:
    """Warn of files that every user of this machine can read."""
    for name, path in files.items():
        if Path(path).stat().st_mode & stat.S_IROTH:
            warnings.warn(
                f"{setting}: every user of this machine can read the file of {name}: chmod o-r it",
                IlnWarning,
                stacklevel=3,
            )


def _content(name: str, path: str) -> str:
    try:
        with Path(path).open("rb") as file:
            content = file.read(_LARGEST + 1)
        text = content.decode().removesuffix("\n").removesuffix("\r")
    except FileNotFoundError:
        raise _refused(
            name, "there is no such file; give the path of a file, not the value"
        ) from None
    except UnicodeDecodeError:
        raise _refused(name, "the file is not UTF-8 text") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a path"
        raise _refused(name, f"can't read the file: {reason}") from None
    if not text:
        raise _refused(name, "the file is empty; write the value into it")
    if len(content) > _LARGEST:
        raise _refused(
            name, f"the file has more than {_LARGEST} bytes; it must hold only the value"
        )
    return text


def _refused(name: str, problem: str) -> SourceError:
    return SourceError(f"{name}: {problem}")
