"""What runs do: run, rebuild, warm-start, predict, replay, promote."""

import datetime as dt
import json
import logging
import re
import signal
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from iln_stream.cli.logs import logs_json, report, worker_prefix
from iln_stream.errors import IlnError
from iln_stream.loop import LateLabels, NothingLearnedError
from iln_stream.loop.metrics import ModelMetrics
from iln_stream.records.mapped import MappedDecoder
from iln_stream.service import (
    Service,
    Settings,
    SettingsError,
    WorkerProcesses,
    build_decoder,
    build_learner,
    output_stream,
    promote,
    rebuild,
    source_stream,
    task_of,
    warm_start,
)
from iln_stream.service import predict as predict_stream
from iln_stream.service.rebuild import Erasure
from iln_stream.service.settings import LoopSettings
from iln_stream.service.streams import label_stream
from iln_stream.service.worker import Worker
from iln_stream.settings import moment_of
from iln_stream.snapshots import LABELS, learner_at
from iln_stream.streams import StreamPartition

log = logging.getLogger(__name__)


def run_service(settings: Settings, console: Console, *, accept_loss: bool = False) -> None:
    """Run until the source ends or a signal stops it, then report the result."""
    shown_on = _shown_on(console)
    try:
        if settings.workers > 1:
            processes = WorkerProcesses(settings, shown_on, accept_loss=accept_loss)
            processes.run()
            counts = [each.counts for each in processes.supervisor.finished]
            if len(counts) == len(processes.supervisor.workers):
                _require_learning(*map(sum, zip(*counts, strict=True)))
            return
        service = Service(settings, shown_on, accept_loss=accept_loss)
        service.run()
    except NothingLearnedError:
        propose_settings(settings, console)
        raise
    report_results(service, console)
    if not service.was_stopped:
        _require_learning(*learned(service))


def _shown_on(console: Console) -> Console:
    """Return the console for progress; beside JSON nothing is drawn."""
    return Console(force_terminal=False) if logs_json() else console


def learned(service: Service) -> tuple[int, int]:
    """Return how many events a run has predicted, and how many labels its models ever learned."""
    workers = service.workers
    return sum(each.check.n_events for each in workers), sum(each.n_learned for each in workers)


def _require_learning(n_events: int, n_learned: int) -> None:
    if n_events and not n_learned:
        raise typer.Exit(NOTHING_LEARNED)


NOTHING_LEARNED = 3
"""Exit code of a run to the end of its source that predicted events; its model never learned."""


def report_results(service: Service, console: Console, number: int | None = None) -> None:
    """Report what each learner has learned; `number` is that of this worker process, if any."""
    for worker in service.workers:
        scores, watched = worker.watched.scores, worker.watched
        several = len(service.workers) > 1 or number is not None
        name = f"partition {watched.labels[1]}: " if several else ""
        if worker.reader.horizon is not None:
            name = f"{worker.reader.horizon} ahead, {name}" if name else ""
        if not logs_json():  # a line of the log names the worker
            name = worker_prefix(number) + name
        passed = _passed_over(watched)
        if worker.loop.late is None and (n := scores.n_events - scores.n_labelled):
            passed += f", {n:,} without a label"
        report(
            console,
            f"{name}{scores.n_events:,} events, {watched.n_dead_letters:,} dead letters{passed}"
            f"{_waiting(worker)}; {watched.summary()}",
        )


def _passed_over(watched: ModelMetrics) -> str:
    counts = {"repeats": watched.n_repeats, "skipped": watched.n_skipped}
    return "".join(f", {n:,} {what}" for what, n in counts.items() if n)


def _waiting(worker: Worker) -> str:
    """Return what waits or expired: all events, if their ids are not those of the labels."""
    late = worker.loop.late
    if not isinstance(late, LateLabels):
        return ""
    waits = ", waiting: {:,} events and {:,} labels" if any(late.waiting) else ""
    expired = f", {n:,} expired" if (n := sum(late.n_expired.values())) else ""
    return waits.format(*late.waiting) + expired


def propose_settings(settings: LoopSettings, console: Console) -> None:
    """Print what the source has, and the settings that would learn it, if it can be read again."""
    from iln_stream.cli.inspect_source import inspect_source

    with suppress(IlnError):
        if settings.source != "-":
            inspect_source(settings, 1000, console, console)


def promote_contender(settings: LoopSettings, contender: str, console: Console) -> None:
    """Append the command, and report where it is.

    Raises
    ------
    SettingsError
        When the settings name challengers, but not this one.

    """
    if "source" not in settings.model_fields_set:
        report(
            console,
            f"promoting in {settings.source_address}, the default: name the log of another run "
            "with --source, or its settings with --config",
        )
    for at in promote(settings, contender):
        report(
            console,
            f"promotion of {contender} appended: partition {at.partition}, offset {at.offset}",
        )


def warm_start_learners(settings: Settings, console: Console) -> None:
    """Learn the files, and report for each learner what it learned and where its log goes on."""
    for warmed in warm_start(settings, _shown_on(console)):
        report(console, f"{warmed.summary}. `iln-stream run` resumes there")


_SKIP = re.compile(r"(labels:)?(\d+):(\d+)(?:-(\d+))?")


