"""Damages each stored file, and compares what resumes from it with what was never damaged.

Usage: python -m benchmarks.damage [--every 1] [--cases NAME ...] [--json FILE]

Each case is a small learner whose folder is copied while it learns, after some snapshots, as a kill
would leave it. For each file, kind and place of damage, the file is read as a run reads it. Once
for each content or error that this gives, and for each hundredth damage, a copy of the folder with
the damage is resumed to the end of the log. The result is *identical*, if learner and predictions
are those of the run that went on; *refused*, if the run ends with an error of ours; *as of a
shorter log*, where SQLite can't tell a cut log from one that a crash has torn; *differs*, if it is
none of these, which must not happen; or *failed*, if it ends with any other error or takes too
long. A refusal must name the file, its folder or its topic. What is only read, a published version,
a saved model and an export, is compared by its state; case `serve`, a version with its files of
keys, by what it predicts. Cases `log` and `labels` damage embedded logs.
"""

import argparse
import gc
import json
import logging
import os
import shutil
import signal
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, sleep
from typing import Any, NamedTuple

from benchmarks.speed.report import versions
from iln_stream import InfiniteLayerRegressor, load, save
from iln_stream.errors import IlnError
from iln_stream.files import read_stored
from iln_stream.learners import state_of
from iln_stream.learners.frozen import freeze_learner
from iln_stream.learners.frozen.predictors import FrozenRegressor
from iln_stream.learners.infinite_layer import accurate
from iln_stream.learners.keyed.aggregates import Aggregates
from iln_stream.learners.keyed.key_file import KEYS_FILE, KeyFile, StoredKeys
from iln_stream.learners.keyed.store import new_row
from iln_stream.loop import Listener, Step, pending
from iln_stream.service import Service, Settings
from iln_stream.service.decoding import build_aggregates
from iln_stream.service.learners import pool
from iln_stream.snapshots import Snapshot, SnapshotFolder
from iln_stream.snapshots.folder import BlockFolder
from iln_stream.snapshots.follower import Follower
from iln_stream.snapshots.loading import read_keys
from iln_stream.snapshots.publisher import Publisher
from iln_stream.state import to_bytes
from iln_stream.streams import NewRecord, Resume, StreamPartition, read_journal
from iln_stream.streams.sqlite import SqliteAppender, SqliteLog, create_topic

RESULTS = Path(__file__).parent / "results" / "damage.json"
PLACES = 400
"""Flipped bytes of a file that is not the newest of a kind that its case is for."""

RESUMED, LONGEST = 100, 60
"""One damage in so many is resumed whatever is read; seconds for a run, which takes 0.1 or less."""

PAGE = 4096
BEGIN = 1_767_225_600
"""POSIX seconds of the first event."""


class Case(NamedTuple):
    """A learner to resume.

    Parameters
    ----------
    name
        Its name.
    n_partitions
        Of the log.
    n
        Events before each of the snapshots, and after the last one.
    settings
        Of its run.
    kinds
        Suffixes of files; of the newest of each, every byte is flipped.
    delay
        Number of events after which a label comes; 0: with its event.

    """

    name: str
    n_partitions: int
    n: int
    settings: dict[str, Any]
    kinds: tuple[str, ...]
    delay: int = 0


