"""What `rebuild --forget FIELD=VALUE` finds and removes beside what it learns again."""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from iln_stream.errors import NoStreamError
from iln_stream.loop.forgetting import Forgotten
from iln_stream.service.recovery import folder_of
from iln_stream.service.settings import Settings
from iln_stream.service.streams import (
    Reader,
    dead_letters_address,
    forgets_of,
    label_stream,
    open_one,
    output_stream,
)
from iln_stream.service.worker import published_name
from iln_stream.settings import SettingsError
from iln_stream.snapshots.versions import Versions
from iln_stream.streams import Log, Record, Scheme, StreamPartition
from iln_stream.streams.sqlite import erase
from iln_stream.streams.sqlite.scheme import SqliteScheme


@dataclass
class Erasure:
    """Values to forget (`FIELD=VALUE`, `@key=VALUE`), what was found, and what was removed.

    It `removes` records of values of an interrupted command, too; the `report` has a line for each
    place, also for those that others have to clean. `ids` are those of the events.
    """

    values: Sequence[str] = ()
    report: list[str] = field(default_factory=list)
    removes: bool = False
    ids: set[str] = field(default_factory=set)
    _folders: set[str] = field(default_factory=set)
    _places: dict[StreamPartition, list[int]] = field(default_factory=dict)

    def find(self, settings: Settings, stream: Scheme, readers: Sequence[Reader]) -> None:
        """Find the records of these values, and of those that were forgotten before.

        Raises
        ------
        SettingsError
            When a value is none.

        """
        forgotten = self._forgotten = Forgotten(Path(str(settings.snapshots)))
        for each in self.values:
            name, equals, value = each.partition("=")
            if not (name and equals and value):
                raise SettingsError(f"--forget {each}: give FIELD=VALUE, or @key=VALUE")
            forgotten.add(name, value)
        self._folders = {folder_of(settings, stream, each).name for each in readers}
        self.removes = bool(self.values) or bool(self._folders & forgotten.unfinished)
        if (forgets := forgets_of(settings, settings, stream, forgotten)) is None:
            return
        self.ids, n_events, n_labels = forgets.ids, 0, 0
        for record in _records(settings, stream, readers):
            has, record_id = forgets.read(record)
            if has:
                n_events += 1
                self._places.setdefault(record.origin, []).append(record.offset)
                self.ids.update(() if record_id is None else (record_id,))
        for record in _records(settings, stream, readers) if self.ids else ():
            has, record_id = forgets.read(record)
            if not has and record_id in self.ids:
                n_labels += 1
                self._places.setdefault(record.origin, []).append(record.offset)
        self.report.append(f"found {n_events} records with the values, and {n_labels} labels")

    def begin(self) -> None:
        """Remember the values; a run of these learners is refused from now on until `finish`."""
        self._forgotten.unfinished |= self._folders
        self._forgotten.save()

    def finish(self, settings: Settings, stream: Scheme, readers: Sequence[Reader]) -> None:
        """Remove what the learners had read, published and written of the records."""
        self._erase_records(settings, stream)
        self._remove_versions(settings, stream, readers)
        forgotten = Forgotten(Path(str(settings.snapshots)))  # others may have added to it
        forgotten.unfinished -= self._folders
        forgotten.save()

    def _erase_records(self, settings: Settings, stream: Scheme) -> None:
        """Remove the records from the logs that are ours, with what was published of them.

        Events come last: only by them can another command find the rest after an interruption.
        """
        addresses = [settings.predictions, dead_letters_address(settings)]
        for output in (output_stream(settings, a) for a in addresses if a not in (None, "-")):
            with suppress(NoStreamError):
                self._erase(output, _made_of(output, self._places))
        for each in (label_stream(settings), stream):
            if each is not None:
                here = {p.partition: at for p, at in self._places.items() if p.stream == each.name}
                self._erase(each, here)
        if settings.warm_start:
            self.report.append(f"{', '.join(settings.warm_start)}: their records were left out; "
                               "the files are yours to clean")  # fmt: skip
        self.report.append("answers that `iln-stream serve` recorded, copies and backups: yours")

    def _erase(self, stream: Scheme, places: Mapping[int, Sequence[int]]) -> None:
        if isinstance(stream, SqliteScheme):
            # Without places, too: an interrupted command may have left some in the write-ahead log.
            n = erase(stream.path, stream.topic, places)
            self.report.append(f"{stream.address}: {n} records erased")
        else:
            self.report.append(f"{stream.address} is not ours: nothing was removed there; delete "
                               "the records, or let its retention do so")  # fmt: skip

    def _remove_versions(
        self, settings: Settings, stream: Scheme, readers: Sequence[Reader]
    ) -> None:
        """Remove published versions, and report folders of learners that were not rebuilt."""
        if (folder := settings.publish) is not None:
            names = [published_name(stream, each) for each in readers]
            n = sum(Versions(Path(folder) / f"{name}.model").forget() for name in names)
            self.report.append(
                f"{folder}: {n} versions removed; `iln-stream serve` predicts with what it has "
                "loaded until the next run publishes"
            )
        found = {file.parent for file in Path(str(settings.snapshots)).glob("*/*.snapshot")}
        for each in sorted(each for each in found if each.name not in self._folders):
            self.report.append(f"{each}: learned with other settings; rebuild or delete it")


def _made_of(
    stream: Scheme, places: Mapping[StreamPartition, Sequence[int]]
) -> dict[int, list[int]]:
    """Return the predictions or dead letters of some records, if we can remove them."""
    found: dict[int, list[int]] = {}
    sought = {(p.stream, p.partition, offset) for p, at in places.items() for offset in at}
    for partition in stream.partitions() if sought and isinstance(stream, SqliteScheme) else ():
        for record in _all_of(stream.log(partition, "earliest", sys.maxsize)):
            with suppress(ValueError, KeyError, TypeError):
                made: Any = json.loads(record.payload)  # type: ignore[arg-type]
                if (made["stream"], made["partition"], made["offset"]) in sought:
                    found.setdefault(partition, []).append(record.offset)
    return found


def _records(settings: Settings, stream: Scheme, readers: Sequence[Reader]) -> Iterator[Record]:
    """Yield all records of the logs of some learners, up to the present ends."""
    for origin in dict.fromkeys(origin for each in readers for origin in each.origins):
        yield from _all_of(open_one(settings, stream, origin, "earliest", sys.maxsize))


def _all_of(opened: Log) -> Iterator[Record]:
    """Yield all records of a log that ends somewhere, and close it."""
    with closing(opened):
        while not opened.exhausted:
            yield from opened.poll(0.2)
