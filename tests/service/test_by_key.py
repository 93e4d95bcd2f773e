"""A model for each key in a run."""

import json
import random
import sqlite3
from pathlib import Path

import pytest

import iln_stream
from iln_stream.errors import SnapshotError, StateError
from iln_stream.learners.keyed import KeyedRegressor
from iln_stream.service import Service, Settings, rebuild
from iln_stream.streams.sqlite import SqliteSink

FAST = {"learner_options": {"profile": "fast"}, "metrics_port": None, "stop_at_end": True}


def log_of(path: Path, n: int, form=lambda key, x, y: {"x": {"shop": key, **x}, "y": y}) -> str:
    """A log with events of seven shops; in turn, the season alone would foretell them."""
    sink = SqliteSink(path / "log.db", "events", 0)
    for t in random.Random(0).sample(range(n), n):
        event = form(str(t % 7), {"a": t % 5 / 5}, 10.0 * (t % 7) + t % 5)
        sink.write(None, json.dumps(event).encode())
    sink.flush()
    sink.close()
    return f"sqlite:{path / 'log.db'}"


def run(path: Path, source: str, **more) -> Settings:
    """Learn up to the end of the log."""
    settings = Settings(
        source=source, snapshots=str(path / "s"), **{"by_key": "shop", **FAST, **more}
    )
    Service(settings).run()
    return settings


def folder(path: Path) -> Path:
    """The folder of the snapshots."""
    (found,) = (path / "s").iterdir()
    return found


def test_a_run_resumes_with_its_keys(tmp_path):
    """Each key goes on where the run before ended; a loaded learner predicts with all of them."""
    source = log_of(tmp_path, 300)
    run(tmp_path, source, keys_in_memory=2)
    log_of(tmp_path, 200)
    run(tmp_path, source, keys_in_memory=5)
    learner = iln_stream.load(folder(tmp_path))
    assert isinstance(learner, KeyedRegressor)
    assert learner.n_keys == 7
    for shop in range(7):
        found = learner.described(str(shop))
        assert found.n_events == len(range(shop, 300, 7)) + len(range(shop, 200, 7))
        assert learner.predict_one({"shop": str(shop), "a": 0.4}) == pytest.approx(
            10 * shop + 2, abs=2
        )


def test_records_as_they_are(tmp_path):
    """A field that looks like a number is a key all the same, and no input."""
    source = log_of(tmp_path, 200, lambda key, x, y: {"shop": int(key), **x, "price": y})
    run(tmp_path, source, target="price")
    learner = iln_stream.load(folder(tmp_path))
    assert (learner.n_keys, learner.n_missing) == (7, 0)
    assert set(learner.prior.relevance) == {"a"}


@pytest.mark.parametrize("by_key", ["shop", "@key"])
def test_a_key_too_long_to_keep_is_a_dead_letter(tmp_path, by_key):
    """A document in the place of a key does not end the run at each checkpoint; the rest is
    learned."""
    sink = SqliteSink(tmp_path / "log.db", "events", 0)
    for t in range(60):
        key = "x" * 5000 if t == 30 else f"k{t % 7}"
        event = json.dumps({"x": {"shop": key, "a": t % 5}, "y": 1.0}).encode()
        sink.write(key.encode(), event)
    sink.flush()
    sink.close()
    letters = tmp_path / "dead.ndjson"
    run(tmp_path, f"sqlite:{tmp_path / 'log.db'}", by_key=by_key, dead_letters=f"file:{letters}")
    (letter,) = map(json.loads, letters.read_text().splitlines())
    assert f"key {by_key}: 5,000 characters" in letter["reason"]
    assert iln_stream.load(folder(tmp_path)).n_keys == 7


def test_a_rebuild_learns_the_keys_again(tmp_path):
    """It ends with the same states as the run, and its snapshots find them."""
    source = log_of(tmp_path, 300)
    settings = run(tmp_path, source)
    before = {str(k): iln_stream.load(folder(tmp_path)).described(str(k)) for k in range(7)}
    rebuild(settings)
    after = iln_stream.load(folder(tmp_path))
    assert {str(k): after.described(str(k)) for k in range(7)} == before
    log_of(tmp_path, 70)
    run(tmp_path, source)
    assert iln_stream.load(folder(tmp_path)).described("3").n_events == before["3"].n_events + 10


def test_a_run_without_its_file_of_keys_is_refused_until_rebuilt(tmp_path):
    """Nobody predicts with keys that are gone, and a resumed run does not take them for new ones; a
    rebuild learns them again."""
    source = log_of(tmp_path, 100)
    settings = run(tmp_path, source)
    before = [iln_stream.load(folder(tmp_path)).described(str(k)) for k in range(7)]
    (folder(tmp_path) / "keys.db").unlink()
    with pytest.raises(SnapshotError, match="keys"):
        iln_stream.load(folder(tmp_path))
    for _ in range(2):
        with pytest.raises(SnapshotError, match=r"keys\.db, which is not there: .*rebuild"):
            run(tmp_path, source)
    rebuild(settings)
    run(tmp_path, source)
    assert [iln_stream.load(folder(tmp_path)).described(str(k)) for k in range(7)] == before


def test_a_damaged_state_ends_the_run(tmp_path):
    """An event of a key whose state can't be read is no dead letter: it would never be learned."""
    source, letters = log_of(tmp_path, 100), tmp_path / "dead.ndjson"
    late = {"pending_events": 9, "pending_seconds": 0.001, "pending_expired": "learn"}
    more = {"dead_letters": f"file:{letters}", "pending_label": 0, **late}
    log_of(tmp_path, 1, lambda key, x, y: {"x": {"shop": key, **x}, "id": "waits"})
    run(tmp_path, source, **more)
    with sqlite3.connect(folder(tmp_path) / "keys.db") as file:
        file.execute("UPDATE keys SET state = CAST(state || x'00' AS BLOB)")
    log_of(tmp_path, 40, lambda key, x, y: {"x": x, "y": y})
    with pytest.raises(StateError, match="is damaged"):
        run(tmp_path, source, **more)
    assert not letters.read_text()


def test_another_key_is_another_learner(tmp_path):
    """A snapshot of another key is refused with what changed."""
    source = log_of(tmp_path, 10)
    run(tmp_path, source)
    with pytest.raises(iln_stream.IlnError, match="by_key was 'shop' and is 'a'"):
        run(tmp_path, source, by_key="a")