DATABASE = (".db", ".db-wal")
AGGREGATES_FILE = "aggregates-1.db"
POOL = {"learner": "pool", "learner_options": {"size": 4}}
FORGOTTEN = {  # cards of eight events; in the file are ends of those that are forgotten
    "aggregates": {
        "n": {"by": "card", "how": "count"},
        "mean": {"by": "card", "how": "label_mean"},
    },
    "forget_keys_after": "15s",
    "target": "y",
    "time_field": "at",
    "ignore": ["card", "shop"],
    "keys_in_memory": 4,
}
CONTEST = {  # both have blocks, of the same events
    "learner": "infinite-layer",
    "challengers": {"other": {"learner": "infinite-layer", "seed": 2}},
}
CASES = (
    Case("log", 1, 10, POOL, DATABASE),
    Case("labels", 2, 10, {**POOL, "pending_events": 50}, (".journal",), delay=5),
    Case("keys", 1, 10, {"by_key": "shop", "learner_options": {"profile": "fast"}}, DATABASE),
    Case("aggregates", 1, 40, {**POOL, **FORGOTTEN}, DATABASE),
    Case("journal", 2, 10, POOL, (".snapshot", ".journal")),
    Case("blocks", 1, 70, {**POOL, "pending_events": 5_000}, (".npy",), delay=240),
    Case("contest", 1, 10, CONTEST, (".npy",)),
    Case("serve", 1, 40, {**FORGOTTEN, "ignore": ["card"], "by_key": "shop"}, DATABASE),
)


class Copy(Listener):
    """Copies a folder at the last event, before anything more is stored."""

    def __init__(self, folder: Path, to: Path, n: int) -> None:
        self._folder, self._to, self._left = folder, to, n

    def on_step(self, step: Step) -> None:
        self._left -= 1
        if not self._left:
            shutil.copytree(self._folder, self._to)


class Pause(Listener):
    """Waits after each event, so that snapshots are due."""

    def on_step(self, step: Step) -> None:
        sleep(0.005)


