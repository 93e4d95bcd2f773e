"""New learners learn history, and new challengers the past of the log, before they read on."""

import logging
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

from rich.console import Console

from iln_stream.errors import ContenderError, IlnError, IlnWarning, RefusedError
from iln_stream.learners.contest import Contest
from iln_stream.loop import MOST_IN_A_ROW, Listener
from iln_stream.loop.progress import HistoryProgress, Progress, WarmUpProgress
from iln_stream.records import LEARNER_FAILED, DeadLetter
from iln_stream.service.assembly import Assembly
from iln_stream.service.checks import check_settings
from iln_stream.service.history import History, is_unchanged
from iln_stream.service.http import stop_on_signals
from iln_stream.service.learners import (
    Challenger,
    build_challenger,
    challengers_of,
    check_task,
    task_of,
)
from iln_stream.service.recovery import Recovery, folder_of, history_of
from iln_stream.service.settings import Settings
from iln_stream.service.streams import (
    Reader,
    one_source,
    open_inputs,
    open_one,
    prepared_source,
    readers,
)
from iln_stream.service.warming import Warming
from iln_stream.settings import SettingsError
from iln_stream.snapshots import Header, Positions, learner_state
from iln_stream.streams import Log, Resume, Scheme, Start, StreamPartition, as_texts

log = logging.getLogger(__name__)

_ANY_NUMBER = 2**63


class _Failures(Listener):
    """Counts the events on which a challenger failed, and stops if its policy says so."""

    most_steps = MOST_IN_A_ROW

    def __init__(self, name: str, policy: str) -> None:
        self._name, self._policy = name, policy
        self.n = 0
        self.first = ""

    def on_dead_letter(self, letter: DeadLetter) -> None:
        if not letter.reason.startswith(LEARNER_FAILED):
            return
        self.n += 1
        self.first = self.first or f"offset {letter.offset}: {letter.reason}"
        if self._policy == "stop":
            raise ContenderError(
                f"challenger {self._name} failed on the log's history, and its on_failure is "
                f"stop: {self.first}"
            )


def warm_up(
    settings: Settings,
    stream: Scheme,
    reader: Reader,
    contest: Contest[Any],
    names: Sequence[str],
    positions: Positions,
    history: Mapping[str, Any] | None = None,
    watch: Callable[[WarmUpProgress], None] = lambda _: None,
) -> None:
    """Let new challengers learn the log, one after the other, and take part from then on.

    Each begins at the first record that the log still holds, and learns alone, as a run with its
    settings would; predictions and dead letters are not written again. If the others learned files
    of history first, it does, too, and begins where they went on in the log.

    Parameters
    ----------
    settings, stream, reader
        Of the run.
    contest
        The contest, restored.
    names
        Names of the new challengers.
    positions
        Those of the snapshot, at which the challengers stop.
    history
        Describes the files that the other contenders learned before the log; None: none.
    watch
        Called with the progress before the first one begins.

    Raises
    ------
    IlnError
        When a challenger can't be built or saved, fails although its policy is "stop", or a signal
        came; nothing has changed then.

    """
    progress = WarmUpProgress(len(names))
    watch(progress)
    if history is not None and not is_unchanged(settings, history):
        files = ", ".join(each["name"] for each in history["files"])
        log.warning(
            f"the new challengers ({', '.join(names)}) learn the log alone: the other contenders "
            f"learned {files} before it, and warm_start does not name these files, unchanged and "
            "with the same fields. Stop the run and restore them, or go on without"
        )
        history = None
    found = challengers_of(settings)
    warmed = {}
    for name in names:
        learner = build_challenger(settings, name, reader.seed)
        check_task(name, learner, task_of(contest).name == "classification")
        learner_state(learner, settings.snapshot_pickle)  # if it can't be saved, refuse it now
        Warming.of(learner).run()
        progress.begin(name)
        _learn(settings, stream, reader, learner, name, found[name], positions, history, progress)
        warmed[name] = learner
    for name, learner in warmed.items():
        contest.add(name, learner, found[name].on_failure)


