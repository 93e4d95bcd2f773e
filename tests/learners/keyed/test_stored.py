"""Keys in a file, of which few are in memory, as of checkpoints."""

import os
import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from iln_stream.errors import StateError
from iln_stream.learners import InfiniteLayerRegressor, model_of, state_of
from iln_stream.learners.keyed import KeyFile, KeysElsewhere, KeysToRead, StoredKeys, new_row
from iln_stream.learners.keyed.regressor import KeyedRegressor

SIZE = len(new_row(1))


def opened(path: Path, run: int = 1, live: int = 3, state=None, keep: int = 1) -> StoredKeys:
    """Keys of which three are in memory."""
    return StoredKeys(KeyFile(path / "keys.db", run), SIZE, live, keep, state)


def checkpointed(keys: StoredKeys):
    """Take a checkpoint, and return the state that its snapshot has."""
    state = keys.state()
    keys.capture()()
    keys.stored()
    return state


def killed(keys: StoredKeys) -> None:
    """End as by a kill: what was not written yet is lost."""
    keys._threads.shutdown()
    keys._file.close()


def values(keys: StoredKeys, names) -> dict[str, float | None]:
    """The first number of each key's state."""
    found = {name: keys.get(name) for name in names}
    return {name: None if row is None else float(row[0]) for name, row in found.items()}


def test_any_sequence_is_as_in_memory(tmp_path):
    """Whatever is read, learned, evicted, stored and restored: each key has its last state; after a
    kill that of the last checkpoint."""
    draw = random.Random(5)
    names = [f"k{i}" for i in range(40)]
    keys, run, state, n_evicted = opened(tmp_path, keep=3), 1, None, 0
    now: dict[str, float] = {}
    then: dict[str, float] = {}
    for step in range(6000):
        name = draw.choice(names)
        if draw.random() < 0.6:
            keys.to_learn(name)[0] = step
            now[name] = float(step)
        row = keys.get(name)
        assert (None if row is None else row[0]) == now.get(name)
        assert len(keys) == len(now)
        assert keys.n_live <= 3
        if draw.random() < 0.01:
            state, then = checkpointed(keys), dict(now)
        if draw.random() < 0.005:
            killed(keys)
            run, n_evicted = run + 1, n_evicted + keys.n_evicted
            keys, now = opened(tmp_path, run, 3, state, keep=3), dict(then)
    assert n_evicted > 500
    assert run > 10
    keys.close()


def test_a_checkpoint_that_is_not_completed_has_no_effect(tmp_path):
    """Killed after the keys were written and before the snapshot was: the next run begins at the
    checkpoint before."""
    keys = opened(tmp_path)
    keys.to_learn("a")[0] = 1.0
    state = checkpointed(keys)
    keys.to_learn("a")[0] = 2.0
    keys.to_learn("b")[0] = 2.0
    keys.capture()()
    killed(keys)
    keys = opened(tmp_path, 2, state=state)
    assert values(keys, "ab") == {"a": 1.0, "b": None}
    assert len(keys) == 1
    keys.close()


def test_an_older_snapshot_finds_its_states(tmp_path):
    """Of three kept snapshots each can be resumed from, as the newest may be damaged."""
    keys, states = opened(tmp_path, keep=3), []
    for n in range(6):
        keys.to_learn("a")[0] = n
        states.append(checkpointed(keys))
    keys.close()
    for run, n in enumerate((5, 4, 3), start=2):
        keys = opened(tmp_path, run, state=states[n], keep=3)
        assert values(keys, "a") == {"a": n}
        keys.close()


def test_only_changed_keys_are_written(tmp_path):
    """A checkpoint writes what was learned since the last one, and old states are removed."""
    keys = opened(tmp_path, live=100)
    for n in range(50):
        keys.to_learn(f"k{n}")
    checkpointed(keys)
    for _ in range(5):
        keys.to_learn("k7")
        keys.get("k8")
        checkpointed(keys)
    keys.close()
    with sqlite3.connect(tmp_path / "keys.db") as file:
        by_key = dict(file.execute("SELECT cast(key AS TEXT), count(*) FROM keys GROUP BY key"))
        generations = dict(
            file.execute("SELECT cast(key AS TEXT), max(generation) FROM keys GROUP BY key")
        )
    assert by_key == {f"k{n}": 2 if n == 7 else 1 for n in range(50)}
    assert (generations["k7"], generations["k8"]) == (6, 1)