class Run:
    """A case in a folder of its own: `state` as at the kill, and what it comes to."""

    def __init__(self, case: Case, folder: Path) -> None:
        self.kinds = case.kinds
        self.files = {"log": "log.db*", "serve": "[ak]*.db*"}.get(case.name, "*")
        self._case, self._folder, self.state = case, folder, folder / "killed"
        self._settings = cache(self._settings_of)
        if case.delay:
            pending.BLOCK = 64  # events of a block
        if case.name == "contest":
            accurate.RING = 160  # events, in sixteen blocks
        going = folder / "state"
        logs = self._logs(going)
        self._create(logs)
        for name, of in ((KEYS_FILE, "by_key"), (AGGREGATES_FILE, "aggregates")):
            if of in case.settings:
                small_pages(going / "log-events-0" / name)
        self.older: Path | None = None
        for part in range(4):
            if part == 2:  # SQLite leaves what comes now in its write-ahead logs
                readers = [sqlite3.connect(path) for path in {*logs, *going.rglob("*.db")}]
                for reader in readers:
                    reader.execute("SELECT count(*) FROM sqlite_schema").fetchall()
            self._append(logs, part)
            if part == 3:
                self._learn(going, [Copy(going, self.state, case.n)])
            else:  # several snapshots, as forgotten keys end one after they were found
                forgets = "aggregates" in case.settings
                self._learn(going, [Pause()] if forgets else [], every=0.05 if forgets else 1e9)
            if part == 0:
                self.older = folder / "older"
                shutil.copytree(going, self.older)
        for reader in readers:
            reader.close()
        self.expected = self._found(going)
        cut = [log.name for log in logs if log.parent == going]
        self._shorter = {self._without(name, n) for name in cut for n in range(1, case.n + 1)}
        self.other = folder / "other"
        theirs = [log for log in self._logs(self.other) if log.parent == self.other]
        self._create(theirs)
        for part in range(4):
            self._append(theirs, part)
        self._learn(self.other)
        only = next(self.state.glob("log-events-*"))
        self._blocks, resumed = BlockFolder(only / "blocks"), SnapshotFolder(only).newest()
        assert resumed is not None
        self._resumed = resumed

    def _without(self, log: str, n: int) -> bytes:
        """Return what a run comes to whose log lacks the last records."""
        folder = self.state.with_name("shorter")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.state, folder)
        with closing(sqlite3.connect(folder / log)) as connection, connection:
            connection.execute(
                "DELETE FROM records_1 WHERE offset > (SELECT max(offset) FROM records_1) - ?", (n,)
            )
        self._learn(folder)
        return self._found(folder)

    def _logs(self, state: Path) -> list[Path]:
        """Return the log of events, and that of labels if there is one."""
        log = (state if self._case.name == "log" else self._folder) / "log.db"
        return [log, state / "labels.db"] if self._case.name == "labels" else [log]

    def _create(self, logs: Sequence[Path]) -> None:
        for log in logs:
            small_pages(log)
            n_partitions = 1 if log.name == "labels.db" else self._case.n_partitions
            create_topic(log, "events", n_partitions=n_partitions)

    def _append(self, logs: Sequence[Path], part: int) -> None:
        begin, delay = part * self._case.n, self._case.delay
        fields: list[tuple[int, dict[str, Any]]] = []
        for t in range(begin, begin + self._case.n):
            x = {"shop": f"s{t % 5}", "a": t * 7 % 11 / 11}
            y = t % 5 + x["a"]
            if "aggregates" in self._case.settings:
                fields.append((t, {**x, "card": f"c{t // 8}", "at": BEGIN + t, "y": y}))
                continue
            fields.append((t, {"x": x, "id": str(t)} if delay else {"x": x, "y": y}))
            if delay and t >= delay:
                fields.append((t, {"id": str(t - delay), "y": y}))
        for log in logs:
            ours = [
                NewRecord(json.dumps(each).encode(), key=str(t % 7))
                for t, each in fields
                if self._case.name != "labels" or (log.name == "labels.db") != ("x" in each)
            ]
            with closing(SqliteAppender(log, "events", "log")) as appender:
                for first in range(0, len(ours), 2):
                    appender.append(ours[first : first + 2])

    def _learn(
        self, folder: Path, listeners: list[Listener] | None = None, every: float = 1e9
    ) -> None:
        Service(self._settings(folder, every), listeners=listeners or []).run()

    def _settings_of(self, folder: Path, every: float = 1e9) -> Settings:
        log, *labels = self._logs(folder)
        return Settings(
            source=f"sqlite:{log}",
            labels=f"sqlite:{labels[0]}" if labels else None,
            publish=str(folder / "models") if self._case.name == "serve" else None,
            snapshots=str(folder),
            stop_at_end=True,
            metrics_port=None,
            snapshot_seconds=every,
            **self._case.settings,
        )

    def _found(self, folder: Path) -> bytes:
        """Return the learner and the waiting events, to the bit, and what it says of each key."""
        (only,) = folder.glob("log-events-*")
        snapshot = SnapshotFolder(only).newest()
        assert snapshot is not None
        state, learner = snapshot.state["learner"], load(only)
        x: list[dict[str, Any]] = [{f"shop=s{k}": 1.0, "a": k / 10} for k in range(8)]
        if "keys" in state:
            x = [{"shop": f"s{k}", "a": k / 10} for k in range(8)]
            for count in ("generation", "transactions"):  # a lost snapshot is not written again
                del state["keys"][count]
        predictions = [learner.predict_one(each) for each in x]
        waiting = snapshot.state["pending"]
        found = {"learner": state, "waiting": waiting, "predictions": predictions}
        if made := self._aggregates(snapshot):
            read_keys(made.by_file, only)
            cards = range(4 * self._case.n // 8)
            now = BEGIN + 4.0 * self._case.n
            found["aggregates"] = str([made({"card": f"c{k}"}, {}, now) for k in cards])
        return to_bytes(found)

    def _aggregates(self, snapshot: Snapshot) -> Aggregates | None:
        made = build_aggregates(self._settings(self._folder))
        if made is not None:
            made.restore(snapshot.state["decoder"]["aggregates"])
        return made

    def read(self, file: Path) -> bytes:
        """Return what a run reads from a copy of a file, with which it is alone."""
        found: Any = perf_counter()  # what is not read is resumed each time
        if file.suffix == ".snapshot":
            snapshot = Snapshot.from_bytes(read_stored(file), self._blocks.get)
            found = [str(snapshot.header), snapshot.state]
        elif file.suffix == ".npy":
            found = BlockFolder(file.parent).get(file.stem)
        elif file.suffix == ".journal":
            found = str(read_journal(file, ["log-events"], self._resumed.header.order_id))
        elif file.name.startswith(("log.db", "labels.db")):
            path = file.with_name(f"{file.name.partition('.')[0]}.db")
            stream, header = f"{path.stem}-events", self._resumed.header
            topic = header.topic_id if path.stem == "log" else header.labels_topic_id
            place = Resume(header.positions[StreamPartition(stream, 0)], topic)
            log = SqliteLog(path, "events", stream, start=place, stop_at_end=True)
            with closing(log):
                found = str([log.poll(0.0), log.exhausted])
        elif file.name.startswith(KEYS_FILE):
            found = [self._keys(file.with_name(KEYS_FILE), run) for run in (98, 99)]
        elif file.name.startswith(AGGREGATES_FILE):
            found = [self._keys(file.with_name(AGGREGATES_FILE), run) for run in (98, 99)]
        return to_bytes({"found": found})

    def _keys(self, path: Path, run: int) -> list[Any]:
        """Read each key's state and change it; return them and what is stored then."""
        made, state, size = self._aggregates(self._resumed), self._resumed.state, len(new_row())
        if made is not None:
            size = made.groups[0].size
            keys = state["decoder"]["aggregates"]["groups"][0]["keys"]
        else:
            keys = state["learner"]["keys"]
        with closing(KeyFile(path, run, must_exist=True)) as file:
            stored = StoredKeys(file, size, 100, state=keys)
            for key in [f"s{k}" for k in range(8)] + [f"c{k}" for k in range(30)]:
                stored.to_learn(key)[0] += 1.0
            stored.capture()()
            return [file.keys(), file.newest(), stored.sample(100)]

    def outcome(self, folder: Path) -> str:
        """Resume in a folder, and return what came of it."""
        self._learn(folder)
        found = self._found(folder)
        gc.collect()  # of what a run leaves, some has many bytes and few objects
        if found == self.expected:
            return "identical"
        return "as of a shorter log" if found in self._shorter else "differs"


def small_pages(path: Path) -> None:
    """Create an SQLite file with the smallest pages, so that it has few bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA page_size = 512")
        connection.execute("PRAGMA journal_mode = WAL")


class Served(Run):
    """A published version that is served with the files of keys that the run left."""

    def __init__(self, case: Case, folder: Path) -> None:
        super().__init__(case, folder)
        shutil.copytree(self.state, folder / "served")
        self.expected = self._served(folder / "served")

    def read(self, file: Path) -> bytes:
        """Return what is nowhere else: all is served each time."""
        return to_bytes({"found": perf_counter()})

    def outcome(self, folder: Path) -> str:
        """Serve from a folder, and return what came of it."""
        return "identical" if self._served(folder) == self.expected else "differs"

    def _served(self, folder: Path) -> bytes:
        """Return what a version predicts of each key, and the aggregates of each."""
        follower = Follower(folder / "models" / "log-events-0.model")
        follower.refresh()
        if (now := follower.current) is None:
            raise IlnError(str(follower.problem))
        if now.aggregates is None:
            raise IlnError(f"{folder}/log-events-0: requests have to give the aggregates")
        at = BEGIN + 4.0 * self._case.n
        known = [now.aggregates({"card": f"c{k}"}, {}, at) for k in range(4 * self._case.n // 8)]
        x = [{"shop": f"s{k}", "a": k / 10} for k in range(8)]
        return to_bytes({"found": str([known, [now.learner.predict_one(each) for each in x]])})


class Read:
    """A file that is only read, with what reads it."""

    files, kinds, other = "*", (".model", ".npz"), None

    def __init__(self, folder: Path, kind: str) -> None:
        self._kind = kind
        self._file = "events-0.model" if kind == "published" else "model.npz"
        self.state, self.older = folder / "killed", folder / "older"
        exported = kind == "exported"
        model = InfiniteLayerRegressor("fast", seed=1) if exported else pool(1, size=4)
        for path in (self.older, self.state):
            path.mkdir()
            for t in range(50):
                model.learn_one({"a": t % 7 / 7}, t % 7)
            if kind == "saved":
                save(model, path / self._file)
            elif exported:
                freeze_learner(model).save(path / self._file)
            else:
                with Publisher(path / self._file, model, seconds=3600.0) as publisher:
                    publisher.learned()
        self.expected = self.read(self.state / self._file)
        self.before = self.read(self.older / self._file)

    def read(self, file: Path) -> bytes:
        """Return the state of the learner in a file."""
        if self._kind == "exported":
            frozen = FrozenRegressor.load(file)
            return to_bytes({"parts": frozen.parts, "about": str((frozen.card, frozen.names))})
        if self._kind == "saved":
            return to_bytes(state_of(load(file)))
        follower = Follower(file)
        follower.refresh()
        if follower.current is None:
            raise IlnError(str(follower.problem))
        return to_bytes(state_of(follower.current.learner))

    def outcome(self, folder: Path) -> str:
        """Read the file in a folder; an older one that is whole is that learner at that time."""
        found = self.read(folder / self._file)
        if found == self.expected:
            return "identical"
        return "as it was then" if found == self.before else "differs"


def made(name: str, folder: Path) -> Run | Read:
    """Return the case of a name, in a folder of its own."""
    case = next((each for each in CASES if each.name == name), None)
    kind = Served if name == "serve" else Run
    found = Read(folder, name) if case is None else kind(case, folder)
    gc.freeze()
    return found


Damage = Callable[[Path], object]


def damages(
    file: Path, older: Path | None, other: Path | None, every: int, each_byte: bool
) -> Iterator[tuple[str, Damage]]:
    """Yield each damage to a file, with its kind; older and other files can take its place."""
    data = file.read_bytes()
    step = every * (1 if each_byte else len(data) // PLACES + 1)
    for place in range(0, len(data), step):
        changed = bytearray(data)
        changed[place] ^= 1 << place // step % 8
        yield "flipped bit", partial(Path.write_bytes, data=bytes(changed))
    for k in range(8):
        cut = len(data) * k // 8
        yield "cut", partial(os.truncate, length=cut)
    for begin in range(0, len(data), max(PAGE, len(data) // 8 // PAGE * PAGE)):
        zeros = data[:begin] + bytes(len(data[begin : begin + PAGE])) + data[begin + PAGE :]
        if zeros != data:
            yield "zero page", partial(Path.write_bytes, data=zeros)
    if data:
        yield "removed", Path.unlink
    for whose, instead in (("older", older), ("another run's", other)):
        if instead is not None and instead.is_file() and instead.read_bytes() != data:
            yield f"{whose} file", partial(shutil.copy, instead)
            if file.suffix == ".db":
                yield f"{whose} database", partial(_replace_database, instead)
    # Whoever reads the beginning of its own memory gets an input/output error, as of a bad disk.
    yield "read fault", lambda path: (path.unlink(), path.symlink_to("/proc/self/mem"))
    yield "pipe", lambda path: (path.unlink(), os.mkfifo(path))
    yield "folder", lambda path: (path.unlink(), path.mkdir())
    yield "link to nothing", lambda path: (path.unlink(), path.symlink_to("nothing"))
    yield "link to itself", lambda path: (path.unlink(), path.symlink_to(path.name))


def _replace_database(instead: Path, path: Path) -> None:
    for each in path.parent.glob(f"{path.name}-*"):
        each.unlink()
    shutil.copy(instead, path)


def _file_of(folder: Path | None, name: Path) -> Path | None:
    """Return the file of a name in a folder, or the last one of its kind there."""
    if folder is None or not name.suffix or (folder / name).exists():
        return folder and folder / name
    return max((folder / name).parent.glob(f"*{name.suffix}"), default=None)


def examine(
    run: Run | Read, work: Path, every: int
) -> tuple[dict[str, dict[str, Counter[str]]], list[str]]:
    """Damage each file; count the outcomes by kind of file and of damage, and list the bad ones.

    Files of a kind have the same suffix.
    """
    counts: dict[str, dict[str, Counter[str]]] = {}
    bad: list[str] = []
    ours = sorted(each for each in run.state.rglob(run.files) if each.is_file())
    for file in reversed(ours):  # the newest snapshot first
        name = file.relative_to(run.state)
        kind = file.suffix or file.name.partition("-")[0]
        older = None if run.older is None else run.older / name
        known: dict[bytes | str, str] = {}
        each_byte = kind in run.kinds and kind not in counts
        harms = damages(file, older, _file_of(run.other, name), every, each_byte)
        for number, (damage, harm) in enumerate(harms):
            alone = _empty(work / "damaged")
            for each in file.parent.glob(f"{file.name.removesuffix('-wal').removesuffix('-shm')}*"):
                shutil.copy(each, alone)
            seen = _attempt(run.read, alone / name.name, harm, alone / name.name)
            outcome = known.get(seen, "")
            if not outcome or not number % RESUMED:
                folder = _empty(work / "damaged") / "folder"
                shutil.copytree(run.state, folder)
                told = _attempt(run.outcome, folder, harm, folder / name)
                outcome, _, why = told.partition(" by ")
                base = name.name.removesuffix("-wal").removesuffix("-shm")
                if why and not any(n in why for n in (base, str((folder / name).parent), "topic ")):
                    outcome = f"refused without its name: {why}"
                before = known.setdefault(seen, outcome)
                # A run also writes: it may refuse what reads as before.
                if before != outcome and not {before, outcome} <= {"identical", "refused"}:
                    outcome += f", and {before} where the same was read"
            counts.setdefault(kind, {}).setdefault(damage, Counter())[outcome] += 1
            if outcome not in ("identical", "refused", "as it was then", "as of a shorter log"):
                bad.append(f"{name}, {damage} {number}: {outcome}")
    return counts, bad


def _empty(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


def _attempt(action: Callable[[Path], Any], path: Path, harm: Damage, harmed: Path) -> Any:
    """Harm a file; return what an action gives, or a text that names its error."""
    harm(harmed)
    signal.signal(signal.SIGALRM, signal.default_int_handler)  # also while it waits for a pipe
    signal.alarm(LONGEST)
    try:
        return action(path)
    except IlnError as error:
        return f"refused by {error}"
    except (Exception, KeyboardInterrupt) as error:
        return f"failed: {type(error).__name__}"
    finally:
        signal.alarm(0)


def main() -> int:
    """Examine the cases, print and store what was found; return 1 if anything was silent."""
    names = [*(case.name for case in CASES), "published", "saved", "exported"]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.damage", description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="flip so many times fewer bytes")
    parser.add_argument("--cases", nargs="+", choices=names, default=names)
    parser.add_argument("--json", type=Path, default=RESULTS)
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    stored: dict[str, Any] = {"cases": {}}
    with suppress(FileNotFoundError):
        stored = json.loads(options.json.read_text())
    for name in options.cases:
        with TemporaryDirectory() as temporary:
            folder = Path(temporary)
            counts, bad = examine(made(name, folder), folder, options.every)
        stored["versions"] = versions()
        stored["cases"][name] = {"every": options.every, "found": counts, "bad": bad}
        options.json.write_text(json.dumps(stored, indent=1) + "\n")
        print(name, json.dumps(counts, indent=1), *bad, sep="\n", flush=True)
    return int(any(stored["cases"][name]["bad"] for name in options.cases))


if __name__ == "__main__":
    raise SystemExit(main())
