"""The streams that settings name, and which partitions each learner reads."""

import hashlib
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, cast

from iln_stream.errors import LostRecordsError
from iln_stream.loop import Horizon, LabelLog, Task
from iln_stream.loop.forgetting import Forgets, Forgotten
from iln_stream.loop.outputs import (
    DeadLetterWriter,
    PredictionWriter,
    TransactionalPredictionWriter,
)
from iln_stream.records import PredictionEncoder
from iln_stream.records.fields import RECORDS_KEY, FieldMapping
from iln_stream.records.mapped import LabelDecoder, Parse, RecordTime
from iln_stream.service.decoding import (
    NOTATION,
    READING,
    REGISTRY,
    mapping_from,
    mapping_of,
    parser_of,
)
from iln_stream.service.settings import (
    FormatSettings,
    KafkaSettings,
    LogSettings,
    LoopSettings,
    RecordSettings,
    SourceSettings,
    StreamSettings,
    aggregate_of,
    own_values,
    unusual,
)
from iln_stream.settings import SettingsError
from iln_stream.streams import (
    Log,
    Record,
    Resume,
    Scheme,
    Sequencer,
    Sink,
    Source,
    Start,
    StreamOptions,
    StreamPartition,
    stream_at,
)


def source_stream(settings: StreamSettings) -> Scheme:
    """Return the source's stream, not yet opened."""
    return stream_at(settings.source_address, stream_options(settings))


def output_stream(settings: StreamSettings, address: str) -> Scheme:
    """Return the output stream at an address, not yet opened."""
    return stream_at(address, stream_options(settings))


def stream_options(settings: StreamSettings) -> StreamOptions:
    """Return the settings that streams need."""
    names = StreamOptions.__dataclass_fields__
    return StreamOptions(**{name: getattr(settings, name) for name in names})


def dead_letters_address(settings: StreamSettings) -> str:
    """Return the address of the dead letters, by default one beside the source."""
    return settings.dead_letters or source_stream(settings).dead_letters()


def is_transactional(settings: StreamSettings) -> bool:
    """Whether predictions are published in transactions with their positions.

    Unless `transactional` says so: whenever the source is a log, and the predictions' stream has
    transactions that cost nothing.
    """
    if settings.transactional is not None:
        return settings.transactional
    if settings.predictions is None or not source_stream(settings).is_log:
        return False
    return output_stream(settings, settings.predictions).publishes_once


def check_addresses(settings: StreamSettings) -> None:
    """Refuse to write to what is read, and to write predictions and dead letters to one place.

    Raises
    ------
    SettingsError
        Names the setting.

    """
    used = {source_stream(settings).place: "the source"}
    if (labels := label_stream(settings)) is not None:
        used.setdefault(labels.place, "labels")
    outputs = {"predictions": settings.predictions, "dead_letters": dead_letters_address(settings)}
    for name, address in outputs.items():
        if address is None or address == "-":
            continue
        other = used.setdefault(output_stream(settings, address).place, f"the {name}")
        if other != f"the {name}":
            raise SettingsError(f"{name} = {address!r} is also {other}: choose another address")


_FIELDS = ("target", "id_field", "time_field", "weight_field", "types", "null_values")

OF_LABELS = (*_FIELDS, *NOTATION, *READING, *REGISTRY, *KafkaSettings.model_fields)
"""The settings that may be different for labels."""

_MAY_BE_ABSENT = ("time_field", "weight_field", "decoder", "where", "envelope")

_USUAL = {"target": "y", "id_field": "id", "time_field": "timestamp", "weight_field": "weight"}
"""Fields of a label if no setting names one of them."""


def settings_of_labels(settings: StreamSettings) -> LogSettings:
    """Return the settings that read the labels: those of the source, unless labels have their own.

    Raises
    ------
    SettingsError
        When `labels_settings` has an invalid or unknown setting.

    """
    given = settings.labels_settings
    usual: dict[str, Any] = {"weight_field": None}  # the event's weight is the label's, too
    if _are_as_usual(settings):
        usual = dict(_USUAL)
    else:
        usual |= {"target": settings.target or "y", "id_field": settings.id_field or "id"}
    usual |= {"where": None, "envelope": None}  # of the records of events
    if given.get("decoder"):
        usual["format"] = "json"
    elif "format" in given:
        usual["decoder"] = None
    if given.get("format", settings.format) == "json" or given.get("decoder"):
        usual |= {name: {} for name in REGISTRY} | {"registry": None}
    own = own_values("labels_settings", given, OF_LABELS, _MAY_BE_ABSENT)
    return LogSettings.of(settings, **usual | own)