def _learn(
    settings: Settings,
    stream: Scheme,
    reader: Reader,
    learner: Any,
    name: str,
    challenger: Challenger,
    positions: Positions,
    history: Mapping[str, Any] | None,
    progress: WarmUpProgress,
) -> None:
    with ExitStack() as opened:
        inputs: list[Log] = []
        for origin in reader.origins:
            stop_at = positions.get(origin, 0)
            begin = start_after(history, origin)
            inputs.append(open_one(settings, stream, origin, begin, stop_at))
            opened.callback(inputs[-1].close)
        source = one_source(settings, stream, inputs)
        assembly = Assembly(settings, stream, source, learner, name, horizon=reader.ahead)
        watched, failures = assembly.watched, _Failures(name, challenger.on_failure)
        if history is not None:
            History(settings).teach(assembly, listeners=[progress, failures], may_fail=True)
        loop = assembly.loop(
            [Progress(watched, None, title=name), progress, watched, failures],
            max_failures_in_a_row=_ANY_NUMBER,
        )
        log.info(f"challenger {name} learns the log, up to where the other contenders are")
        stopped = []

        def stop() -> None:
            stopped.append(True)
            loop.stop()

        with stop_on_signals(stop):
            loop.run()
        if stopped:
            raise IlnError(
                f"stopped while challenger {name} learned the log: nothing was saved, and the next "
                "run begins that anew"
            )
    n, scored = watched.scores.n_labelled, watched.summary()
    log.info(f"challenger {name} has learned {n:,} events of the log: {scored}")
    if failures.n:
        log.warning(
            f"challenger {name} failed on {failures.n:,} events of its history, first at "
            f"{failures.first}"
        )


def start_after(
    history: Mapping[str, Any] | None, origin: StreamPartition, otherwise: Start = "earliest"
) -> Start:
    """Return where to begin in a partition: after files of history where the log went on then."""
    if history is None or str(origin) not in history["start"]:
        return otherwise
    return Resume(history["start"][str(origin)], None, accept_loss=True)


class Warmed(NamedTuple):
    """A learner that learned the history."""

    reader: Reader  # of the partitions that it will read
    history: dict[str, Any]  # describes what it learned

    @property
    def summary(self) -> str:
        """What was learned, how well it was predicted, and where the log goes on."""
        history = self.history
        return (
            f"history ({named(history)}): {history['n_events']:,} events, "
            f"{history['n_dead_letters']:,} dead letters; {history['scores']}; the log goes on at "
            + ", ".join(f"offset {at} of {p}" for p, at in history["start"].items())
        )


def warm_start(settings: Settings, console: Console | None = None) -> list[Warmed]:
    """Let each learner without snapshots learn the files of `warm_start`, and save it.

    The snapshot holds the learner with the position in the log at `start`, as it was before the
    files were read; `run` resumes there. Nothing is saved before the last file is learned: a
    warm start that is interrupted has no effect.

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
    stream = prepared_source(settings)
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
        with ExitStack() as opened:
            recovery = Recovery(settings, stream, reader)
            opened.callback(recovery.close)
            if recovery.header is not None:
                continue
            progress = watch(reader)
            if settings.start is None:
                raise SettingsError(
                    f"start: say where {stream.address} goes on after the history: earliest (all "
                    "that it holds), latest (what comes from now on), a time, like "
                    "2026-01-31T12:00:00Z, or an offset"
                )
            files = History(settings)
            # Opened first: `latest` is the end before the history.
            inputs = open_inputs(settings, stream, reader, recovery.start)
            for each in inputs:
                opened.callback(each.close)
            source = one_source(settings, stream, inputs)
            start = as_texts(source.positions)
            learner = recovery.learner()
            learner_state(learner, settings.snapshot_pickle)  # if it can't be saved, refuse it now
            Warming.of(learner).run()
            assembly = Assembly(settings, stream, source, learner, "live", horizon=reader.ahead)
            recovery.restore(assembly)
            history = files.teach(assembly, console, progress) | {"start": start}
            recovery.history = history
            # It saves the first snapshot.
            recovery.checkpoint(source, learner, assembly.states, flushes=[])
            yield Warmed(reader, history)


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
