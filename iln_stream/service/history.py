"""Files that a learner learns before it reads a log."""

import hashlib
import logging
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from prometheus_client.registry import CollectorRegistry
from rich.console import Console

from iln_stream.errors import IlnError, SnapshotError
from iln_stream.loop import Listener, NothingLearnedError, PrequentialLoop, Task
from iln_stream.loop.event_order import EventOrder, time_text
from iln_stream.loop.metrics import Metrics
from iln_stream.loop.progress import HistoryProgress, Progress
from iln_stream.records import EnvelopeDecoder, MalformedError
from iln_stream.records.mapped import MappedDecoder
from iln_stream.service.assembly import Assembly
from iln_stream.service.decoding import (
    FIELDS,
    NOTATION,
    OF_AGGREGATES,
    REGISTRY,
    build_decoder,
    described,
    is_one_series,
    mapping_of,
)
from iln_stream.service.http import stop_on_signals
from iln_stream.service.settings import LoopSettings, RecordSettings, default_of, own_values
from iln_stream.settings import SettingsError
from iln_stream.state import StateDict
from iln_stream.streams import Scheme, StreamOptions, stream_at

log = logging.getLogger(__name__)

_OWN = (name for name in FIELDS if name not in OF_AGGREGATES)  # these go on in the log
OF_FILES = (*_OWN, *NOTATION, "separator", "columns", "decoder", "where", "envelope")
"""The settings that may be different for files of history."""

_MAY_BE_ABSENT = (
    "target",
    "id_field",
    "time_field",
    "weight_field",
    "decoder",
    "where",
    "envelope",
)


class _File(NamedTuple):
    stream: Scheme
    records: RecordSettings


class History:
    """The files of `warm_start`, checked before any is learned.

    Raises
    ------
    SettingsError
        When a file is missing, its fields do not fit the settings, or a file begins before the one
        before it.

    """

    def __init__(self, settings: LoopSettings) -> None:
        self._records = records_of_files(settings)
        self._window = settings.window
        self._files = [self._file(name) for name in settings.warm_start]
        self._stop: Callable[[], None] | None = None
        self._stopped = False

    def teach(
        self,
        live: Assembly,
        console: Console | None = None,
        progress: HistoryProgress | None = None,
        listeners: Sequence[Listener] = (),
        may_fail: bool = False,
    ) -> dict[str, Any]:
        """Let the learner of `live` learn the files, in the order given; return their description.

        Each event is predicted, scored and learned as in a run. The scores are those of the
        history: `live` gets the ids of recent events, the events that wait for a label and the time
        and values of the last events, but no counts. `may_fail` says whether the learner may fail
        on all events.

        Raises
        ------
        IlnError
            When a file has no record that can be learned, unless it may fail, or a signal stopped
            it.

        """
        learner, task = live.learner, live.task
        self._check_order(task)
        order = EventOrder("history", one_series=is_one_series(self._records))
        counts = Metrics(CollectorRegistry(), self._window)
        values: StateDict | None = None
        files: list[dict[str, Any]] = []
        with stop_on_signals(self.stop):
            for file in self._files:
                name = Path(file.stream.name).name
                log.info(f"learning {file.stream.address}, before the log")
                order.name = name
                shown = list(listeners)
                if progress is not None:
                    progress.begin(name)
                    shown.append(progress)
                with closing(file.stream.source()) as source:
                    if not files:
                        watched = counts.watch(learner, source, "history", task)
                    total = file.stream.n_records(source)
                    bar = Progress(watched, console, total, name, logs_letters=True)
                    shown.append(bar)
                    before = _counted(watched)
                    reading = live.reading(file.records, file.stream, source)
                    _continue(reading.mapped, values)
                    self._run(reading.loop([order, *shown, watched], never_learned=not may_fail))
                order.check()
                reading.warn_of_unseen()
                if reading.mapped is not None:
                    values = reading.mapped.last_values()
                now = _counted(watched)
                files.append(
                    {
                        "name": name,
                        "sha256": _digest(Path(file.stream.name)),
                        **{key: n - before[key] for key, n in now.items()},
                    }
                )
        if live.late is not None:
            live.late.begin_counts()
        _continue(live.mapped, values)
        totals = _counted(watched)
        if not totals["n_labelled"] and not may_fail:
            raise SettingsError(
                "warm_start: no record has a label, so that nothing was learned: set target to "
                "the field of the label"
            )
        if order.n_older:
            log.warning(f"history: {order.n_older} events are older than the event before")
        return {
            "files": files,
            "fields": described(self._records),
            **totals,
            "n_older": order.n_older,
            "first_time": None if order.first is None else time_text(order.first),
            "last_time": None if order.last is None else time_text(order.last),
            "scores": watched.summary(),
        }

    def stop(self) -> None:
        """End `teach` with an error after the current event."""
        self._stopped = True
        if self._stop is not None:
            self._stop()

    def _run(self, loop: PrequentialLoop) -> None:
        self._stop = loop.stop
        try:
            if not self._stopped:
                loop.run()
        except NothingLearnedError as error:
            raise SettingsError(
                f"warm_start: {error}. `iln-stream inspect-source` shows the fields of the file; "
                "settings for these files only: warm_start_fields"
            ) from error
        finally:
            for listener in loop.listeners:
                listener.close()
        if self._stopped:
            raise IlnError(
                "stopped while learning the history: nothing was saved, and the next run begins "
                "with the history anew"
            )

    def _file(self, name: str) -> _File:
        if not Path(name).is_file():
            raise SettingsError(
                f"warm_start: there is no file {name}; give files of rows, JSON or "
                "Parquet in the order of time"
            )
        records = self._records
        stream = stream_at(
            name, StreamOptions(separator=records.separator, columns=records.columns)
        )
        if records.decoder is not None and stream.form != "json":
            records = RecordSettings.of(records, decoder=None)
        try:
            mapping_of(records, stream)
        except SettingsError as error:
            raise SettingsError(
                f"warm_start: {error} (settings for these files only: warm_start_fields)"
            ) from error
        return _File(stream, records)

    def _check_order(self, task: Task) -> None:
        """Refuse files whose first events are not in the order of time."""
        before: tuple[str, float] | None = None
        for file in self._files:
            time = _first_time(file, task)
            if time is None:
                continue
            if before is not None and time < before[1]:
                raise SettingsError(
                    f"warm_start: {file.stream.address} begins at {time_text(time)}, before "
                    f"{before[0]}: give the files in the order of time"
                )
            before = file.stream.address, time


