"""Copies records from and to embedded logs, with their order, keys and times."""

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from decimal import Decimal
from heapq import merge
from itertools import chain
from typing import Any, Literal, cast

from iln_stream.errors import LostPlaceError, SinkError, SourceError
from iln_stream.streams.addresses import Scheme
from iln_stream.streams.base import Log, Record, Resume, Source, Start
from iln_stream.streams.sqlite import SqliteImporter
from iln_stream.streams.sqlite.scheme import SqliteScheme

_FLUSH_RECORDS = 5_000
"""Records after which an export waits until they are stored."""

_POLL_SECONDS = 0.2


@dataclass
class CopyProgress:
    """How far a copy is."""

    # called whenever more records are stored
    advanced: Callable[["CopyProgress"], None] = lambda _: None
    # number of records to copy, None if unknown; gaps in the offsets count, too
    total: int | None = None
    n_records: int = 0  # number of records stored at the target
    # records with no value, or an empty one, which a file can't have; they are left out
    n_without_value: int = 0
    # records whose line breaks became spaces in a file, which means the same in JSON
    n_with_line_breaks: int = 0
    # where to go on, by partition of the source
    positions: dict[int, int] = field(default_factory=dict)
    stopped: bool = False  # whether to end early

    def stop(self) -> None:
        """End early; may be called by a signal's handler."""
        self.stopped = True


Again = Literal["continue", "again"]


def import_records(
    source: Scheme,
    target: SqliteScheme,
    start: Start = "earliest",
    how: Again | None = None,
    progress: CopyProgress | None = None,
) -> CopyProgress:
    """Copy a stream up to its present end into an embedded log.

    Partitions keep their numbers. If the target has more than the source's only one, keys choose
    among them. Positions are stored with the records, so that a log is imported once: another
    import continues after the records before.

    Parameters
    ----------
    source
        The stream; logs with `stop_at_end`.
    target
        Topic to copy to; created with as many partitions as the source has.
    start
        Where to begin in a log, if nothing of it was imported before.
    how
        What to do with a stream of which records were imported before. "continue": skip as many;
        "again": import everything again. None: continue for a log, whose records have positions;
        an error for another stream, which may have changed.
    progress
        Is kept up to date.

    Raises
    ------
    SourceError
        When the source can't be read, or it is unclear how to go on.
    SinkError
        When the target can't be written to, or has other partitions.

    """
    progress = progress or CopyProgress()
    if source.is_endless:
        raise SourceError(f"limit: {source.address} never ends; say how many records to import")
    partitions = source.partitions() if source.is_log else [0]
    with ExitStack() as opened:
        sources: list[Source] = []
        for partition in partitions:
            sources.append(source.log(partition, start) if source.is_log else source.source())
            opened.callback(sources[-1].close)
        n_partitions = target.create(len(partitions))
        by_key = len(partitions) == 1 and n_partitions > 1
        if not by_key and n_partitions != len(partitions):
            raise _other_partitions(source, len(partitions), target, n_partitions)
        topic_id = cast(Log, sources[0]).topic_id if source.is_log else None
        importer = SqliteImporter(target.path, target.topic, source.place, topic_id)
        opened.callback(importer.close)
        if how == "again":
            importer.forget()
        for i, partition in enumerate(partitions):
            position = importer.position(partition)
            if position is None:
                continue
            if source.is_log:
                sources[i].close()
                sources[i] = _resumed(source, partition, Resume(position, topic_id))
                opened.callback(sources[i].close)
            elif how is None:
                raise SourceError(
                    f"{position:,} records of {source.address} were imported before: give "
                    "--continue to skip these, or --again to import all of them again"
                )
        lags = [each.lag for each in sources]
        progress.total = None if None in lags else sum(cast(list[int], lags))
        for partition, each in zip(partitions, sources, strict=True):
            _import_partition(importer, partition, each, source.is_log, by_key, progress)
        if source.address == "-" and not progress.stopped:
            importer.forget()  # standard input is another one each time
    return progress


def _resumed(source: Scheme, partition: int, place: Resume) -> Log:
    try:
        return source.log(partition, place)
    except LostPlaceError as error:
        raise SourceError(
            f"{source.address}, partition {partition}: records from offset {place.offset} on are "
            "gone, and were not imported: give --again to import the records that are there, "
            "beside those that were imported before"
        ) from error


