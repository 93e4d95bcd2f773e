"""Events from one partition of a topic of an embedded log."""

import time
from functools import partial
from pathlib import Path
from typing import Any

from iln_stream.errors import SourceError
from iln_stream.streams.base import Record, Start
from iln_stream.streams.log import LogPartition
from iln_stream.streams.sqlite.database import Database
from iln_stream.streams.sqlite.erasing import ERASED
from iln_stream.streams.sqlite.records import first_record, loaded_text, n_intact, partitions_of
from iln_stream.streams.sqlite.topics import require_topic

_LARGEST = 1_000
"""Records in a batch at most: larger ones leave the processor's cache before they are learned."""

_LARGEST_BYTES = 8 << 20
"""Bytes of values in a batch after its first record: records may be large."""

_BATCH = """
WITH next AS (SELECT offset, total_bytes FROM {records} WHERE offset >= ?1 ORDER BY offset LIMIT ?2)
SELECT offset, value, timestamp, key, {checksum} FROM {records}
WHERE offset BETWEEN ?1 AND (
    SELECT max(offset) FROM next WHERE total_bytes <= ?3 + (SELECT min(total_bytes) FROM next)
)
ORDER BY offset
"""
"""Sizes first: no value is read that the batch has no room for."""

_FIRST_PAUSE, _LONGEST_PAUSE = 0.0005, 0.004
"""Seconds from one look for new records to the next; a look takes 10 microseconds."""


_record = partial(tuple.__new__, Record)
"""Makes a record of a row; `Record._make` takes four times as long."""


class SqliteLog(LogPartition):
    """Reads a partition in offset order, and follows it: new records come within milliseconds.

    Parameters
    ----------
    path
        Path of the file.
    topic
        Name of the topic.
    stream
        Name of the log.
    partition
        Number of the partition.
    start
        "earliest", "latest", the first record written at or after a time, or the position of a
        snapshot; None: "earliest".
    stop_at_end
        Whether to stop at the end that the partition has now.
    stop_at
        Offset to stop at, if the end of the partition is not before it.

    Raises
    ------
    NoStreamError
        When there is no such file or topic.
    SourceError
        When there is no such partition, the file is not a log, or the position to resume from was
        deleted.

    """

    connected = True

    def __init__(
        self,
        path: Path,
        topic: str,
        stream: str,
        partition: int = 0,
        *,
        start: Start | None = None,
        stop_at_end: bool = False,
        stop_at: int | None = None,
    ) -> None:
        super().__init__(stream, partition)
        self._database = Database(path, create=False)
        self._reached = 0
        self._read_version: int | None = None  # data version when the end was last reached
        try:
            with self._database.read() as connection:
                found = require_topic(connection, path, topic)
                partitions = partitions_of(connection, found.number)
            if partition >= len(partitions):
                numbers = ", ".join(str(each.number) for each in partitions)
                raise SourceError(
                    f"topic {topic} of {path} has partitions {numbers}, and no {partition}"
                )
            self.topic_id = found.topic_id
            self.n_partitions = len(partitions)
            ours = partitions[partition]
            self._slot, self._is_checked = ours.slot, ours.is_checked
            self._batch = _BATCH.format(
                records=f"records_{self._slot}", checksum="checksum" if self._is_checked else "NULL"
            )
            self._begin(start or "earliest", stop_at_end, stop_at)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._database.close()

    def _fetch(self, timeout: float) -> tuple[list[Record], int, int]:
        deadline = time.monotonic() + timeout
        pause = _FIRST_PAUSE
        while True:
            records = self._next_batch()
            left = deadline - time.monotonic()
            if records or left <= 0:
                break
            time.sleep(min(pause, left))
            pause = min(2 * pause, _LONGEST_PAUSE)
        if not records:
            self._database.check_same_file()
            return [], self._position, self._end
        return records, self._reached, self._end

    def _next_batch(self) -> list[Record]:
        version = self._database.data_version
        if version == self._read_version:
            return []
        with self._database.read() as connection:
            self._end = self._current_end()
            rows: list[tuple[Any, ...]] = connection.execute(
                self._batch, (self._position, _LARGEST, _LARGEST_BYTES)
            ).fetchall()
        first = rows[0][0] if rows else self._end
        if first != self._position:
            if not self._may_skip_to(first):
                raise self._out_of_range()
            self._position = first
        if rows:
            del rows[n_intact(rows, first, self._is_checked) :]  # those before are learned
            if not rows:
                raise self._damaged(first)
        reached = first + len(rows)
        if reached == self._end:
            self._read_version = version
        origin = self.origin
        records = [
            _record((offset, value, origin, time, loaded_text(key) if type(key) is bytes else key))
            for offset, value, time, key, _ in rows
            if key != ERASED
        ]
        self._reached = reached
        if not records:  # all were erased
            self._position = reached
        return records

    def _damaged(self, offset: int) -> SourceError:
        return SourceError(
            f"{self._database.path}: record {offset} of {self._here} is damaged: restore the file "
            "from a backup; or delete this record and those before it, with "
            f"`iln-stream log trim --keep-records {self._end - offset - 1}`, and go on with "
            "--accept-loss"
        )

    def _current_end(self) -> int:
        """Return the offset after the last record; raise an error if the topic is another one."""
        row = self._database.connection.execute(
            "SELECT t.topic_id, p.next_offset FROM partitions p JOIN topics t "
            "ON t.number = p.topic WHERE p.slot = ?",
            (self._slot,),
        ).fetchone()
        if row is None or row[0] != self.topic_id:
            raise self._not_the_same_log("was replaced")
        (last,) = self._database.connection.execute(
            f"SELECT max(offset) FROM records_{self._slot}"
        ).fetchone()
        return int(row[1] if last is None else last + 1)

    def _first_offset(self) -> int:
        with self._database.read() as connection:
            first = first_record(connection, self._slot)
            return self._current_end() if first is None else first[0]

    def _end_offset(self) -> int:
        with self._database.read():
            return self._current_end()

    def _offset_at(self, milliseconds: int) -> int | None:
        with self._database.read() as connection:
            found = connection.execute(
                f"SELECT offset FROM records_{self._slot} "
                "WHERE timestamp >= ? ORDER BY offset LIMIT 1",
                (milliseconds / 1000,),
            ).fetchone()
        return None if found is None else int(found[0])
