"""One learner with its source, outputs, checkpoint and listeners."""

import hashlib
import json
import logging
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, cast

from rich.console import Console

from iln_stream._version import __version__
from iln_stream.learners.contest import Contest
from iln_stream.learners.contest.contest import MIXTURE
from iln_stream.loop import Forecasts, Listener, NothingLearnedError
from iln_stream.loop.learning import LearningCheck
from iln_stream.loop.live import About, LiveModel
from iln_stream.loop.logs import ChampionLog, ConnectionLog
from iln_stream.loop.metrics import Metrics, label_metrics
from iln_stream.loop.progress import Progress, WarmUpProgress
from iln_stream.records import PredictionEncoder
from iln_stream.records.fields import RECORDS_KEY
from iln_stream.records.series import Level
from iln_stream.records.time_inputs import Lags
from iln_stream.service.assembly import Assembly
from iln_stream.service.decoding import is_one_series
from iln_stream.service.http import serves_live
from iln_stream.service.learners import (
    build_details,
    build_learner,
    challengers_of,
    champion_of,
    learner_of_challenger,
    learners_of,
    main_contender,
    quantile_levels,
    seed_of_challenger,
)
from iln_stream.service.recovery import Recovery, configuration, folder_of
from iln_stream.service.settings import LearnerSettings, LoopSettings, ModelSettings, Settings
from iln_stream.service.streams import (
    Outputs,
    Reader,
    kind_of,
    label_stream,
    one_source,
    open_inputs,
    start_of,
)
from iln_stream.service.warm_start import warm_up, warn_of_other_history
from iln_stream.snapshots import Checkpoint, learner_state
from iln_stream.snapshots.code import code_of
from iln_stream.snapshots.publisher import Capture, Publisher
from iln_stream.snapshots.versions import Versions
from iln_stream.state import pack
from iln_stream.streams import Log, PartitionedLog, Scheme, Sequencer, Source


def connect_live(
    live: LiveModel,
    settings: LoopSettings,
    assembly: Assembly,
    version: str,
    versions: Mapping[str, str],
    checkpoint: Checkpoint | None,
) -> None:
    """Tell it what the model is, and let it read standings, checkpoints and errors of series.

    `version` is that of the learner, and `versions` has those of contenders, if there are several.
    """
    learner = assembly.learner
    live.about = About(
        assembly.task.name, settings.source_address, settings.learner, version,
        settings.target or settings.labels_settings.get("target"), settings.target_unit,
    )  # fmt: skip
    live.slices.zone = settings.time_zone
    live.series = tuple(settings.series)
    live.versions = versions
    live.standings = getattr(learner, "standings", None)
    if live.champion is None:  # else it is that of the last step, also if a promotion came since
        live.champion = getattr(learner, "champion", None)
    if checkpoint is not None:
        live.checkpoints = checkpoint.recent
    if isinstance(assembly.late, Forecasts) and assembly.late.several:
        live.worst_series = assembly.late.worst_series


_PUBLISH_SECONDS = 0.5
"""Seconds between two published versions."""

_DIGITS = 16
"""Hexadecimal digits of a version."""


def model_name(settings: ModelSettings, stream: str, horizon: str | None = None) -> str:
    """Return the setting `model`, by default the stream and the learner, with the horizon."""
    name = settings.model or f"{stream}/{settings.learner}"
    return name + kind_of(horizon)


def version_of_settings(
    settings: LoopSettings,
    seed: int,
    horizon: str | None = None,
    history: Mapping[str, Any] | None = None,
    learner: LearnerSettings | None = None,
) -> str:
    """Return a digest of what determines a learner beside the stream, with its history.

    Challengers don't change its predictions, and are left out. `learner` is one of them; None: the
    first one.

    Not of its state: a run that is resumed after a crash repeats predictions to the last byte, and
    its learner went through other snapshots. Partition and offset of an event name the state.
    """
    alone = configuration(settings, horizon, history, alone=learner or settings)
    determining = {**alone, "seed": seed, "release": __version__}
    return _digest(_as_json(determining))


