"""Errors and warnings, and what every folder needs: hosts, import by path, signatures."""

import importlib
import ipaddress
import re
import sys
from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches
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


class OtherRunError(SinkError, UnrecoverableError):
    """Another run publishes the predictions of the same records to the same topic."""


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


class LostRecordsError(LostPlaceError):
    """Retention deleted records before they were learned: `lost`, offsets by partition."""

    def __init__(self, lost: Mapping[str, range]) -> None:
        self.lost = lost
        each = (f"{where}: records {r.start} to {r[-1]}" for where, r in lost.items())
        super().__init__(
            f"{', '.join(each)} were deleted by the topic's retention before they were learned. "
            f"--accept-loss keeps the model and skips these {sum(map(len, lost.values()))} "
            "offsets; `iln-stream rebuild --forget` discards the model, with all that it learned "
            "from records that the topic no longer holds"
        )


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

    If it can't be imported, `error` is raised and names the setting.
    """
    module, _, attribute = path.partition(":")
    look_here()
    try:
        return getattr(importlib.import_module(module), attribute)
    except AttributeError as failure:
        hint = did_you_mean(attribute, dir(sys.modules[module])) if module in sys.modules else ""
        raise error(f"{setting} = {path!r}: {failure}{hint}") from failure
    except ImportError as failure:
        raise error(
            f"{setting} = {path!r}: {module} can't be imported ({failure}): correct its name, or "
            "install it"
        ) from failure


def look_here() -> None:
    """Let modules be found in the current folder, as with `python -m`."""
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, here)


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Return a question whether a similar name is meant; empty: there is none.

    >>> from iln_stream.errors import did_you_mean
    >>> did_you_mean("loed", ["load", "at"])
    '; did you mean load?'

    """
    return "".join(f"; did you mean {each}?" for each in get_close_matches(name, names, n=1))


def why_not(error: OSError) -> str:
    """Return why an address can't be listened on; the address itself is known."""
    return str(error.strerror or error).partition(" (while")[0]


_TOLD = {
    r"(int|int_\w+)": "expected a whole number",
    r"(float|decimal)_\w+|finite_number": "expected a finite number",
    r"bool_\w+": "expected true or false",
    r"string_type|path_type": "expected a text",
    r"string_pattern_mismatch": "expected a text of the pattern {pattern}",
    r"string_too_short": "expected a text of at least {min_length} characters",
    r"string_too_long": "expected a text of at most {max_length} characters",
    r"(dict|mapping|model)_type|model_attributes_type": "expected an object: names and values",
    r"(tuple|list|set)_type": "expected a list",
    r"greater_than_equal": "expected at least {ge}",
    r"greater_than": "expected more than {gt}",
    r"less_than_equal": "expected at most {le}",
    r"less_than": "expected less than {lt}",
    r"literal_error": "expected {expected}",
    r"extra_forbidden": "unknown name: take it out, or correct it",
    r"missing": "missing",
    r"value_error": "{error}",
}
"""What to say of a wrong value, by pydantic's type of the error."""


def told(detail: Mapping[str, Any]) -> str:
    """Return what is wrong with a value, of a detail of pydantic's ValidationError."""
    for kind, text in _TOLD.items():
        if re.fullmatch(kind, detail["type"]):
            said = text.format(**detail.get("ctx", {}))
            choices = re.findall("'([^']+)'", said) if kind == "literal_error" else []
            return said + did_you_mean(str(detail["input"]), choices)
    return str(detail["msg"])


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
