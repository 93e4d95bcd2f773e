"""Learns the log again, to replace snapshots that no longer serve."""

import datetime as dt
import json
import logging
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console

from iln_stream.errors import NoStreamError, RefusedError, SnapshotError
from iln_stream.loop import Listener, NothingLearnedError
from iln_stream.loop.forgetting import EVENT, RECORD, Forgotten, place_of
from iln_stream.loop.live import LiveModel
from iln_stream.loop.progress import Progress
from iln_stream.records import payload_bytes
from iln_stream.service.assembly import Assembly
from iln_stream.service.checks import check_settings
from iln_stream.service.history import History
from iln_stream.service.http import serves_live
from iln_stream.service.learners import build_details
from iln_stream.service.recovery import Recovery, folder_of, history_of
from iln_stream.service.settings import Settings
from iln_stream.service.streams import (
    Reader,
    dead_letters_address,
    forgets_of,
    label_stream,
    one_source,
    open_one,
    output_stream,
    readers,
    source_stream,
    start_of,
)
from iln_stream.service.warm_start import named, start_after
from iln_stream.service.warming import Warming
from iln_stream.service.worker import published_name
from iln_stream.settings import SettingsError
from iln_stream.snapshots import Snapshot, SnapshotFolder
from iln_stream.snapshots.versions import Versions
from iln_stream.streams import Log, Record, Scheme, Selection, StreamPartition, as_texts
from iln_stream.streams.sqlite import erase
from iln_stream.streams.sqlite.scheme import SqliteScheme


class Loss(NamedTuple):
    """Compares what the log holds with what the state before a rebuild had learned."""

    where: str  # the partitions, for messages
    n_before: int | None  # events that were learned or predicted; None: no snapshot can be read
    n_records: int  # what these events, repeats and commands were at least
    n_later: int  # offsets that the rebuild leaves to the next run
    n_labelled: int = 0  # labels that were learned

    @classmethod
    def of(cls, before: Snapshot | None, reader: Reader, n_later: int) -> "Loss":
        """Return the comparison with the newest readable snapshot; None: there is none."""
        many = "partitions" if len(reader.partitions) > 1 else "partition"
        where = f"{many} {', '.join(map(str, reader.partitions))}"
        if before is None:
            return cls(where, None, 0, n_later)
        counts = before.state["counts"]
        scores = counts["scores"]
        n_before = scores["n_events"]
        # Not dead letters: with late labels, one record may become several.
        others = counts["n_repeats"] + counts["n_commands"] + counts.get("n_skipped", 0)
        return cls(where, n_before, n_before + others, n_later, scores["n_labelled"])

    def refuse(self, n_held: int) -> None:
        """Refuse to forget what is not among the records that the log holds at most."""
        if n_held + self.n_later >= self.n_records:
            return
        raise RefusedError(
            f"{self.where}: the model has learned {self.n_before} events, and of its "
            f"{self.n_records} or more records the log holds only {n_held}, from where learning "
            "begins: a rebuild would forget the others for ever. The model was not changed. Keep "
            "it, with the settings that it was learned with (--accept-loss skips records that were "
            "deleted before it learned them); or forget it, with `iln-stream rebuild --forget`, "
            "also beside a --forget FIELD=VALUE"
        )

    def refuse_without_labels(self, n_tried: int, n_labelled: int) -> None:
        """Refuse to replace a model that has learned by one that tried records and learned none."""
        if n_labelled or not n_tried or not self.n_labelled:
            return
        raise NothingLearnedError(
            f"{self.where}: with these settings none of {n_tried} records has a label that could "
            f"be learned, and the model has learned {self.n_labelled}. The model was not changed. "
            "Correct the settings of the label; if one that names a field is new, such as "
            "time_features: the first of these lets records be read by their own fields, also "
            'events {"x": {...}, "y": ...}, so set target, too (`iln-stream inspect-source` '
            "proposes settings), or unset it"
        )

    def learned_again(self, n_events: int) -> str:
        """Return a sentence on a completed rebuild that learned `n_events`."""
        n = self.n_before
        before = "can not be read" if n is None else f"had {n}"
        more = n is not None and n < n_events
        hint = "; what an earlier rebuild left out needs the same --skip again" * more
        return f"{self.where}: learned {n_events} events; the state before {before}{hint}"