def test_a_learner_that_begins_anew_has_no_keys(tmp_path):
    """A rebuild sees no states of the learner before, whose snapshots stay valid until its end."""
    old = opened(tmp_path, keep=2)
    old.to_learn("a")[0] = 1.0
    state = checkpointed(old)
    old.close()
    new = opened(tmp_path, 2, keep=2)
    assert (len(new), new.get("a")) == (0, None)
    new.to_learn("a")[0] = 2.0
    new.to_learn("b")[0] = 2.0
    killed(new)  # interrupted
    again = opened(tmp_path, 3, state=state, keep=2)
    assert values(again, "ab") == {"a": 1.0, "b": None}
    again.close()
    new = opened(tmp_path, 4, keep=2)
    for n in range(2):
        new.to_learn("b")[0] = n
        state = checkpointed(new)
    new.close()
    with sqlite3.connect(tmp_path / "keys.db") as file:
        assert file.execute("SELECT count(*) FROM keys WHERE key = x'61'").fetchone() == (0,)


def test_a_run_that_lost_the_file_writes_nothing(tmp_path):
    """A run that was stopped and continued, while a later one has begun, can't spoil its keys."""
    old = opened(tmp_path)
    old.to_learn("a")[0] = 1.0
    state = checkpointed(old)
    new = opened(tmp_path, 2, state=state)
    old.to_learn("a")[0] = 9.0
    with pytest.raises(StateError, match="later run, 2"):
        old.capture()()
    assert values(new, "a") == {"a": 1.0}
    new.close()


@pytest.mark.parametrize("key", ["", "a b", "\u00e4\n\0", "\udcff", "x" * 5000])
def test_any_text_is_a_key(tmp_path, key):
    """Keys may be empty, long, and bytes that are no UTF-8."""
    keys = opened(tmp_path)
    keys.to_learn(key)[0] = 1.0
    state = checkpointed(keys)
    keys.close()
    keys = opened(tmp_path, 2, state=state)
    assert values(keys, [key]) == {key: 1.0}
    keys.close()
    assert KeyFile(tmp_path / "keys.db").keys() == [key]


def test_another_file_is_refused(tmp_path):
    """What is no file of keys is an error that says what to do."""
    (tmp_path / "keys.db").write_bytes(b"no database" * 1000)
    with pytest.raises(StateError, match="rebuild"):
        opened(tmp_path)
    with pytest.raises(StateError, match="not there"):
        KeyFile(tmp_path / "other.db")


@pytest.mark.parametrize("suffix", ["", "-journal"])
def test_a_pipe_is_no_file_of_keys(tmp_path, suffix):
    """A pipe in place of the file, or of a file that SQLite reads beside it, is refused at once."""
    if suffix:
        opened(tmp_path).close()
    os.mkfifo(tmp_path / f"keys.db{suffix}")
    for run in (None, 1):
        with pytest.raises(StateError, match="not a regular file"):
            KeyFile(tmp_path / "keys.db", run)


def test_a_flipped_bit_is_never_silent(tmp_path):
    """Wherever a bit of the file or its write-ahead log flips: all states are right, or the file or
    the state is refused."""
    whole, names = tmp_path / "whole", [f"k{n}" for n in range(400)]
    whole.mkdir()
    keys = opened(whole, live=50)
    for generation in range(3):
        for n, name in enumerate(names):
            if n % 3 <= generation:
                keys.to_learn(name)[:] = generation + n
        state = checkpointed(keys)
        if generation == 1:
            keys._file._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    right = [keys.get(name).tobytes() for name in names]
    draw, n_refused = random.Random(1), 0
    for n in range(12):
        copy = tmp_path / f"{n}"
        shutil.copytree(whole, copy)
        damaged = copy / ("keys.db-wal" if n % 3 == 0 else "keys.db")
        content = bytearray(damaged.read_bytes())
        content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
        damaged.write_bytes(content)
        try:
            found = opened(copy, 2, state=state)
            assert [found.get(name).tobytes() for name in names] == right
        except StateError:
            n_refused += 1
    assert n_refused > 3
    keys.close()