def versions_of_contenders(
    settings: LoopSettings, seed: int, horizon: str | None, history: Mapping[str, Any] | None
) -> dict[str, str]:
    """Return the version of each contender: that of a run with this learner alone.

    That of the mixture is a digest of all of them.
    """
    versions = {main_contender(settings): version_of_settings(settings, seed, horizon, history)}
    for name, each in challengers_of(settings).items():
        own = learner_of_challenger(settings, each)
        its_seed = seed_of_challenger(settings, each, seed)
        versions[name] = version_of_settings(settings, its_seed, horizon, history, own)
    return versions | {MIXTURE: _digest(json.dumps(versions).encode())}  # in their order


def version_of_state(learner: Any) -> str:
    """Return a digest of the state of a learner that learns nothing more."""
    arrays, text = pack(learner_state(learner, allow_pickle=True))
    parts = [f"{name} {a.dtype} {a.shape}".encode() + a.tobytes() for name, a in arrays.items()]
    return _digest(text.encode(), *parts)


def _as_json(values: Mapping[str, Any]) -> bytes:
    return json.dumps(values, sort_keys=True).encode()


def _digest(*parts: bytes) -> str:
    found = hashlib.sha256()
    for part in parts:
        found.update(part)
    return found.hexdigest()[:_DIGITS]


def build_publisher(
    settings: Settings,
    stream: Scheme,
    reader: Reader,
    source: Source,
    assembly: Assembly,
    history: Mapping[str, Any] | None = None,
) -> Publisher | None:
    """Return the publisher of a reader's learner, or raise PublishingError; None: it has none."""
    if settings.publish is None:
        return None
    learner, counts = assembly.learner, assembly.watched

    def champion() -> tuple[str, Any]:
        is_contest = isinstance(learner, Contest)
        name = learner.champion if is_contest else settings.learner
        return name, champion_of(learner)

    for each in learners_of(learner):
        Capture(each, settings.snapshot_pickle)  # any may become champion: refuse it now
    n_before = 0 if history is None else history["n_labelled"]
    log = cast(Log, source) if stream.is_log else None
    alone = configuration(settings, reader.horizon, history, alone=settings)
    path = Path(settings.publish) / f"{published_name(stream, reader)}.model"
    return Publisher(
        path,
        learner,
        seconds=_PUBLISH_SECONDS,
        allow_pickle=settings.snapshot_pickle,
        task=assembly.task.name,
        champion=champion,
        n_learned=lambda: n_before + counts.scores.n_labelled,
        stream=source.stream,
        topic_id=None if log is None else log.topic_id,
        positions=None if log is None else log.positions,
        configuration=_digest(_as_json({**alone, "seed": reader.seed})),
        series_inputs=(
            *([Level(settings.target).name] if settings.series and settings.target else ()),
            *Lags(settings.lags, settings.rolling_means).names,
        ),
        decoder={"learner_inputs": settings.learner_inputs}
        if assembly.mapped is None
        else assembly.mapped.described(),
        keys=partial(_keys_to_read, assembly, settings, stream, reader),
        code=code_of(alone),
        versions=Versions(
            path, settings.version_keep, settings.version_seconds, settings.version_days
        ),
        resumable=log is not None,
    )


def _keys_to_read(
    assembly: Assembly, settings: Settings, stream: Scheme, reader: Reader
) -> dict[str, Any] | None:
    """Return what another process reads the keys with; None: there are none."""
    found: dict[str, Any] = {}
    if (made := assembly.aggregates) is not None and assembly.mapped is not None:
        is_input = assembly.mapped.mapping.is_feature
        found["names"] = made.names
        own_key = {RECORDS_KEY} - {settings.by_key}
        needed = made.texts | made.numbers
        found["no_inputs"] = sorted(n for n in needed if n in own_key or not is_input(n))
        found["aggregates"] = made.described()
    if settings.snapshots is not None and (found or settings.by_key is not None):
        folder = folder_of(settings, stream, reader)
        found["folder"] = os.path.relpath(folder, settings.publish)
    return found or None