def _are_as_usual(settings: StreamSettings) -> bool:
    """Whether no setting names a field of a label."""
    of_source = (settings.target, settings.id_field, settings.time_field)
    return not any(of_source) and settings.labels_settings.keys().isdisjoint(_USUAL)


def label_stream(settings: StreamSettings) -> Scheme | None:
    """Return the stream of labels, not yet opened; None: labels are in the source."""
    if settings.labels is None:
        return None
    own = settings_of_labels(settings)
    connection = {name: getattr(own, name) for name in KafkaSettings.model_fields}
    return stream_at(settings.labels, replace(stream_options(settings), **connection))


def prepared_source(settings: StreamSettings) -> Scheme:
    """Return the source's stream once it, and that of labels, can be reached and are there."""
    stream = source_stream(settings)
    for each in (stream, label_stream(settings)):
        if each is not None:
            each.wait()
            each.prepare()
    return stream


def build_label_log(settings: StreamSettings, task: Task) -> LabelLog[LabelDecoder] | None:
    """Return the name and the decoder of the log of labels; None: there is none."""
    stream = label_stream(settings)
    if stream is None:
        return None
    own = settings_of_labels(settings)
    decoder = LabelDecoder(
        mapping_of_labels(own),
        parser_of(own, stream),
        "class" if task.name == "classification" else "number",
        optional=_are_as_usual(settings),
    )
    return LabelLog(stream.name, decoder)


def time_of_records(
    settings: StreamSettings, source: Scheme
) -> Callable[[Record], float | None] | None:
    """Return the function that reads the times of events and labels; None: there are no labels."""
    labels = label_stream(settings)
    if labels is None:
        return None
    mapping = mapping_of(settings, source) or FieldMapping(time_field="timestamp")
    of_event = _record_time(mapping, settings, source)
    own = settings_of_labels(settings)
    of_label = _record_time(mapping_of_labels(own), own, labels)

    def time_of(record: Record) -> float | None:
        time = of_event if record.origin.stream == source.name else of_label
        return None if time is None else time(record.payload, record.timestamp)

    return time_of


def described_labels(settings: StreamSettings) -> dict[str, Any] | None:
    """Return stream and fields of the labels as a snapshot's configuration has them."""
    stream = label_stream(settings)
    if stream is None:
        return None
    own = settings_of_labels(settings)
    found = {"stream": stream.name, **unusual(own, (*_FIELDS, *NOTATION, *READING))}
    return {k: list(v) if isinstance(v, tuple) else v for k, v in found.items()}


def mapping_of_labels(own: LogSettings) -> FieldMapping:
    """Return the fields of labels."""
    return mapping_from({name: getattr(own, name) for name in _FIELDS}, own, "labels_settings: ")


def _record_time(
    mapping: FieldMapping, settings: FormatSettings, stream: Scheme
) -> RecordTime | None:
    if mapping.time_field is None:
        return None
    return RecordTime(mapping, parser_of(settings, stream))


SERIES = ("horizon", "lags", "rolling_means")
"""Settings that take the records of a learner as one series."""


class Reader(NamedTuple):
    """The partitions that one learner reads."""

    stream: str  # name of the log of events
    name: str  # identifies the reader within its stream, in folder names and transactional ids
    partitions: tuple[int, ...]  # partition numbers, ascending
    seed: int  # seed of the learner
    labels: tuple[StreamPartition, ...] = ()  # partitions of the log of labels, if there is one
    horizon: str | None = None  # how far ahead it forecasts; None: it does not
    # whether it writes the records that can't be read to the dead letters: of the readers of
    # several horizons only one does
    writes_unreadable: bool = True
    # whether it goes on if retention deleted records before it read them
    accepts_loss: bool = False

    @property
    def ahead(self) -> Horizon | None:
        """The horizon, parsed."""
        return None if self.horizon is None else Horizon.of(self.horizon)

    @property
    def origins(self) -> tuple[StreamPartition, ...]:
        """Partitions of both logs, those of the events first."""
        return (*(StreamPartition(self.stream, p) for p in self.partitions), *self.labels)


