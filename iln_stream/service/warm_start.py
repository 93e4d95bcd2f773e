"""Lets new learners learn files of history, before they read their log."""

import logging
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

from prometheus_client.registry import CollectorRegistry
from rich.console import Console

from iln_stream.errors import IlnWarning, RefusedError
from iln_stream.listeners import HistoryProgress, Metrics
from iln_stream.service.addresses import source_stream
from iln_stream.service.checks import check_settings
from iln_stream.service.decoding import build_decoder
from iln_stream.service.history import History
from iln_stream.service.inputs import one_source, open_inputs, place
from iln_stream.service.labels import label_stream
from iln_stream.service.learners import task_of
from iln_stream.service.loop_state import LoopState
from iln_stream.service.readers import Reader, readers, settings_of
from iln_stream.service.recovery import Recovery, folder_of, history_of
from iln_stream.service.settings import Settings, SettingsError
from iln_stream.service.warming import Warming
from iln_stream.snapshots import Header, learner_state
from iln_stream.streams import Scheme

log = logging.getLogger(__name__)


class Warmed(NamedTuple):
    """A learner that learned the history.

    Parameters
    ----------
    reader
        Partitions that it will read.
    history
        Describes what it learned.

    """

    reader: Reader
    history: dict[str, Any]

    @property
    def summary(self) -> str:
        """What was learned, how well it was predicted, and where the log goes on."""
        history = self.history
        return (
            f"history ({named(history)}): {history['n_events']} events, "
            f"{history['n_dead_letters']} dead letters; {history['scores']}; the log goes on at "
            + ", ".join(f"offset {at} of {place(int(p))}" for p, at in history["start"].items())
        )


def warm_start(settings: Settings, console: Console | None = None) -> list[Warmed]:
    """Let each learner without snapshots learn the files of `warm_start`, and save it.

    The snapshot holds the learner with the position in the log at `start`, as it was before the
    files were read; `run` resumes there. Nothing is saved before the last file is learned: a
    warm start that is interrupted has no effect.

    Parameters
    ----------
    settings
        Settings of the run to come.
    console
        Draws progress if it is a terminal; None: no progress.

    Raises
    ------
    RefusedError
        When there are snapshots already.
    SettingsError
        When the settings do not fit together or the files.

    """
    check_settings(settings)
    if not settings.warm_start:
        raise SettingsError("warm_start: name the files to learn")
    stream = source_stream(settings)
    for each in (stream, label_stream(settings)):
        if each is not None:
            each.wait()
            each.prepare()
    warmed = list(warm_readers(settings, stream, readers(settings, stream), console))
    if not warmed:
        raise RefusedError(
            f"snapshots: {settings.snapshots} holds learners of {stream.name}, which `iln-stream "
            "run` resumes: choose another folder, or learn history and log again with "
            "`iln-stream rebuild`"
        )
    return warmed


def warm_readers(
    settings: Settings,
    stream: Scheme,
    parts: Sequence[Reader],
    console: Console | None,
    watch: Callable[[Reader], HistoryProgress | None] = lambda _: None,
) -> Iterator[Warmed]:
    """Do so for these readers; each that has snapshots is left as it is.

    `watch` is called before a reader's learner is made, and returns what counts its events.
    """
    new = [each for each in parts if not any(folder_of(settings, stream, each).glob("*.snapshot"))]
    for reader in new:
        own = settings_of(settings, reader)
        with ExitStack() as opened:
            recovery = Recovery(own, stream, reader)
            opened.callback(recovery.close)
            if recovery.header is None:
                progress = watch(reader)
                history = _warm(own, stream, reader, recovery, console, progress, opened)
                yield Warmed(reader, history)


def _warm(
    settings: Settings,
    stream: Scheme,
    reader: Reader,
    recovery: Recovery,
    console: Console | None,
    progress: HistoryProgress | None,
    opened: ExitStack,
) -> dict[str, Any]:
    if settings.start is None:
        raise SettingsError(
            f"start: say where {stream.address} goes on after the history: earliest (all that it "
            "holds), latest (what comes from now on), a time, like 2026-01-31T12:00:00Z, or an "
            "offset"
        )
    files = History(settings)
    # Opened first: `latest` is the end before the history.
    inputs = open_inputs(settings, stream, reader, recovery.start)
    for each in inputs:
        opened.callback(each.close)
    source = one_source(settings, stream, inputs)
    start = {str(partition): at for partition, at in source.positions.items()}
    learner = recovery.learner()
    learner_state(learner, settings.snapshot_pickle)  # if it can't be saved, refuse it now
    Warming.of(learner).run()
    task = task_of(learner)
    decoder = build_decoder(settings, stream, task)
    counts = Metrics(CollectorRegistry(), settings.window).watch(
        learner, source, "live", task, settings.prediction_intervals
    )
    state = LoopState(settings, task, counts, decoder)
    history = files.teach(learner, task, state, decoder, console, progress) | {"start": start}
    recovery.history = history
    recovery.checkpoint(source, learner, state.parts, flushes=[])  # saves the first snapshot
    return history


def warn_of_other_history(settings: Settings, header: Header | None) -> None:
    """Say that the files of `warm_start` are not learned again; warn if they were never."""
    if header is None or not settings.warm_start:
        return
    history = history_of(header)
    known = [] if history is None else [each["name"] for each in history["files"]]
    given = [name.rpartition("/")[2] for name in settings.warm_start]
    if history is not None and given == known:
        log.info(f"the snapshot has learned {named(history)}, which is not learned again")
        return
    warnings.warn(
        f"warm_start: {', '.join(given)} is not learned, as there is a snapshot, which has learned "
        f"{', '.join(known) or 'no history'}: choose another folder for a new learner, or learn "
        "history and log again with `iln-stream rebuild`",
        IlnWarning,
        stacklevel=2,
    )


def named(history: dict[str, Any]) -> str:
    """Return the names of the files."""
    return ", ".join(each["name"] for each in history["files"])