class RebuildPositions:
    """The offset before which a rebuild has read each partition, by the newest snapshots.

    A rebuild writes no dead letters. A letter of a record that it has read is therefore older than
    the model, which has learned the record if the settings now fit.
    """

    def __init__(self, settings: Settings, stream: Scheme) -> None:
        self._before: dict[StreamPartition, int] = {}
        if settings.snapshots is None:  # then there was no rebuild
            return
        for reader in readers(settings, stream):
            folder = folder_of(settings, stream, reader)
            found = SnapshotFolder(folder).stored() if folder.is_dir() else []
            for origin, offset in found[-1].header.rebuilt.items() if found else ():
                self._before[origin] = max(offset, self._before.get(origin, 0))

    def has(self, stream: str, partition: int, offset: int) -> bool:
        """Return whether a rebuild has read the record."""
        return offset < self._before.get(StreamPartition(stream, partition), 0)


@dataclass
class Erasure:
    """Values to forget (`FIELD=VALUE`, `@key=VALUE`), what was found, and what was removed.

    It `removes` records of values of an interrupted command, too; the `report` has a line for each
    place, also for those that others have to clean.
    """

    values: Sequence[str] = ()
    report: list[str] = field(default_factory=list)
    removes: bool = False
    _folders: set[str] = field(default_factory=set)
    _places: dict[str, None] = field(default_factory=dict)  # STREAM:PARTITION:OFFSET

    def find(self, settings: Settings, stream: Scheme, readers: Sequence[Reader]) -> None:
        """Find the records of these values, and of those that were forgotten before.

        Raises
        ------
        SettingsError
            When a value is none.

        """
        forgotten = self._forgotten = Forgotten(Path(str(settings.snapshots)))
        for each in self.values:
            name, equals, value = each.partition("=")
            if not (name and equals and value):
                raise SettingsError(f"--forget {each}: give FIELD=VALUE, or @key=VALUE")
            if name == RECORD and not _PLACE.fullmatch(value):
                raise SettingsError(f"--forget {each}: give a place, like {RECORD}=events:0:43")
            forgotten.add(name, value)
        self._folders = {folder_of(settings, stream, each).name for each in readers}
        self.removes = bool(self.values) or bool(self._folders & forgotten.unfinished)
        forgets = forgets_of(settings, settings, stream, forgotten) if self.removes else None
        if forgets is None:
            return
        pairs = [(name, value) for name, _, value in (v.partition("=") for v in self.values)]
        texts = [form for name, value in pairs if name != RECORD for form in _forms(value)]
        ids, unread, places = set[str | None](), dict[str, None](), self._places
        for record in _records(settings, stream, readers):
            has, record_id, can_read = forgets.read(record)
            if has:
                places[place_of(record)] = None
                ids.add(record_id)
            elif not can_read and _contains(payload_bytes(record.payload), texts):
                unread[place_of(record)] = None
        ids.discard(None)
        n_events = len(places)
        for record in _records(settings, stream, readers) if ids else ():
            if forgets.read(record)[1] in ids:
                places[place_of(record)] = None
        for event_id in sorted(map(str, ids)):
            forgotten.add(EVENT, event_id)
        n_labels = len(places) - n_events
        self.report.append(f"found {n_events} records with the values, and {n_labels} labels")
        for name, value in pairs:
            if name == RECORD:
                places[value] = None  # a dead letter may be left where there is no record
            if not forgotten.was_found(name, value):
                right = "place" if name == RECORD else "field's name"
                self.report.append(f"no record has {name}={value}: is the {right} right?")
        for _, _, place, letter in _made_in(_letters(settings)) if texts else ():
            said = f"{letter.get('payload')} {letter.get('reason')}".encode()
            if place not in places and _contains(said, texts):
                unread[place] = None
        if unread:
            flags = " ".join(f"--forget {RECORD}={place}" for place in islice(unread, _MOST_NAMED))
            self.report.append(
                f"not removed: {len(unread)} records that can't be decoded, or their dead letters, "
                f"contain a value. Remove them with `iln-stream rebuild {flags}`, same settings"
                f"{', and again for the others' if len(unread) > _MOST_NAMED else ''}"
            )
        if not pairs:
            self.report.append(
                "records that can't be decoded were not searched, as digests do not say for what: "
                "give the --forget of the interrupted command again"
            )

    def begin(self) -> None:
        """Remember the values; a run of these learners is refused from now on until `finish`."""
        self._forgotten.unfinished |= self._folders
        self._forgotten.save()

    def finish(self, settings: Settings, stream: Scheme, readers: Sequence[Reader]) -> None:
        """Remove what the learners had read, published and written of the records."""
        self._erase_records(settings, stream)
        self._remove_versions(settings, stream, readers)
        forgotten = Forgotten(Path(str(settings.snapshots)))  # others may have added to it
        forgotten.unfinished -= self._folders
        forgotten.save()

    def _erase_records(self, settings: Settings, stream: Scheme) -> None:
        """Remove the records from the logs that are ours, with what was published of them.

        Events come last: only by them can another command find the rest after an interruption.
        """
        published = settings.predictions
        predictions = None if published in (None, "-") else output_stream(settings, published)
        for output in (predictions, _letters(settings)):
            with suppress(NoStreamError):
                made = _made_in(output)
                self._erase(output, [(p, at) for p, at, place, _ in made if place in self._places])
        for each in (label_stream(settings), stream):
            places = (place.rsplit(":", 2) for place in self._places)
            here = [(int(p), int(at)) for name, p, at in places if each and name == each.name]
            self._erase(each, here)
        if settings.warm_start:
            self.report.append(f"{', '.join(settings.warm_start)}: their records were left out; "
                               "the files are yours to clean")  # fmt: skip
        self.report.append("answers that `iln-stream serve` recorded, copies and backups: yours")

    def _erase(self, stream: Scheme | None, places: Iterable[tuple[int, int]]) -> None:
        if isinstance(stream, SqliteScheme):
            found: dict[int, list[int]] = {}
            for partition, offset in places:
                found.setdefault(partition, []).append(offset)
            # Without places, too: an interrupted command may have left some in the write-ahead log.
            n = erase(stream.path, stream.topic, found)
            self.report.append(f"{stream.address}: {n} records erased")
        elif stream is not None:
            self.report.append(f"{stream.address} is not ours: nothing was removed there; delete "
                               "the records, or let its retention do so")  # fmt: skip

    def _remove_versions(
        self, settings: Settings, stream: Scheme, readers: Sequence[Reader]
    ) -> None:
        """Remove published versions, and report folders of learners that were not rebuilt."""
        if (folder := settings.publish) is not None:
            names = [published_name(stream, each) for each in readers]
            n = sum(Versions(Path(folder) / f"{name}.model").forget() for name in names)
            self.report.append(
                f"{folder}: {n} versions removed; `iln-stream serve` predicts with what it has "
                "loaded until the next run publishes"
            )
        found = {file.parent for file in Path(str(settings.snapshots)).glob("*/*.snapshot")}
        for each in sorted(each for each in found if each.name not in self._folders):
            self.report.append(f"{each}: learned with other settings; rebuild or delete it")


