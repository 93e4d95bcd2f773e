"""The key of an event, among its inputs."""

from collections.abc import Mapping
from typing import Any

LONGEST_KEY = 1024
"""Characters of the longest key: every key stays in memory, and is stored with its state."""


def key_of(x: Mapping[Any, Any], name: str) -> tuple[str | None, dict[Any, float]]:
    """Return the key of an event as text, and its other inputs; None: it has no key.

    Parameters
    ----------
    x
        The inputs. The key is the value of `name`, or the category in a name "name=category".
    name
        Name of the input that is the key.

    Raises
    ------
    ValueError
        When the key has more than `LONGEST_KEY` characters.

    Examples
    --------
    >>> from iln_stream.keyed.key import key_of
    >>> key_of({"customer": "c7", "a": 1.0}, "customer")
    ('c7', {'a': 1.0})
    >>> key_of({"customer=c7": 1.0, "a": 1.0}, "customer")
    ('c7', {'a': 1.0})
    >>> key_of({"customer": 17.0}, "customer"), key_of({"a": 1.0}, "customer")
    (('17', {}), (None, {'a': 1.0}))

    """
    rest = dict(x)
    if name in rest:
        return _checked(_text(rest.pop(name)), name), rest
    start = f"{name}="
    for each in x:
        if isinstance(each, str) and each.startswith(start):
            del rest[each]
            return _checked(each[len(start) :], name), rest
    return None, rest


def _checked(key: str | None, name: str) -> str | None:
    if key is not None and len(key) > LONGEST_KEY:
        raise ValueError(
            f"key {name}: {len(key):,} characters, {key[:20]!r}...; at most {LONGEST_KEY:,} are "
            "allowed: name another field, or send a shorter key, such as a hash"
        )
    return key


def _text(value: Any) -> str | None:
    """Return a key as text: the same for 17, 17.0 and "17"; None for a missing value."""
    if isinstance(value, str):
        return value
    if value is None or value != value:
        return None
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