def published_name(stream: Scheme, reader: Reader) -> str:
    """Return the name of a reader's published version: that of the folder of its snapshots.

    A file's name stands for its path.
    """
    name = stream.name if stream.is_log else re.sub(r"[^\w.+-]+", "-", Path(stream.name).name)
    return f"{name}-{reader.name}"


log = logging.getLogger(__name__)


class Worker:
    """Runs the learner of one reader.

    All learners of the run share `metrics` and `outputs`; the user's listeners are called last.
    `watch` is called with the progress before new challengers learn the log's history.
    """

    def __init__(
        self,
        settings: Settings,
        stream: Scheme,
        reader: Reader,
        metrics: Metrics,
        outputs: Outputs,
        listeners: Sequence[Listener] = (),
        console: Console | None = None,
        watch: Callable[[WarmUpProgress], None] = lambda _: None,
    ) -> None:
        self.reader = reader
        self._checkpoint: Checkpoint | None = None
        self._publisher: Publisher | None = None
        self.live: LiveModel | None = None  # what /live shows; None: nothing
        with ExitStack() as opened:
            recovery = None
            if settings.snapshots is not None:
                recovery = Recovery(settings, stream, reader)
                opened.callback(recovery.close)
                _log_resumed(recovery, reader)
                warn_of_other_history(settings, recovery.header)
            history = None if recovery is None else recovery.history
            self._n_before = 0 if history is None else history["n_labelled"]
            self.source = open_source(settings, stream, reader, recovery)
            opened.callback(self.source.close)
            self.learner = _restored_or_new(settings, stream, reader, recovery, watch)
            model = model_name(settings, self.source.stream, reader.horizon)
            assembly = Assembly(
                settings, stream, self.source, self.learner, model, metrics, reader.ahead
            )
            self._assembly, self.watched = assembly, assembly.watched
            metrics.export(self.watched.labels, assembly.metrics())
            if serves_live(settings):
                self.live = LiveModel(self.watched, partial(metrics.of, self.watched.labels))
                assembly.live = self.live
            versions = versions_of_contenders(settings, reader.seed, reader.horizon, history)
            version = versions[main_contender(settings)]
            levels, n_largest = settings.prediction_intervals, settings.prediction_contributions
            encode = PredictionEncoder(
                self.source.stream, model, version, levels, reader.ahead, versions,
                quantile_levels(self.learner),
            )  # fmt: skip
            writers = outputs.writers(self.source, reader, encode)
            if recovery is not None:
                flushes = [each.flush for each in writers]
                self._checkpoint = self._resume(recovery, flushes)
                metrics.export(self.watched.labels, self._checkpoint.metrics())
            self.check = LearningCheck(
                self.source.stream, assembly.late, settings.target, refuses=not stream.is_log,
                one_series=is_one_series(settings),
            )  # fmt: skip
            metrics.export(self.watched.labels, self.check.metrics())
            observers: list[Listener] = [self.watched, self.check]
            if settings.challengers or settings.mixture:
                observers.append(ChampionLog(model))
            if self.live is not None:
                connect_live(self.live, settings, assembly, version, versions, self._checkpoint)
                observers.append(self.live)
            self._publisher = build_publisher(
                settings, stream, reader, self.source, assembly, history
            )
            if self._publisher is not None:
                metrics.export(self.watched.labels, self._publisher.metrics())
                observers.append(self._publisher)  # after the counts
            if console is not None:
                n = stream.n_records(self.source)
                observers.append(Progress(self.watched, console, n))
            self.loop = assembly.loop(
                # Connection logs come first: a writer may wait for the same broker.
                [*self._connection_logs(settings, stream), *writers, *observers, *listeners],
                self._checkpoint,
                build_details(
                    self.learner, levels, n_largest, challengers=settings.prediction_challengers
                ),
                never_learned=self.watched.scores.n_events == 0,
            )
            self.watched.n_in_hand = self.loop.n_in_hand
            if isinstance(self.source, Sequencer):
                n_labels = partial(self.loop.n_in_hand, labels=True)
                metrics.export(self.watched.labels, label_metrics(self.source, n_labels))
            opened.callback(self._close_listeners)
            self._opened = opened.pop_all()

    @property
    def n_learned(self) -> int:
        """Number of labels that the learner has learned, with those of earlier runs and files."""
        return int(self._n_before + self.watched.scores.n_labelled)

    @property
    def waits_for(self) -> list[str]:
        """Names of the logs whose broker is unreachable."""
        logs: list[Source | PartitionedLog] = [self.source]
        if self._labels is not None:
            logs.append(self._labels)
        return [each.stream for each in logs if not each.connected]

    def run(self) -> None:
        """Learn until the source ends or the loop is stopped, then save and publish the learner.

        After an error neither is done, as listeners may have missed the last step; the next
        run resumes from the snapshot before. The exception: if no event could be learned, the
        position is saved, so that the next run does not write the same dead letters again.
        """
        try:
            self.loop.run()
        except NothingLearnedError:
            self._finish()
            raise
        self._finish()
        if self.live is not None:
            self.live.end()

    def close(self) -> None:
        """Close the listeners and the source, and unlock the snapshots."""
        self._opened.close()

    def _close_listeners(self) -> None:
        with ExitStack() as closing:  # one that fails keeps no other from closing
            for each in reversed(self.loop.listeners):
                closing.callback(each.close)

    @property
    def _labels(self) -> PartitionedLog | None:
        return self.source.labels if isinstance(self.source, Sequencer) else None

    def _connection_logs(self, settings: Settings, stream: Scheme) -> list[ConnectionLog]:
        """Return a log of connections for each broker, or whatever else may be unreachable."""
        logs = [ConnectionLog(self.source, stream.peer)] if stream.can_be_lost else []
        labels = label_stream(settings)
        if labels is not None and self._labels is not None and labels.peer != stream.peer:
            logs.append(ConnectionLog(self._labels, f"{labels.peer} (labels)"))
        return logs

    def _resume(self, recovery: Recovery, flushes: Sequence[Callable[[], None]]) -> Checkpoint:
        """Restore the loop's state, and return the checkpoint that saves it."""
        recovery.restore(self._assembly)
        source = cast(Log, self.source)
        checkpoint = recovery.checkpoint(source, self.learner, self._assembly.states, flushes)
        if any(recovery.changes):
            checkpoint.finish(always=True)  # a run that is killed begins with these contenders
        recovery.warn_of_new_partitions(source.n_partitions)
        return checkpoint

    def _finish(self) -> None:
        if self.loop.at_end:
            self.check.check(at_end=True)
        if self._checkpoint is not None:
            self._checkpoint.finish()
        if self._publisher is not None:
            self._publisher.finish()
        self._assembly.warn_of_unseen()