def test_lost_keys_are_refused(tmp_path):
    """A file that was created anew, is an older copy, or has lost a key is not the snapshot's: the
    error names it and the remedy."""
    path, copies, state = tmp_path / "keys.db", {}, None
    for run in (1, 2):
        keys = opened(tmp_path, run, state=state)
        keys.to_learn("a")[0] = keys.to_learn("b")[0] = run
        state = checkpointed(keys)
        keys.close()
        copies[run] = path.read_bytes()
    path.write_bytes(copies[1])
    with pytest.raises(StateError, match=r"keys\.db lacks .* older copy; .*rebuild"):
        opened(tmp_path, 3, state=state)
    path.unlink()
    opened(tmp_path, 3).close()
    with pytest.raises(StateError, match=r"keys\.db lacks .* another file"):
        opened(tmp_path, 4, state=state)
    (tmp_path / "apart").mkdir()  # from the log of the file before
    (tmp_path / "apart" / "keys.db").write_bytes(copies[2])
    with sqlite3.connect(tmp_path / "apart" / "keys.db") as file:
        file.execute("DELETE FROM keys WHERE key = x'61'")
    for resumed in (state, of_an_older_release(state)):
        with pytest.raises(StateError, match=r"keys\.db has the states of 1 keys, .* 2 keys"):
            opened(tmp_path / "apart", 5, state=resumed)


def of_an_older_release(state):
    """The state as release 0.2.0 wrote it."""
    return {name: value for name, value in state.items() if name != "file"} | {"version": 1}


def test_a_file_of_an_older_release(tmp_path):
    """A file of release 0.2.0 has no checksums; states that are written get one."""
    keys = opened(tmp_path)
    for name in "ab":
        keys.to_learn(name)[0] = 1.0
    state = of_an_older_release(checkpointed(keys))
    keys.close()
    with sqlite3.connect(tmp_path / "keys.db") as file:
        file.execute("UPDATE keys SET state = substr(state, 9)")
        file.execute("DROP TABLE origin")
    assert KeysToRead(KeyFile(tmp_path / "keys.db"), state, SIZE).get("a")[0] == 1.0
    keys = opened(tmp_path, 2, state=state)
    keys.to_learn("a")[0] = 2.0
    state = checkpointed(keys)
    keys.close()
    keys = opened(tmp_path, 3, state=state)
    assert values(keys, "ab") == {"a": 2.0, "b": 1.0}
    keys.close()
    with sqlite3.connect(tmp_path / "keys.db") as file:
        file.execute("UPDATE keys SET state = CAST(state || x'00' AS BLOB)")
    keys = opened(tmp_path, 4, state=state)
    with pytest.raises(StateError, match=r"of key 'a' in .*keys\.db is damaged: .* checksum"):
        keys.get("a")
    keys.close()


def test_memory_and_file_are_one_learner(tmp_path):
    """With three keys in memory a learner is the same as with all, to the last bit."""

    def learner():
        return KeyedRegressor("key", InfiniteLayerRegressor("fast", seed=1))

    draw, few, all_keys = np.random.default_rng(1), learner(), learner()
    keys = StoredKeys(KeyFile(tmp_path / "keys.db", 1), few.size, 3)
    few.keep_keys_in(keys)
    for t in range(800):
        x = {"key": f"k{draw.integers(30)}", "a": float(draw.normal())}
        assert few.predict_one(x) == all_keys.predict_one(x)
        y = float(x["a"] + len(x["key"]))
        few.learn_one(x, y)
        all_keys.learn_one(x, y)
        if t % 100 == 50:
            state = state_of(few)
            keys.capture()()
            keys.stored()
    at_the_last = model_of(state)
    assert isinstance(at_the_last.keys, KeysElsewhere)
    assert at_the_last.n_keys == state["keys"]["n_keys"]
    with pytest.raises(StateError, match="use iln_stream"):
        at_the_last.predict_one({"key": "k1", "a": 0.0})
    file = KeyFile(tmp_path / "keys.db")
    at_the_last.keep_keys_in(KeysToRead(file, state["keys"], at_the_last.size))
    assert np.isfinite(at_the_last.predict_one({"key": "k1", "a": 0.0}))
    with pytest.raises(StateError, match="only predicts"):
        at_the_last.learn_one({"key": "k1", "a": 0.0}, 1.0)
    keys.close()


def test_a_checkpoint_has_the_states_of_its_time(tmp_path):
    """Keys that learn, or leave memory, while a checkpoint is written are written as they were."""
    keys = opened(tmp_path, live=3000)
    for n in range(3000):
        keys.to_learn(f"k{n}")[0] = 1.0
    state, written = keys.state(), keys.capture()
    for n in range(3000):
        keys.to_learn(f"k{n}")[0] = 2.0
    for n in range(100):
        keys.to_learn(f"new{n}")[0] = 2.0
    written()
    keys.stored()
    killed(keys)
    keys = opened(tmp_path, 2, live=5000, state=state)
    assert set(values(keys, [f"k{n}" for n in range(3000)]).values()) == {1.0}
    assert set(values(keys, [f"new{n}" for n in range(100)]).values()) == {None}
    keys.close()


