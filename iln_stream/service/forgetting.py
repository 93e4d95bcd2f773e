"""Whose records are never learned again, and where they were removed."""

import hashlib
import json
import logging
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from iln_stream.errors import RefusedError
from iln_stream.files import make_folder, read_stored, sync_folder, write_whole
from iln_stream.learners.keyed.store import as_key
from iln_stream.records import MalformedError
from iln_stream.records.fields import RECORDS_KEY
from iln_stream.records.mapped import Parse
from iln_stream.service.decoding import parser_of
from iln_stream.service.settings import FormatSettings, LoopSettings, RecordSettings
from iln_stream.service.streams import (
    Reader,
    dead_letters_address,
    label_stream,
    open_one,
    output_stream,
    settings_of_labels,
)
from iln_stream.settings import SettingsError
from iln_stream.streams import Log, Record, Scheme, StreamPartition
from iln_stream.streams.sqlite import erase
from iln_stream.streams.sqlite.scheme import SqliteScheme

log = logging.getLogger(__name__)

_FILE = "forgotten.json"
_DIGITS = 32
_POLL_SECONDS = 0.2


class Forgotten:
    """The values of fields whose records are forgotten, in a file beside the snapshots.

    The file has salted digests of the values, and not the values: it is itself about people.

    Parameters
    ----------
    folder
        The folder of all snapshots.

    Raises
    ------
    RefusedError
        When the file can't be read.

    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / _FILE
        self._salt, self.values = secrets.token_hex(8), list[tuple[str, str]]()
        try:
            stored = json.loads(read_stored(self._path))
            self._salt = str(stored["salt"])
            self.values = [(str(name), str(digest)) for name, digest in stored["values"]]
        except FileNotFoundError:
            pass
        except (OSError, KeyError, TypeError, ValueError) as error:
            raise RefusedError(
                f"{self._path} can't be read ({error!r}), and whose records are forgotten is not "
                "known: put back a copy; or delete it, and forget them again"
            ) from error

    def add(self, name: str, value: str) -> None:
        """Forget the records whose field has a value; `save` remembers it."""
        if (entry := (name, self._digest(value))) not in self.values:
            self.values.append(entry)

    def save(self) -> None:
        """Store the values durably."""
        content = json.dumps({"salt": self._salt, "values": self.values}).encode()
        make_folder(self._path.parent)
        write_whole(self._path, lambda file: file.write(content))
        sync_folder(self._path.parent)

    def has(self, fields: Mapping[str, Any], key: str | None) -> bool:
        """Return whether a record with these fields, and this key, is forgotten."""
        for name, digest in self.values:
            value = key if name == RECORDS_KEY else as_key(_at(fields, name))
            if value is not None and self._digest(value) == digest:
                return True
        return False

    def _digest(self, value: str) -> str:
        data = f"{self._salt}{value}".encode(errors="surrogatepass")
        return hashlib.sha256(data).hexdigest()[:_DIGITS]


def forgotten_of(settings: LoopSettings) -> Forgotten | None:
    """Return what a run with snapshots forgets; None: nothing."""
    folder = getattr(settings, "snapshots", None)
    if folder is None or not (found := Forgotten(Path(folder))).values:
        return None
    return found


Reading = tuple[Parse, str | None]
"""Makes fields of a payload, and the name of the one that is the id."""


class Forgets:
    """Says which records of a run are left out.

    Attributes
    ----------
    ids : set of str
        Ids of events that are forgotten, whose labels are, too.

    """

    def __init__(
        self, forgotten: Forgotten, events: Reading, of_others: Mapping[str, Reading]
    ) -> None:
        self._forgotten, self._events, self._of_others = forgotten, events, of_others
        self.ids: set[str] = set()

    def read(self, record: Record) -> tuple[bool, str | None]:
        """Return whether a record is forgotten by a value, and its id."""
        parse, id_field = self._of_others.get(record.origin.stream, self._events)
        fields: Mapping[str, Any] = {}
        with suppress(MalformedError):  # it may have a key all the same
            fields = parse(record.payload)
        return self._forgotten.has(fields, record.key), as_key(_at(fields, id_field or "id"))

    def __call__(self, record: Record) -> bool:
        """Return whether a record is forgotten."""
        has, record_id = self.read(record)
        return has or record_id in self.ids


def forgets_of(
    settings: LoopSettings,
    records: RecordSettings,
    stream: Scheme,
    forgotten: Forgotten | None = None,
) -> Forgets | None:
    """Return what leaves out records of a stream, and of its labels; None: none are."""
    if (forgotten := forgotten or forgotten_of(settings)) is None:
        return None
    of_others = {}
    if (labels := label_stream(settings)) is not None:
        own = settings_of_labels(settings)
        of_others[labels.name] = _parser(own, labels), own.id_field
    return Forgets(forgotten, (_parser(records, stream), records.id_field), of_others)


def _parser(settings: FormatSettings, stream: Scheme) -> Parse:
    return parser_of(FormatSettings.of(settings, where=None), stream)


def _at(fields: Mapping[str, Any], path: str) -> Any:
    """Return the field of a dotted path, also below the `x` of an event; None: there is none."""
    for root in (fields, fields.get("x")):
        value: Any = root
        if isinstance(root, Mapping) and path in root:
            return root[path]
        for name in path.split("."):
            value = value.get(name) if isinstance(value, Mapping) else None
        if value is not None:
            return value
    return None


@dataclass
class Erasure:
    """Values to forget, what was found of them, and what was removed.

    Parameters
    ----------
    values
        `FIELD=VALUE`; the field `@key` is the record's own key.

    Attributes
    ----------
    report : list of str
        A line for each place where something was removed, or is left for somebody else to remove.

    """

    values: Sequence[str] = ()
    report: list[str] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    places: dict[StreamPartition, list[int]] = field(default_factory=dict)

    def find(self, settings: LoopSettings, stream: Scheme, readers: Sequence[Reader]) -> Forgotten:
        """Find the records of these values, and of those that were forgotten before.

        Raises
        ------
        SettingsError
            When a value is none.

        """
        forgotten = Forgotten(Path(getattr(settings, "snapshots", None) or "."))
        for each in self.values:
            name, equals, value = each.partition("=")
            if not (name and equals and value):
                raise SettingsError(f"--forget {each}: give FIELD=VALUE, or @key=VALUE")
            forgotten.add(name, value)
        if not forgotten.values:
            return forgotten
        forgets = forgets_of(settings, settings, stream, forgotten)
        assert forgets is not None
        n_events = n_labels = 0
        origins = dict.fromkeys(origin for each in readers for origin in each.origins)
        for origin in origins:
            for record in _records(open_one(settings, stream, origin, "earliest")):
                has, record_id = forgets.read(record)
                if has:
                    n_events += 1
                    self.places.setdefault(origin, []).append(record.offset)
                    self.ids.update(() if record_id is None else (record_id,))
        for origin in origins if settings.pending_events is not None and self.ids else ():
            ours = set(self.places.get(origin, ()))
            for record in _records(open_one(settings, stream, origin, "earliest")):
                if record.offset not in ours and forgets.read(record)[1] in self.ids:
                    n_labels += 1
                    self.places.setdefault(origin, []).append(record.offset)
        self.report.append(f"found {n_events} records with the values, and {n_labels} labels")
        return forgotten

    def erase_records(self, settings: LoopSettings, stream: Scheme) -> None:
        """Remove the records from the logs that are ours, with what was published of them."""
        inputs = [each for each in (stream, label_stream(settings)) if each is not None]
        for each in inputs:
            here = {p.partition: at for p, at in self.places.items() if p.stream == each.name}
            self._erase(each, here)
        addresses = [settings.predictions, dead_letters_address(settings)]
        for each in (output_stream(settings, a) for a in addresses if a not in (None, "-")):
            self._erase(each, _made_of(each, self.places))
        if settings.warm_start:
            self.report.append(f"{', '.join(settings.warm_start)}: their records were left out; "
                               "the files are yours to clean")  # fmt: skip
        self.report.append("answers that `iln-stream serve` recorded, copies and backups: yours")

    def _erase(self, stream: Scheme, places: Mapping[int, Sequence[int]] | None) -> None:
        if isinstance(stream, SqliteScheme) and places is not None:
            n = erase(stream.path, stream.topic, places) if places else 0
            self.report.append(f"{stream.address}: {n} records erased")
        else:
            self.report.append(f"{stream.address} is not ours: nothing was removed there; delete "
                               "the records, or let its retention do so")  # fmt: skip


def _made_of(
    stream: Scheme, places: Mapping[StreamPartition, Sequence[int]]
) -> dict[int, list[int]] | None:
    """Return the predictions or dead letters of some records; None: they can't be looked for."""
    if not isinstance(stream, SqliteScheme):
        return None
    found: dict[int, list[int]] = {}
    sought = {(p.stream, p.partition, offset) for p, at in places.items() for offset in at}
    if not stream.path.exists():
        return found
    for partition in stream.partitions():
        for record in _records(stream.log(partition, "earliest")):
            with suppress(ValueError, KeyError, TypeError):
                made: Any = json.loads(record.payload)  # type: ignore[arg-type]
                if (made["stream"], made["partition"], made["offset"]) in sought:
                    found.setdefault(partition, []).append(record.offset)
    return found


def _records(opened: Log) -> Iterator[Record]:
    """Yield all records that a log has now, and close it."""
    with closing(opened):
        while True:
            records = opened.poll(_POLL_SECONDS)
            yield from records
            if not records and opened.lag == 0:
                return
