"""Whose records are never learned again."""

import hashlib
import json
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from iln_stream.errors import RefusedError
from iln_stream.files import make_folder, read_stored, sync_folder, write_whole
from iln_stream.records import MalformedError
from iln_stream.records.fields import RECORDS_KEY
from iln_stream.records.values import as_text
from iln_stream.streams import Record

_FILE = "forgotten.json"
_DIGITS = 32
EVENT = "@event"
"""In place of a field: the value is the id of an event whose label may still come."""


class Forgotten:
    """The values of fields whose records are forgotten, in a file beside the snapshots.

    The file has salted digests of the values, and not the values: it is itself about people.
    `unfinished` names the folders of learners whose records may still have to be removed.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / _FILE
        self._salt, self.unfinished = secrets.token_hex(8), set[str]()
        self.values: dict[tuple[str, str], None] = {}  # in the order in which they came
        try:
            stored = json.loads(read_stored(self._path))
            self._salt, self.unfinished = str(stored["salt"]), set(stored["unfinished"])
            self.values = {(str(name), str(digest)): None for name, digest in stored["values"]}
        except FileNotFoundError:
            pass
        except (OSError, KeyError, TypeError, ValueError) as error:
            raise RefusedError(
                f"{self._path} can't be read ({error!r}), and whose records are forgotten is not "
                "known: put back a copy; or delete it, and forget them again"
            ) from error
        self._fields = {name for name, _ in self.values if name != EVENT}
        self._found = set[tuple[str, str]]()

    def add(self, name: str, value: str) -> None:
        """Forget the records whose field has a value; `save` remembers it."""
        self.values[name, self._digest(value)] = None
        self._fields |= {name} - {EVENT}

    def save(self) -> None:
        """Store durably what is forgotten, and what is unfinished."""
        unfinished = sorted(self.unfinished)
        fields = {"salt": self._salt, "values": list(self.values), "unfinished": unfinished}
        content = json.dumps(fields).encode()
        make_folder(self._path.parent)
        write_whole(self._path, lambda file: file.write(content))
        sync_folder(self._path.parent)

    def has(self, fields: Mapping[str, Any], key: str | None) -> bool:
        """Return whether a record with these fields, and this key, is forgotten."""
        has = False
        for name in self._fields:
            value = key if name == RECORDS_KEY else _at(fields, name) or _at(fields.get("x"), name)
            if value is not None and (found := (name, self._digest(value))) in self.values:
                self._found.add(found)
                has = True
        return has

    def was_found(self, name: str, value: str) -> bool:
        """Return whether a record that was looked at has this value."""
        return (name, self._digest(value)) in self._found

    def has_event(self, event_id: str | None) -> bool:
        """Return whether the label of the event of this id is forgotten."""
        return event_id is not None and (EVENT, self._digest(event_id)) in self.values

    def _digest(self, value: str) -> str:
        data = f"{self._salt}{value}".encode(errors="surrogatepass")
        return hashlib.sha256(data).hexdigest()[:_DIGITS]


Reading = tuple[Callable[[Any], Mapping[str, Any]], str | None]
"""Makes fields of a payload, and the name of the one by which labels come later, if any do."""


class Forgets:
    """Says which records of a run are left out, among them labels of the events `ids`."""

    def __init__(
        self, forgotten: Forgotten, events: Reading, of_others: Mapping[str, Reading]
    ) -> None:
        self._forgotten, self._events, self._of_others = forgotten, events, of_others
        self.ids: set[str] = set()

    def read(self, record: Record) -> tuple[bool, str | None]:
        """Return whether a record is forgotten by a value or as a label, and its id."""
        parse, id_field = self._of_others.get(record.origin.stream, self._events)
        fields: Mapping[str, Any] = {}
        with suppress(MalformedError):  # it may have a key all the same
            fields = parse(record.payload)
        record_id = None if id_field is None else _at(fields, id_field)
        has = self._forgotten.has(fields, record.key) or self._forgotten.has_event(record_id)
        return has, record_id

    def __call__(self, record: Record) -> bool:
        """Return whether a record is forgotten."""
        has, record_id = self.read(record)
        return has or record_id in self.ids


def _at(fields: Any, path: str) -> str | None:
    """Return the text of a dotted path; None: there is none."""
    if isinstance(fields, Mapping) and path in fields:
        value = fields[path]
    else:
        value = fields
        for name in path.split("."):
            value = value.get(name) if isinstance(value, Mapping) else None
    return None if value is None else as_text(value)