def test_an_older_copy_below_a_newer_log_is_refused(tmp_path):
    """SQLite would put the write-ahead log that a kill left over the older copy, and keys would
    have the states of two times."""
    keys = opened(tmp_path)
    for k in range(50):
        keys.to_learn(f"k{k}")[0] = 1.0
    state = checkpointed(keys)
    keys.close()
    older = (tmp_path / "keys.db").read_bytes()
    keys = opened(tmp_path, 2, state=state)
    keys.to_learn("k3")[0] = 2.0
    state = checkpointed(keys)
    keys.close()
    keys = opened(tmp_path, 3, state=state)
    keys.to_learn("k9")[0] = 3.0
    state = checkpointed(keys)
    left = [(path, path.read_bytes()) for path in tmp_path.iterdir()]  # as after a kill
    assert any(path.name == "keys.db-wal" and content for path, content in left)
    keys.close()

    def put_back(content: bytes | None = None):
        for path, kept in left:
            path.write_bytes(kept)
        if content is not None:
            (tmp_path / "keys.db").write_bytes(content)
        return opened(tmp_path, 4, state=state)

    with closing(put_back()) as keys:
        assert values(keys, ["k3", "k9"]) == {"k3": 2.0, "k9": 3.0}
    with pytest.raises(StateError, match="is an older copy"):
        put_back(older)
    with pytest.raises(StateError, match="is an older copy"):
        KeyFile(tmp_path / "keys.db")  # to read only, as `serve` does


def forgetting(path: Path, run: int = 1, state=None, keep: int = 2, live: int = 3) -> StoredKeys:
    """Keys that are forgotten whose first number is below that of `now`."""
    keys = opened(path, run, live, state, keep)
    keys.forgets = lambda row: row[0] < keys.now
    keys.now = 0.0
    return keys


def n_stored(path: Path) -> int:
    with closing(sqlite3.connect(path / "keys.db")) as file:
        return file.execute("SELECT count(*) FROM keys").fetchone()[0]


def test_a_file_is_bounded_when_keys_come_and_go(tmp_path):
    """Of 20,000 keys of which 200 are not forgotten at any time, the file keeps few hundreds."""
    keys, most = forgetting(tmp_path, live=50), 0
    for n in range(20_000):
        keys.to_learn(f"k{n}")[0] = n + 1
        if n % 100 == 99:
            keys.now = n - 200.0
            checkpointed(keys)
            most = max(most, n_stored(tmp_path))
    assert most < 2_000
    assert len(keys) < 1_000
    assert keys.n_forgotten + len(keys) == 20_000
    keys.close()


def test_an_older_snapshot_still_has_the_forgotten_keys(tmp_path):
    """A key that ended after a snapshot is there again for a run that resumes from it, as long as
    the snapshot is kept; afterwards nothing of it is left."""
    keys, states = forgetting(tmp_path), []
    for name in "abcde":
        keys.to_learn(name)[0] = 1.0
    states.append(checkpointed(keys))
    keys.now = 2.0
    states += [checkpointed(keys) for _ in range(3)]
    assert [state["n_keys"] for state in states] == [5, 5, 5, 0]
    assert values(keys, "abcde") == dict.fromkeys("abcde")
    killed(keys)
    for run, n in ((2, 3), (3, 2)):
        keys = forgetting(tmp_path, run, states[n])
        assert values(keys, "abcde") == dict.fromkeys("abcde", None if n == 3 else 1.0)
        read = KeysToRead(KeyFile(tmp_path / "keys.db"), states[n], SIZE)
        assert (read.get("a") is None) == (n == 3)
        keys.close()
    keys = forgetting(tmp_path, 4, states[2])
    keys.now = 2.0
    for _ in range(6):
        checkpointed(keys)
    assert n_stored(tmp_path) == 0
    keys.close()


def test_keys_of_an_earlier_learner_do_not_end(tmp_path):
    """A learner that begins anew does not count the old keys of the one before, whose snapshot
    still has them."""
    keys = forgetting(tmp_path)
    keys.to_learn("a")[0] = 1.0
    state = checkpointed(keys)
    keys.close()
    keys = forgetting(tmp_path, 2)
    keys.now = 2.0
    checkpointed(keys)
    keys.capture()()
    assert len(keys) == 0
    keys.close()
    with closing(forgetting(tmp_path, 3, state)) as keys:
        assert values(keys, "a") == {"a": 1.0}