def _import_partition(
    importer: SqliteImporter,
    partition: int,
    source: Source,
    is_log: bool,
    by_key: bool,
    progress: CopyProgress,
) -> None:
    begin = importer.position(partition)
    n_skipped = 0 if is_log or begin is None else begin
    n_read = 0
    while not source.exhausted and not progress.stopped:
        records = source.poll(_POLL_SECONDS)
        records_before, n_read = n_read, n_read + len(records)
        if is_log:
            (end,) = cast(Log, source).positions.values()
        else:
            records = records[max(0, n_skipped - records_before) :]
            end = max(n_read, n_skipped)
        if end != (begin or 0) or records:
            importer.append(partition, _stored(records), begin, end, by_key)
            begin = progress.positions[partition] = end
            progress.n_records += len(records)
            progress.advanced(progress)


def _stored(records: Sequence[Record]) -> list[Record]:
    """Return records with bytes and a time."""
    now = time.time()
    return [
        record._replace(
            payload=value_of(record),
            timestamp=now if record.timestamp is None else record.timestamp,
        )
        for record in records
    ]


def value_of(record: Record) -> bytes | None:
    """Return a record's value: JSON text, if it has fields."""
    payload: Any = record.payload
    if not isinstance(payload, Mapping):
        return payload  # type: ignore[no-any-return]
    # JSON has no NaN; it means a missing value, as null does.
    fields = {name: None if value != value else value for name, value in payload.items()}
    return json.dumps(fields, default=_in_json).encode()


def _in_json(value: Any) -> Any:
    """Return a table's value of a type that JSON does not have."""
    if isinstance(value, Decimal):
        return float(value)
    return value.hex() if isinstance(value, bytes) else str(value)  # a date or time


def export_records(
    source: SqliteScheme,
    target: Scheme,
    start: Mapping[int, Start] | None = None,
    progress: CopyProgress | None = None,
) -> CopyProgress:
    """Copy a topic of an embedded log up to its present end.

    To a log, partitions keep their numbers; one that does not exist is created with as many. To a
    file, records of several partitions are merged by time, each partition in its order; keys and
    times are left out. It begins at `start`, by partition; by default at the first record.
    `progress` is kept up to date; if an error is raised, too.

    Raises
    ------
    SourceError
        When the source can't be read.
    SinkError
        When the target can't be written to, or has other partitions.

    """
    progress = progress or CopyProgress()
    partitions = source.partitions()
    n_partitions = target.create(len(partitions))
    if target.is_log and n_partitions != len(partitions):
        raise _other_partitions(source, len(partitions), target, n_partitions)
    with ExitStack() as opened:
        logs = []
        for partition in partitions:
            begin = (start or {}).get(partition, "earliest")
            logs.append(opened.enter_context(closing(source.log(partition, begin))))
            (progress.positions[partition],) = logs[-1].positions.values()
        progress.total = sum(log.lag or 0 for log in logs)
        parts = [_records(log) for log in logs]
        if target.is_log:
            _write(chain.from_iterable(parts), target, opened, progress)
        else:
            merged = merge(*parts, key=lambda record: record.timestamp or 0.0)
            _write(merged, target, opened, progress)
    return progress


def _write(
    records: Iterator[Record], target: Scheme, opened: ExitStack, progress: CopyProgress
) -> None:
    to_lines = not target.is_log
    sinks = {0: opened.enter_context(closing(target.sink()))}
    read: dict[int, int] = {}
    done = Counter[str]()

    def store() -> None:
        for sink in sinks.values():
            sink.flush()
        progress.positions.update(read)
        progress.n_records += done["written"]
        progress.n_without_value += done["without value"]
        progress.n_with_line_breaks += done["with line breaks"]
        done.clear()
        progress.advanced(progress)

    for record in records:
        if progress.stopped:
            break
        value = value_of(record)
        if to_lines and not value:
            done["without value"] += 1
        else:
            if to_lines and value is not None and b"\n" in value:
                value = value.replace(b"\n", b" ")
                done["with line breaks"] += 1
            number = 0 if to_lines else record.origin.partition
            if number not in sinks:
                sinks[number] = opened.enter_context(closing(target.sink(number)))
            # A log stores records without a value, too.
            sinks[number].write(record.key, cast(bytes, value), record.timestamp)
            done["written"] += 1
        read[record.origin.partition] = record.offset + 1
        if done["written"] + done["without value"] >= _FLUSH_RECORDS:
            store()
    store()


def _records(log: Log) -> Iterator[Record]:
    while not log.exhausted:
        yield from log.poll(_POLL_SECONDS)


def _other_partitions(source: Scheme, n_source: int, target: Scheme, n_target: int) -> SinkError:
    return SinkError(
        f"{source.address} has {n_source} partitions and {target.address} has {n_target}: choose a "
        f"topic that does not exist, and it is created with {n_source}"
    )