def records_of_files(settings: LoopSettings) -> RecordSettings:
    """Return how files of history are read: as the log, unless `warm_start_fields` differs.

    Raises
    ------
    SettingsError
        When `warm_start_fields` has an invalid or unknown setting.

    """
    own = own_values("warm_start_fields", settings.warm_start_fields, OF_FILES, _MAY_BE_ABSENT)
    usual = {name: default_of(name) for name in ("format", *REGISTRY)}
    return RecordSettings.of(settings, **usual | own)


def is_unchanged(settings: LoopSettings, history: Mapping[str, Any]) -> bool:
    """Return whether the settings name the files of a history, and these are still the same."""
    files = [Path(name) for name in settings.warm_start]
    known = [(each["name"], each["sha256"]) for each in history["files"]]
    return (
        [file.name for file in files] == [name for name, _ in known]
        and all(file.is_file() for file in files)
        and [(file.name, _digest(file)) for file in files] == known
        and described(records_of_files(settings)) == history["fields"]
    )


def _counted(watched: Any) -> dict[str, int]:
    return {
        "n_events": watched.scores.n_events,
        "n_labelled": watched.scores.n_labelled,
        "n_dead_letters": watched.n_dead_letters,
        "n_repeats": watched.n_repeats,
    }


def _continue(decoder: MappedDecoder | None, values: StateDict | None) -> None:
    """Let a decoder continue with the last values of the one before."""
    if decoder is not None and values is not None:
        decoder.continue_after(values)


def _first_time(file: _File, task: Task) -> float | None:
    decode = build_decoder(file.records, file.stream, task)
    decode_event = decode or EnvelopeDecoder(task.event_type, task.label_type)
    with closing(file.stream.source()) as source, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they come again when the file is learned
        for record in source.poll(0.0):
            try:
                time = decode_event(record.payload, None).time
            except MalformedError:
                continue
            if time is not None:
                return time
    return None


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise SnapshotError(f"can't read {path}: {error.strerror}") from error