def readers(
    settings: StreamSettings, stream: Scheme, *, accepts_loss: bool = False
) -> list[Reader]:
    """Return the readers that the settings describe.

    Raises
    ------
    SettingsError
        When `start` is an offset and there are several partitions, or each learner has one, and the
        log of labels has another number of them; when a series is spread over several partitions,
        or standard input should be read for several horizons.

    """
    found = _readers_of_partitions(settings, stream)
    series = next((each for each in SERIES if getattr(settings, each)), None)
    if (
        series is not None
        and not settings.series
        and any(len(each.partitions) > 1 for each in found)
    ):
        raise SettingsError(
            f"{series}: a series is in the order of one partition, and several are read by one "
            "learner: set learner_per = partition, or name one of --partitions; or set series, if "
            "there are several and each is within a partition"
        )
    if len({each.partitions for each in found}) > 1:
        for name, each in settings.aggregates.items():
            if RECORDS_KEY not in aggregate_of(each).by:
                raise SettingsError(
                    f"aggregates: {name}: each of several learners would see some of a key's "
                    'events only: name the key that chooses the partition, by = "@key", or leave '
                    "learner_per = topic and workers unset, so that one learner reads all "
                    "partitions"
                )
    if len(settings.horizon) > 1 and stream.address == "-":
        raise SettingsError("horizon: standard input can be read once: give a single horizon")
    horizons = settings.horizon or (None,)
    # A record without a time can be read for a number of records, but not for a time.
    strictest = next((h for h in horizons if h and Horizon.of(h).seconds), horizons[0])
    return [
        each._replace(
            name=f"{each.name}{kind_of(horizon)}",
            horizon=horizon,
            writes_unreadable=horizon == strictest,
            accepts_loss=accepts_loss,
        )
        for each in found
        for horizon in horizons
    ]


def kind_of(horizon: str | None) -> str:
    """Return the end of the names that belong to a horizon: of models, folders, committed offsets.

    Examples
    --------
    >>> from iln_stream.service.streams import kind_of
    >>> kind_of("24h"), kind_of(None)
    ('@24h', '')

    """
    return "" if horizon is None else f"@{horizon}"


def _readers_of_partitions(settings: StreamSettings, stream: Scheme) -> list[Reader]:
    if not stream.is_log:
        return [Reader(stream.name, "0", (0,), settings.seed)]
    chosen = chosen_partitions(settings, stream)
    if isinstance(settings.start, int) and len(chosen) > 1:
        raise SettingsError(
            f"start = {settings.start}: an offset needs a single partition, and {len(chosen)} are "
            "read: give earliest, latest or a time, or name one of --partitions"
        )
    of_labels: tuple[StreamPartition, ...] = ()
    is_apart = settings.learner_per == "partition"
    if (labels := label_stream(settings)) is not None:
        if is_apart:
            _check_same_number(stream, labels)
        of_labels = tuple(StreamPartition(labels.name, p) for p in labels.partitions())
    if is_apart or len(chosen) == 1:
        return [
            Reader(
                stream.name, str(p), (p,), seed_of(settings.seed, p),
                tuple(each for each in of_labels if not is_apart or each.partition == p),
            )
            for p in chosen
        ]  # fmt: skip
    name = "all" if settings.partitions == "all" else "+".join(map(str, chosen))
    return [Reader(stream.name, name, chosen, settings.seed, of_labels)]


def chosen_partitions(settings: SourceSettings, stream: Scheme) -> tuple[int, ...]:
    """Return the partitions of a log that the settings choose, ascending."""
    if settings.partitions == "all":
        return tuple(stream.partitions())
    return tuple(sorted({int(number) for number in settings.partitions.split(",")}))


def _check_same_number(stream: Scheme, labels: Scheme) -> None:
    """Refuse labels that may be in another partition than their events."""
    n_events, n_labels = len(stream.partitions()), len(labels.partitions())
    if n_events != n_labels:
        raise SettingsError(
            f"learner_per = 'partition': the learner of a partition reads the labels in the "
            f"partition of the same number, but {stream.address} has {n_events} and "
            f"{labels.address} {n_labels}: give both topics as many, keyed alike, or set "
            "learner_per to topic"
        )


def start_of(settings: SourceSettings, *, accept_loss: bool) -> Start | None:
    """Return where to start reading each partition of a log; None: unset."""
    if isinstance(settings.start, int):
        return Resume(settings.start, None, accept_loss)
    return settings.start


