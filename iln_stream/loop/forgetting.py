"""Whose records are never learned again."""

import hashlib
import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from iln_stream.errors import RefusedError
from iln_stream.files import make_folder, read_stored, sync_folder, write_whole
from iln_stream.records import MalformedError
from iln_stream.records.fields import RECORDS_KEY
from iln_stream.records.values import as_text
from iln_stream.reporting import MetricSpec
from iln_stream.state import StateDict
from iln_stream.streams import Record

_FILE = "forgotten.json"
_DIGITS = 32
EVENT = "@event"
"""In place of a field: the value is the id of an event, whose label may still come."""
RECORD = "@record"
"""In place of a field: the value is a place, `events:0:43`, such as of what can't be decoded."""


def place_of(record: Record) -> str:
    """Return where a record is, as `RECORD` names it."""
    return f"{record.origin}:{record.offset}"


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
        self.values[name, self.digest(value)] = None
        self._fields |= {name} - {EVENT}

    def save(self) -> None:
        """Store durably what is forgotten, and what is unfinished."""
        unfinished = sorted(self.unfinished)
        fields = {"salt": self._salt, "values": list(self.values), "unfinished": unfinished}
        content = json.dumps(fields).encode()
        make_folder(self._path.parent)
        write_whole(self._path, lambda file: file.write(content))
        sync_folder(self._path.parent)

    def has(self, fields: Mapping[str, Any], record: Record) -> bool:
        """Return whether a record with these fields is forgotten."""
        has, own = False, {RECORDS_KEY: record.key, RECORD: place_of(record)}
        for name in self._fields:
            value = own[name] if name in own else _at(fields, name) or _at(fields.get("x"), name)
            if value is not None and (found := (name, self.digest(value))) in self.values:
                self._found.add(found)
                has = True
        return has

    def was_found(self, name: str, value: str) -> bool:
        """Return whether a record that was looked at has this value."""
        return (name, self.digest(value)) in self._found

    def digest(self, value: str) -> str:
        """Return the salted digest of a value."""
        data = f"{self._salt}{value}".encode(errors="surrogatepass")
        return hashlib.sha256(data).hexdigest()[:_DIGITS]


Reading = tuple[Callable[[Any], Mapping[str, Any]], str | None]
"""Makes fields of a payload, and the name of the one by which labels come later, if any do."""


class Forgets:
    """Says which records of a run are left out.

    It keeps digests of the ids of the last `size` events that it leaves out, as their labels may
    come later; in the state, as a run that resumes has to leave out the same labels. `on_event` is
    called with each of these ids.
    """

    def __init__(
        self,
        forgotten: Forgotten,
        events: Reading,
        of_others: Mapping[str, Reading],
        size: int | None,
    ) -> None:
        self._forgotten, self._events, self._of_others = forgotten, events, of_others
        self._size = size or 0
        self._later: dict[str, None] = {}  # in order of arrival
        self._n_evicted = 0
        self.on_event: Callable[[str], None] | None = None

    def read(self, record: Record) -> tuple[bool, str | None, bool]:
        """Return whether a record is forgotten, its id, and whether it could be read."""
        parse, id_field = self._of_others.get(record.origin.stream, self._events)
        fields: Mapping[str, Any] = {}
        can_read = False
        with suppress(MalformedError):  # it may have a key all the same
            fields, can_read = parse(record.payload), True
        record_id = None if id_field is None else _at(fields, id_field)
        if id_field == RECORDS_KEY:
            record_id = record.key
        has = self._forgotten.has(fields, record) or self._knows(record_id)
        return has, record_id, can_read

    def __call__(self, record: Record) -> bool:
        """Return whether a record is forgotten; remember its id."""
        has, event_id, _ = self.read(record)
        if has and event_id is not None:
            if self.on_event is not None:
                self.on_event(event_id)
            if self._size and not self._knows(event_id):
                self._later[self._forgotten.digest(event_id)] = None
        if len(self._later) > self._size:
            del self._later[next(iter(self._later))]
            self._n_evicted += 1
        return has

    def _knows(self, event_id: str | None) -> bool:
        """Return whether the event of this id is forgotten."""
        digest = None if event_id is None else self._forgotten.digest(event_id)
        return digest in self._later or (EVENT, digest) in self._forgotten.values

    def metrics(self) -> Sequence[MetricSpec]:
        return (
            MetricSpec(
                "iln_forgotten_ids_evicted_total",
                "counter",
                "Ids of forgotten events, above pending_events: their labels count as strangers'.",
                lambda: self._n_evicted,
            ),
        )

    def state(self) -> StateDict:
        """Return the digests of ids, oldest first."""
        return {"ids": list(self._later), "n_evicted": self._n_evicted}

    def restore(self, state: StateDict) -> None:
        """Replace the ids by those of a `state()`."""
        self._later, self._n_evicted = dict.fromkeys(state["ids"]), state["n_evicted"]


def _at(fields: Any, path: str) -> str | None:
    """Return the text of a dotted path; None: there is none."""
    if isinstance(fields, Mapping) and path in fields:
        value = fields[path]
    else:
        value = fields
        for name in path.split("."):
            value = value.get(name) if isinstance(value, Mapping) else None
    return None if value is None else as_text(value)
