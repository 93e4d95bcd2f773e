"""Fields of records in a format of the user's own."""

from collections.abc import Callable, Mapping
from typing import Any

from iln_stream.errors import SourceError
from iln_stream.events import MalformedError
from iln_stream.mapping.plain import plain


class OwnFormat:
    """Makes fields of records with a user's function.

    Parameters
    ----------
    name
        Where the function comes from, for errors.
    read
        Gets a record's bytes and returns its fields, possibly nested. If it raises `SourceError`,
        the run ends; after any other error the record is a dead letter.

    Examples
    --------
    >>> from iln_stream.mapping.own_format import OwnFormat
    >>> OwnFormat("pairs", lambda payload: dict([payload.decode().split("=")]))(b"a=1.5")
    {'a': '1.5'}

    """

    def __init__(self, name: str, read: Callable[[bytes], Mapping[str, Any]]) -> None:
        self._name = name
        self._read = read

    def __call__(self, payload: bytes | Mapping[str, Any] | None) -> Mapping[str, Any]:
        """Return the fields of a record.

        Raises
        ------
        MalformedError
            When the function fails or returns no mapping, or when the record has no value.

        """
        if not isinstance(payload, bytes):
            raise MalformedError(f"the record has no value for decoder = {self._name}")
        try:
            fields = self._read(payload)
        except (MalformedError, SourceError):
            raise
        except Exception as error:  # the user's function may raise any
            problem = f"{type(error).__name__}: {error}"[:200]
            raise MalformedError(f"record: decoder = {self._name} failed: {problem}") from error
        if not isinstance(fields, Mapping):
            raise MalformedError(
                f"record: decoder = {self._name} returned {type(fields).__name__}; it has to "
                "return a mapping of fields"
            )
        return plain(fields)  # type: ignore[no-any-return]