def seed_of(seed: int, partition: int) -> int:
    """Return the seed of a partition's learner: `seed` for partition 0, else a hash of both.

    So learners of two partitions draw independently, and each draws the same in any process.

    Examples
    --------
    >>> from iln_stream.service.streams import seed_of
    >>> seed_of(7, 0), seed_of(7, 1) == seed_of(8, 1)
    (7, False)

    """
    if partition == 0:
        return seed
    digest = hashlib.sha256(f"iln_stream seed {seed} partition {partition}".encode()).digest()
    return int.from_bytes(digest[:8], "big")


def open_inputs(
    settings: StreamSettings,
    stream: Scheme,
    reader: Reader,
    start: Callable[[StreamPartition], Start | None],
) -> list[Log]:
    """Open each partition of a reader; `start` returns where to begin: see `Scheme.log`."""
    lost: dict[str, range] = {}
    with ExitStack() as opened:
        inputs: list[Log] = []
        for origin in reader.origins:
            try:
                log = open_one(settings, stream, origin, start(origin))
            except LostRecordsError as error:  # --accept-loss accepts the others, too: name them
                lost |= error.lost
                continue
            opened.callback(log.close)
            inputs.append(log)
        if lost:
            raise LostRecordsError(lost)
        opened.pop_all()
    return inputs


def open_one(
    settings: StreamSettings,
    stream: Scheme,
    origin: StreamPartition,
    start: Start | None,
    stop_at: int | None = None,
) -> Log:
    """Open a partition of the log of events or of the log of labels."""
    log = stream if origin.stream == stream.name else label_stream(settings)
    assert log is not None
    return log.log(origin.partition, start, stop_at=stop_at)


def one_source(settings: StreamSettings, stream: Scheme, inputs: Sequence[Log]) -> Log:
    """Return partitions as one source, whose order is not kept."""
    if len(inputs) == 1:
        return inputs[0]
    return Sequencer(inputs, time_of=time_of_records(settings, stream))


Writers = list[DeadLetterWriter | PredictionWriter]


class Outputs:
    """The sinks of a run. Learners share them, except that each has its own transactional sink.

    The settings `predictions` and `dead_letters` name the sinks; `transactional` decides how
    predictions are published (`is_transactional`).
    """

    def __init__(self, settings: StreamSettings, n_partitions: int = 1) -> None:
        self._settings = settings
        self._predictions: Sink | None = None
        self._transactional = is_transactional(settings)
        with ExitStack() as opened:
            self._letters = output_stream(settings, dead_letters_address(settings)).sink()
            opened.callback(self._letters.close)
            if settings.predictions is not None and not self._transactional:
                stream = output_stream(settings, settings.predictions)
                self._predictions = stream.partitioned_sink(n_partitions)
                opened.callback(self._predictions.close)
            self._opened = opened.pop_all()

    def writers(self, source: Source, reader: Reader, encode: PredictionEncoder) -> Writers:
        """Return the listeners that write a reader's predictions and dead letters.

        Of the readers of several horizons only one writes the records that can't be read.
        """
        only_of_learner = not reader.writes_unreadable
        writers: Writers = [DeadLetterWriter(self._letters, only_of_learner=only_of_learner)]
        if self._transactional:
            assert self._settings.predictions is not None
            stream = output_stream(self._settings, self._settings.predictions)
            log = cast(Log, source)
            sink = stream.transactional_sink(log, reader.name, kind_of(reader.horizon))
            self._opened.callback(sink.close)
            writers.append(TransactionalPredictionWriter(sink, encode, log.stream, log.ends))
        elif self._predictions is not None:
            writers.append(PredictionWriter(self._predictions, encode))
        return writers

    def close(self) -> None:
        """Flush and close every sink, even if one fails."""
        self._opened.close()


def forgotten_of(settings: LoopSettings) -> Forgotten | None:
    """Return what a run with snapshots forgets; None: nothing."""
    folder = getattr(settings, "snapshots", None)
    if folder is None or not (found := Forgotten(Path(folder))).values:
        return None
    return found


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
    id_field = records.id_field
    if settings.pending_events is None:
        id_field = None
    elif mapping_of(records, stream, labelled=False) is None:
        id_field = "id"  # of events in their own form
    events = _parser(records, stream), id_field
    return Forgets(forgotten, events, of_others, settings.pending_events)


def _parser(settings: FormatSettings, stream: Scheme) -> Parse:
    return parser_of(FormatSettings.of(settings, where=None), stream)