def rebuild_learners(
    settings: Settings,
    until: str | None,
    skip: str | None,
    console: Console,
    forget: Sequence[str] = (),
    *,
    accept_loss: bool = False,
) -> None:
    """Rebuild each learner, and report its position, and what was removed of whom to forget.

    An empty text in `forget` gives up what the log no longer holds.

    Raises
    ------
    SettingsError
        When `until` or `skip` can't be parsed.

    """
    labels = label_stream(settings)
    streams = source_stream(settings).name, LABELS if labels is None else labels.name
    end, left_out = read_until(until), read_skip(skip, *streams)
    erasure = Erasure([each for each in forget if each])
    for positions in rebuild(
        settings, end, left_out, forget="" in forget, accept_loss=accept_loss, erasure=erasure,
        console=_shown_on(console),
    ):  # fmt: skip
        for origin, offset in positions.items():
            report(
                console,
                f"{origin}: learned again up to offset {offset}; `iln-stream run` resumes there",
            )
    for line in erasure.report:
        report(console, line)


def read_until(text: str | None) -> int | dt.datetime | None:
    """Parse an offset or a time.

    Examples
    --------
    >>> from iln_stream.cli.run import read_until
    >>> read_until("120")
    120
    >>> read_until("2026-01-31T12:00:00Z")
    datetime.datetime(2026, 1, 31, 12, 0, tzinfo=datetime.timezone.utc)

    """
    if text is None:
        return None
    if text.isdecimal():
        return int(text)
    if (moment := moment_of(text)) is None:
        raise SettingsError(
            f"--until {text}: give an offset, or a time with a UTC offset, like "
            "2026-01-31T12:00:00Z"
        )
    return moment


def read_skip(text: str | None, events: str, labels: str) -> dict[StreamPartition, list[range]]:
    """Parse the offsets to skip in the log of events and in that of labels, by partition.

    Examples
    --------
    >>> from iln_stream.cli.run import read_skip
    >>> read_skip("2:125-130,labels:0:12", "clicks", "sales")  # doctest: +NORMALIZE_WHITESPACE
    {StreamPartition(stream='clicks', partition=2): [range(125, 131)],
     StreamPartition(stream='sales', partition=0): [range(12, 13)]}

    """
    found: dict[StreamPartition, list[range]] = {}
    for part in text.split(",") if text is not None else ():
        match = _SKIP.fullmatch(part.strip())
        offsets = range(int(match[3]), int(match[4] or match[3]) + 1) if match else range(0)
        if match is None or not offsets:
            raise SettingsError(
                f"--skip {text}: give PARTITION:OFFSET or PARTITION:FIRST-LAST, comma-separated, "
                "like 0:120,0:125-130, or labels:PARTITION:OFFSET"
            )
        origin = StreamPartition(labels if match[1] else events, int(match[2]))
        found.setdefault(origin, []).append(offsets)
    return found


def publish(settings: LoopSettings, rate: float | None, console: Console) -> int:
    """Send each record of the source to the topic; return their number.

    The rate is in events per second; None: as fast as possible.
    """
    from iln_stream.cli.log import bars_of_records

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # end as on Ctrl-C: flush
    stream = source_stream(settings)
    decoder = build_decoder(settings, stream, task_of(build_learner(settings)))
    source = stream.source()
    topic = output_stream(settings, settings.topic_address)
    topic.wait()
    sink = topic.sink()
    progress = bars_of_records(console)
    n_sent = 0
    stopped = False  # no threading.Event: it can wait for itself where a handler sets it

    def stop_after_record(*_: object) -> None:  # so that the number is exact
        nonlocal stopped
        if stopped:  # a second signal does not wait for the broker
            raise KeyboardInterrupt
        stopped = True

    signals = (signal.SIGINT, signal.SIGTERM)
    handlers = {each: signal.signal(each, stop_after_record) for each in signals}
    started = time.monotonic()
    try:
        with progress:
            task = progress.add_task(f"{source.stream} → {settings.topic}", total=source.lag)
            while not (source.exhausted or stopped):
                for record in source.poll(timeout=0.5):
                    due = started + n_sent / rate if rate else 0.0
                    while not stopped and (left := due - time.monotonic()) > 0.0:
                        time.sleep(min(left, 0.1))
                    if stopped:
                        break
                    sink.write(None, _as_json(record.payload, decoder))
                    n_sent += 1
                    progress.update(task, completed=n_sent)
    except KeyboardInterrupt:
        pass
    finally:
        sink.close()
        source.close()
        for each, handler in handlers.items():
            signal.signal(each, handler)
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


def predict_events(path: Path, settings: Settings, console: Console) -> None:
    """Predict the source with the learner at `path`; default: standard input to output.

    Records are read with the snapshot's settings of fields, unless `settings` has some.

    Raises
    ------
    SnapshotError
        When there is no snapshot at `path`.

    """
    given = settings.model_fields_set
    defaults = {name: "-" for name in ("source", "predictions") if name not in given}
    learner, snapshot, folder = learner_at(path, settings.snapshot_pickle)
    loop = LoopSettings.of(settings, **defaults)
    done = predict_stream(loop, learner, _shown_on(console), snapshot, folder)
    scores = done.scores
    text = f"{scores.n_events:,} events predicted, {done.n_dead_letters:,} dead letters"
    text += _passed_over(done)
    if scores.n_labelled:
        text += f"; {scores.n_labelled:,} with a label: {done.summary()}"
    report(console, text)
