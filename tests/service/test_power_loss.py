"""Power loss: of the learner's folder only that is left which was synchronised before.

Every other order in which a disk may store writes leaves more. `os.fsync` is watched: of a file
it makes the content durable, and of a folder the names in it. The log is not lost: SQLite
synchronises it by itself.
"""

import json
import os
from pathlib import Path

import pytest
from support.embedded_log import append, settings_of
from support.saved_state import saved

from iln_stream.loop import Listener
from iln_stream.service import Service
from iln_stream.streams import NewRecord
from iln_stream.streams.sqlite import create_topic

N, N_IMAGES = 400, 6


class Disk(Listener):
    """What is durable in a folder; copies it after some events."""

    def __init__(self, top: Path, copies: Path, every: int) -> None:
        self._top, self._copies, self._every = top, copies, every
        self._contents: dict[int, bytes] = {}  # by number of the file
        self._names: dict[int, dict[str, int]] = {}  # by number of the folder
        self._n = 0
        self.images: list[Path] = []
        self._fsync = os.fsync

    def fsync(self, descriptor: int) -> None:
        """Synchronise a file or a folder, and note what is durable now."""
        self._fsync(descriptor)
        path = Path(f"/proc/self/fd/{descriptor}").readlink()
        number = os.fstat(descriptor).st_ino
        if path.is_dir():
            self._names[number] = {each.name: each.stat().st_ino for each in path.iterdir()}
        else:
            self._contents[number] = path.read_bytes()

    def on_step(self, step: object) -> None:
        self._n += 1
        if self._n % self._every == 0:
            image = self._copies / str(self._n)
            self._write(self._top.stat().st_ino, image)
            self.images.append(image)

    def _write(self, number: int, to: Path) -> None:
        to.mkdir(parents=True)
        for name, each in self._names.get(number, {}).items():
            if each in self._names:
                self._write(each, to / name)
            else:
                (to / name).write_bytes(self._contents.get(each, b""))


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs Linux's /proc")
def test_what_was_synchronised_is_enough(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that resumes after a power loss comes to the same learner and order as one that went
    on, wherever the power was lost: with snapshots and the journal of two partitions."""
    create_topic(path, "events", n_partitions=2)
    records = [
        NewRecord(json.dumps({"x": {"a": n % 7 / 7}, "y": n % 5}).encode(), key=str(n % 9))
        for n in range(N)
    ]
    top = tmp_path / "power"
    top.mkdir()
    disk = Disk(top, tmp_path / "images", every=N // N_IMAGES)
    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", disk.fsync)
        for part in (records[: N // 2], records[N // 2 :]):  # the order is no other run's
            append(path, part)
            settings = settings_of(path, snapshots=str(top / "state"), snapshot_seconds=0.001)
            Service(settings, listeners=[disk]).run()
    expected = saved(top / "state", "log-events", "all")
    assert len(disk.images) == N_IMAGES
    for image in disk.images:
        Service(settings_of(path, snapshots=str(image / "state"))).run()
        found = saved(image / "state", "log-events", "all")
        assert (found.learner, found.header.positions) == (
            expected.learner,
            expected.header.positions,
        ), image