_PLACE = re.compile(r".+:\d+:\d+")
_MOST_NAMED = 20


def _forms(text: str) -> Iterator[bytes]:
    """Yield how a text may be written in bytes that can't be decoded."""
    yield json.dumps(text)[1:-1].encode()
    for encoding in ("utf-8", "utf-16-le", "utf-16-be", "latin-1"):
        with suppress(UnicodeError):
            yield text.encode(encoding)


def _contains(payload: bytes, texts: Iterable[bytes]) -> bool:
    return any(text in payload for text in texts)


def _letters(settings: Settings) -> Scheme | None:
    """Return where dead letters are; None: not in a stream."""
    address = dead_letters_address(settings)
    return None if address == "-" else output_stream(settings, address)


def _made_in(stream: Scheme | None) -> Iterator[tuple[int, int, str, dict[str, Any]]]:
    """Yield partition and offset of predictions or dead letters, the record's place, and them.

    None, if we can't remove them.
    """
    if not isinstance(stream, SqliteScheme):
        return
    with suppress(NoStreamError):
        for partition in stream.partitions():
            for record in _all_of(stream.log(partition, "earliest", sys.maxsize)):
                with suppress(ValueError, KeyError, TypeError):
                    made: Any = json.loads(record.payload)  # type: ignore[arg-type]
                    place = f"{made['stream']}:{made['partition']}:{made['offset']}"
                    yield partition, record.offset, place, made


def _records(settings: Settings, stream: Scheme, readers: Sequence[Reader]) -> Iterator[Record]:
    """Yield all records of the logs of some learners, up to the present ends."""
    for origin in dict.fromkeys(origin for each in readers for origin in each.origins):
        yield from _all_of(open_one(settings, stream, origin, "earliest", sys.maxsize))


def _all_of(opened: Log) -> Iterator[Record]:
    with closing(opened):
        while not opened.exhausted:
            yield from opened.poll(0.2)


log = logging.getLogger(__name__)

Skip = Mapping[StreamPartition, Sequence[range]]
"""Offsets to skip, by partition."""