def _restored_or_new(
    settings: Settings,
    stream: Scheme,
    reader: Reader,
    recovery: Recovery | None,
    watch: Callable[[WarmUpProgress], None],
) -> Any:
    """Return the learner, with new challengers as far as the others are."""
    if recovery is None:
        return build_learner(settings, reader.seed)
    learner, header = recovery.learner(), recovery.header
    if header is not None and (added := recovery.changes.added):
        warm_up(settings, stream, reader, learner, added, header.positions, recovery.history, watch)
    return learner


def open_source(
    settings: LoopSettings, stream: Scheme, reader: Reader, recovery: Recovery | None = None
) -> Source:
    """Open the reader's partitions as one source."""
    if not stream.is_log:
        return stream.source()
    if recovery is None:
        start = start_of(settings, accept_loss=reader.accepts_loss)
        return one_source(settings, stream, open_inputs(settings, stream, reader, lambda _: start))
    inputs = open_inputs(settings, stream, reader, recovery.start)
    return inputs[0] if len(inputs) == 1 else recovery.sequencer(inputs)


def _log_resumed(recovery: Recovery, reader: Reader) -> None:
    if (header := recovery.header) is None:
        if others := recovery.others:
            path = recovery.folder.path
            log.warning(
                f"starts over: {path} has no snapshot; {path.parent} has models of "
                f"{', '.join(others)}. If the log or topic was renamed, give it its old name"
            )
    else:
        where = ", ".join(
            f"offset {header.positions.get(origin, 0)} of {origin}" for origin in reader.origins
        )
        log.info(f"resuming from the newest snapshot, at {where}")
