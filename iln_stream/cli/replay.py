"""`iln-stream replay`: publishes a source to a Kafka topic."""

import json
import signal
import time
from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
)

from iln_stream.cli.logs import report
from iln_stream.mapping import MappedDecoder
from iln_stream.service import (
    Settings,
    build_decoder,
    build_learner,
    output_stream,
    source_stream,
    task_of,
)


def publish(settings: Settings, rate: float | None, console: Console) -> int:
    """Send each record of the source to the topic; return their number.

    Parameters
    ----------
    settings
        Settings of the source, the topic and the brokers.
    rate
        Events per second; None: as fast as possible.
    console
        Draws progress if it is a terminal.

    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # end as on Ctrl-C: flush
    stream = source_stream(settings)
    decoder = build_decoder(settings, stream, task_of(build_learner(settings)))
    source = stream.source()
    topic = output_stream(settings, settings.topic_address)
    topic.wait()
    sink = topic.sink()
    progress = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TaskProgressColumn(show_speed=True),
        TimeElapsedColumn(),
        console=console,
        disable=not console.is_terminal,
    )
    n_sent = 0
    started = time.monotonic()
    try:
        with progress:
            task = progress.add_task(f"{source.stream} → {settings.topic}", total=source.lag)
            while not source.exhausted:
                for record in source.poll(timeout=0.5):
                    if rate is not None:
                        time.sleep(max(0.0, started + n_sent / rate - time.monotonic()))
                    sink.write(None, _as_json(record.payload, decoder))
                    n_sent += 1
                    progress.update(task, completed=n_sent)
    except KeyboardInterrupt:
        pass
    finally:
        sink.close()
        source.close()
    if decoder is not None:
        decoder.warn_of_unseen()
    report(console, f"{n_sent} records sent to topic {settings.topic}")
    return n_sent


def _as_json(payload: bytes | Mapping[str, Any] | None, decoder: MappedDecoder | None) -> bytes:
    """Return a record as JSON: text as it is, a row of a table as an event."""
    if isinstance(payload, bytes):
        return payload
    if decoder is not None:
        payload = decoder.envelope(payload)
    return json.dumps(payload).encode()