def rebuild(
    settings: Settings,
    until: int | dt.datetime | None = None,
    skip: Skip | None = None,
    *,
    forget: bool = False,
    accept_loss: bool = False,
    erasure: Erasure | None = None,
    console: Console | None = None,
) -> list[dict[StreamPartition, int]]:
    """Let each reader's new learner learn the log again, up to the position of its snapshots.

    A rebuild publishes nothing: the predictions and dead letters of these records are stored
    already, and `run` resumes at the position of the snapshots. It saves nothing before the end,
    so an interrupted rebuild has no effect. New snapshots replace the old ones. If the log no
    longer holds all that the old state learned, nothing is replaced without `forget`. Several
    partitions are learned in the order in which they arrive now. Learning begins at `start`; if
    that is `latest`, at the first record that the log still holds. A learner that learned files
    before the log learns those of `warm_start` again, and the log from where it began then.

    Parameters
    ----------
    settings
        Settings of the run.
    until
        Learn only records before it: an offset in a single partition, or a time. `run` resumes
        there, and learns and publishes the later records again; with `transactional` it publishes
        only those that are not committed yet.
    skip
        Records that are neither learned nor counted.
    forget
        Replace the old state even if the log no longer holds all that it learned.
    accept_loss
        Go on even if retention deleted records before they were learned.
    erasure
        Values whose records are forgotten for good, here and in each later run. They are removed
        from logs that are ours, snapshots, published versions and files of keys, of which those
        before are gone if this is interrupted: a run is refused then until a rebuild is complete.
    console
        Draws progress if it is a terminal; otherwise the log has a line every ten seconds.

    Returns
    -------
    list of dict
        For each reader the positions from which `run` resumes.

    Raises
    ------
    SnapshotError
        When there are no snapshots to rebuild.
    RefusedError
        When the log no longer holds all that the old state learned, and `forget` is not set.
    NothingLearnedError
        When no record has a label with these settings, and the old state had learned some.
    SettingsError
        When the settings do not fit together, `until` or `skip` does not fit the partitions, or
        `skip` lies beyond the rebuild.

    """
    if settings.snapshots is None:
        raise SnapshotError("snapshots: name the folder to rebuild")
    check_settings(settings)
    stream = source_stream(settings)
    stream.wait()
    if (labels := label_stream(settings)) is not None:
        labels.wait()
    skip = skip or {}
    parts = readers(settings, stream, accepts_loss=accept_loss)
    origins = {origin for each in parts for origin in each.origins}
    if isinstance(until, int) and len(origins) > 1:
        raise SettingsError(
            f"until = {until}: an offset needs a single partition, and {len(origins)} are "
            "learned; give a time, like 2026-01-31T12:00:00Z"
        )
    if strangers := sorted(skip.keys() - origins):
        learned = ", ".join(map(str, sorted(origins)))
        raise SettingsError(f"skip: {strangers[0]} is not learned; give one of {learned}")
    erasure = erasure or Erasure()
    erasure.find(settings, stream, parts)
    work = _Rebuild(settings, stream, until, skip, forget, erasure, console)
    if erasure.removes or not forget:
        work.check(parts)  # before the first one is replaced
    if erasure.removes:
        erasure.begin()
    done = [work.learn_again(each) for each in parts]
    if erasure.removes:
        erasure.finish(settings, stream, parts)
    return done


class _Opened(NamedTuple):
    """A reader's snapshots, and the records to learn again."""

    recovery: Recovery
    inputs: Sequence[Selection]
    n_offsets: int
    loss: Loss


