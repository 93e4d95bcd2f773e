"""The demo's streams in an embedded log."""

import json
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from iln_stream.demo.contenders import DemoStream
from iln_stream.streams import Log, NewRecord, StreamOptions, stream_at
from iln_stream.streams.river import RiverDatasetSource


def address(log: Path, stream: DemoStream) -> str:
    """Return the address of a stream's topic."""
    return f"sqlite:{log}#{stream.title}"


def store_streams(streams: Sequence[DemoStream], log: Path) -> None:
    """Write the streams' events into a new log, each stream into a topic of its own."""
    for suffix in ("", "-wal", "-shm"):
        log.with_name(log.name + suffix).unlink(missing_ok=True)
    for stream in streams:
        source = RiverDatasetSource(stream.dataset, stream.title, limit=stream.n_events)
        with closing(stream_at(address(log, stream), StreamOptions()).appender()) as appender:
            while records := source.poll(0.0):
                appender.append([NewRecord(json.dumps(each.payload).encode()) for each in records])


def open_stream(stream: DemoStream, log: Path) -> Log:
    """Open a stream's topic for reading from its first event to its last."""
    options = StreamOptions(stop_at_end=True)
    return stream_at(address(log, stream), options).log(0, "earliest")
