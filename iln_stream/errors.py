"""Errors and warnings, and what every folder needs: hosts, import by path, signatures."""

import importlib
import ipaddress
import sys
from collections.abc import Collection
from inspect import Parameter, signature
from pathlib import Path
from typing import Any


class IlnError(Exception):
    """An error that the user can correct; the message says how."""


class UnrecoverableError(IlnError):
    """A restart would fail in the same way: a person has to decide first."""


class SourceError(IlnError):
    """A source can't read on in order, or can't start where it should."""


class NoStreamError(SourceError):
    """The topic or file does not exist."""


class SinkError(IlnError):
    """A prediction or dead letter could not be stored, so the loop must stop."""


class ReaderGoneError(SinkError):
    """The reader of standard output closed it, as `head` does: the run ends without an error."""


class TokenError(IlnError, ValueError):
    """A token is that of another learner, or of a release whose learner has other experts."""


class StateError(IlnError):
    """A learner's state can't be saved, or a saved state can't be read."""


class SnapshotError(IlnError):
    """A snapshot can't be written, or a run can't resume from it."""


class PublishingError(IlnError):
    """A version of a learner can't be published, or a published one can't be read."""


class NotFiniteError(SnapshotError):
    """A learner's state has a number that is not finite, so no snapshot of it is written."""


class RefusedError(SnapshotError, UnrecoverableError):
    """A snapshot has other settings or another topic: a person has to choose."""


class LostPlaceError(SourceError, UnrecoverableError):
    """The next records were deleted, or the log is a different one."""


class ContenderError(IlnError):
    """A challenger failed, and its policy is to stop the run."""


class IlnWarning(UserWarning):
    """The run continues, but the user should check something."""


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach the address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def names_of(host: str) -> tuple[str, ...]:
    """Return the names under which clients on this machine reach a server at `host`."""
    own = f"[{host}]" if ":" in host else host.lower()
    return tuple(dict.fromkeys(("localhost", "127.0.0.1", "[::1]", own)))


def names_one_of(header: str, hosts: Collection[str]) -> bool:
    """Return whether the header Host of a request, which may have a port, names one of `hosts`.

    A server on loopback answers such requests alone. A browser on this machine may show a web page
    whose name its owner lets resolve to 127.0.0.1, and which could then read the answers (DNS
    rebinding); its requests have that name in the header.

    Examples
    --------
    >>> from iln_stream.errors import names_of, names_one_of
    >>> hosts = names_of("127.0.0.1")
    >>> names_one_of("LocalHost:9108", hosts), names_one_of("[::1]", hosts)
    (True, True)
    >>> names_one_of("evil.example:9108", hosts), names_one_of("", hosts)
    (False, False)

    """
    name = header.rpartition("]")[0] + "]" if header[:1] == "[" else header.partition(":")[0]
    return name.lower() in hosts


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


_WRAPPED = ("classifier", "regressor", "model")
"""Attributes of River's wrappers with the learner to which they pass `w` on."""


def takes_weights(learner: Any) -> bool:
    """Return whether `learn_one` takes a weight `w`, also through a pipeline or a wrapper.

    Examples
    --------
    >>> from river import linear_model, naive_bayes, preprocessing
    >>> from iln_stream.errors import takes_weights
    >>> takes_weights(preprocessing.StandardScaler() | linear_model.LogisticRegression())
    True
    >>> takes_weights(naive_bayes.MultinomialNB())
    False

    """
    parameters = signature(learner.learn_one).parameters
    takes = "w" in parameters
    if not takes and all(each.kind is not Parameter.VAR_KEYWORD for each in parameters.values()):
        return False
    if isinstance(steps := getattr(learner, "steps", None), dict):  # a River pipeline
        return takes_weights(next(reversed(steps.values())))
    inside = [getattr(learner, name) for name in _WRAPPED if hasattr(learner, name)]
    wrapped = [each for each in inside if hasattr(each, "learn_one")]
    return any(map(takes_weights, wrapped)) if wrapped else takes