class _Rebuild(NamedTuple):
    """What `rebuild` was asked for."""

    settings: Settings
    stream: Scheme
    until: int | dt.datetime | None
    skip: Skip
    forget: bool
    erasure: Erasure
    console: Console | None

    def check(self, parts: Sequence[Reader]) -> None:
        """Refuse what no reader can learn again, or would forget."""
        for each in parts:
            with ExitStack() as opened:
                found = self._open(each, opened)
                if not self.forget:
                    found.loss.refuse(found.n_offsets)

    def learn_again(self, reader: Reader) -> dict[StreamPartition, int]:
        """Replace a reader's snapshots by one of a new learner; return its positions."""
        settings, stream, erasure = self.settings, self.stream, self.erasure
        with ExitStack() as opened:
            recovery, inputs, n, loss = self._open(reader, opened)
            source = one_source(settings, stream, inputs)
            if erasure.removes:
                recovery.remove_keys()
            learner = recovery.learner()
            Warming.of(learner, self.console).run()
            assembly = Assembly(settings, stream, source, learner, "rebuilt", horizon=reader.ahead)
            recovery.restore(assembly)
            watched = assembly.watched
            observers: list[Listener] = [watched]
            if serves_live(settings):
                assembly.live = LiveModel(watched)
                assembly.live.champion = getattr(learner, "champion", None)
                observers.append(assembly.live)
            if settings.warm_start:
                began = as_texts(source.positions)
                recovery.history = History(settings).teach(assembly) | {"start": began}
            checkpoint = recovery.checkpoint(source, learner, assembly.states, [], at_the_end=True)
            observers.append(Progress(watched, self.console, n, f"{stream.name}, learned again"))
            opened.callback(observers[-1].close)
            # Coverage counts intervals; nobody reads explanations.
            details = build_details(learner, settings.prediction_intervals)
            assembly.loop(observers, checkpoint, details).run()
            positions = {origin: at for each in inputs for origin, at in each.positions.items()}
            if not self.forget:
                loss.refuse(sum(each.n_read for each in inputs))
            if not erasure.removes:  # the labels may all be forgotten
                n_tried = watched.scores.n_events + watched.n_dead_letters
                loss.refuse_without_labels(n_tried, watched.scores.n_labelled)
            checkpoint.move_to(positions)  # the last records may have been skipped
            checkpoint.finish(always=True)
            if erasure.removes:
                n_removed = recovery.folder.remove_others()
                erasure.report.append(
                    f"{recovery.folder.path}: {n_removed} older snapshots removed; "
                    "keys, aggregates and waiting events learned anew"
                )
            _log_skipped(inputs)
            log.info(loss.learned_again(watched.scores.n_events))
            log.info(f"the rebuilt learner: {watched.summary()}")
            return positions

    def _open(self, reader: Reader, opened: ExitStack) -> _Opened:
        settings, stream = self.settings, self.stream
        # With `latest`, the first run began at the end of the log, which no one knows any more.
        start = start_of(settings, accept_loss=reader.accepts_loss)
        if start is None or start == "latest":
            start = "earliest"
        recovery = Recovery(settings, stream, reader, forget=True)
        opened.callback(recovery.close)
        reached = recovery.reached
        history = _history(settings, recovery)
        inputs: list[Selection] = []
        rebuilt: dict[StreamPartition, int] = {}
        n_offsets = n_later = 0
        for origin in reader.origins:
            stop_at = self._stop_at(origin, reached.get(origin, 0))
            n_later += reached.get(origin, 0) - stop_at
            skipped = self.skip.get(origin, ())
            if later := [each.stop - 1 for each in skipped if each.stop > stop_at]:
                raise SettingsError(
                    f"skip: offset {later[0]} of {origin} is beyond the rebuild, and "
                    f"`iln-stream run` would learn it: name offsets before {stop_at}"
                )
            begin = start_after(history, origin, start)
            log_of_one = open_one(settings, stream, origin, begin, stop_at)
            opened.callback(log_of_one.close)
            if recovery.is_of_another_topic(origin, log_of_one.topic_id):
                log_of_one.stop_here()
            else:
                n_offsets += max(0, stop_at - log_of_one.positions[origin])
                # Not `stop_at`: `run` reads the later records again, and writes new dead letters.
                rebuilt[origin] = reached.get(origin, 0)
            inputs.append(Selection(log_of_one, skipped))
        recovery.rebuilt = rebuilt
        loss = Loss.of(recovery.newest_readable, reader, n_later)
        return _Opened(recovery, inputs, n_offsets, loss)

    def _stop_at(self, origin: StreamPartition, reached: int) -> int:
        """Return the offset at which to stop learning a partition again."""
        if self.until is None:
            return reached
        if isinstance(self.until, int):
            return min(reached, self.until)
        with closing(open_one(self.settings, self.stream, origin, self.until)) as at_the_time:
            return min(reached, at_the_time.positions[origin])


def _history(settings: Settings, recovery: Recovery) -> dict[str, Any] | None:
    """Return the history of the snapshots; refuse to forget it."""
    snapshot = recovery.newest_readable
    history = None if snapshot is None else history_of(snapshot.header)
    if history is not None and not settings.warm_start:
        raise SettingsError(
            f"warm_start: the learner learned {named(history)} before the log: name the files, to "
            "learn them again first; or, for a learner without them, start over in another folder "
            "of snapshots"
        )
    return history


def _log_skipped(inputs: Sequence[Selection]) -> None:
    for each in inputs:
        for origin in each.positions:
            offsets = [str(r.start) if len(r) == 1 else f"{r.start}-{r[-1]}" for r in each.skipped]
            if offsets:  # formatted here, so that no line counts as a repeat of another
                log.info(f"{origin}: skipped offsets {', '.join(offsets)}")
