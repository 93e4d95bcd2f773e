"""Lets a new challenger learn the log's history, up to where the other contenders are."""

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from prometheus_client.registry import CollectorRegistry

from iln_stream.contest import Contest
from iln_stream.errors import ContenderError, IlnError
from iln_stream.events import LEARNER_FAILED, DeadLetter
from iln_stream.listeners import LoggedProgress, Metrics, WarmUpProgress
from iln_stream.prequential import Listener, PrequentialLoop
from iln_stream.service.challengers import (
    Challenger,
    challengers_of,
    check_task,
    settings_of_challenger,
)
from iln_stream.service.decoding import build_decoder
from iln_stream.service.history import History, is_unchanged
from iln_stream.service.inputs import one_source, open_one
from iln_stream.service.labels import build_label_log
from iln_stream.service.learners import build_challenger, task_of
from iln_stream.service.loop_state import LoopState
from iln_stream.service.readers import Reader
from iln_stream.service.settings import Settings
from iln_stream.service.signals import stop_on_signals
from iln_stream.service.warming import Warming
from iln_stream.service.weights import build_weights
from iln_stream.snapshots import Positions, learner_state
from iln_stream.streams import Log, Resume, Scheme, Start

log = logging.getLogger(__name__)

_ANY_NUMBER = 2**63


class _Progress(LoggedProgress):
    """Logs progress, but no dead letters, which the run has written already."""

    def on_dead_letter(self, letter: DeadLetter) -> None:
        """Do nothing."""


class _Failures(Listener):
    """Counts the events on which a challenger failed, and stops if its policy says so."""

    def __init__(self, name: str, policy: str) -> None:
        self._name, self._policy = name, policy
        self.n = 0
        self.first = ""

    def on_dead_letter(self, letter: DeadLetter) -> None:
        """Count the failure."""
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
    own = settings_of_challenger(settings, challenger)
    with ExitStack() as opened:
        inputs: list[Log] = []
        for partition in reader.all_partitions:
            stop_at = positions.get(partition, 0)
            inputs.append(open_one(own, stream, partition, _start(history, partition), stop_at))
            opened.callback(inputs[-1].close)
        source = one_source(own, stream, inputs)
        task = task_of(learner)
        watched = Metrics(CollectorRegistry(), own.window).watch(learner, source, name, task)
        decoder = build_decoder(own, stream, task, labelled=own.labels is None)
        state = LoopState(own, task, watched, decoder)
        failures = _Failures(name, challenger.on_failure)
        if history is not None:
            listeners = [progress, failures]
            History(own).teach(learner, task, state, decoder, None, None, listeners, may_fail=True)
        loop = PrequentialLoop(
            source, learner, [_Progress(name), progress, watched, failures],
            _ANY_NUMBER, state.recent_ids, task=task, late=state.late, decoder=decoder,
            weights=build_weights(own, learner), labels=build_label_log(own, task),
        )  # fmt: skip
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
    scores = watched.scores
    scored = f": {scores.summary()}" if scores.n_labelled else ""
    log.info(f"challenger {name} has learned {scores.n_labelled:,} events of the log{scored}")
    if failures.n:
        log.warning(
            f"challenger {name} failed on {failures.n:,} events of its history, first at "
            f"{failures.first}"
        )


def _start(history: Mapping[str, Any] | None, partition: int) -> Start:
    """Return where to begin in a partition: after files of history where the others went on."""
    if history is None or str(partition) not in history["start"]:
        return "earliest"
    return Resume(history["start"][str(partition)], None, accept_loss=True)
