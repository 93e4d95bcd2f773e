"""`Versions`: which published versions are kept, and the pin."""

from pathlib import Path

import pytest

from iln_stream.errors import SnapshotError
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor
from iln_stream.snapshots.follower import Follower
from iln_stream.snapshots.publisher import Publisher
from iln_stream.snapshots.versions import Versions
from iln_stream.streams import StreamPartition


@pytest.fixture
def publish(path):
    """Return a function that learns an event for each of n versions, whose age it decides."""
    learner = InfiniteLayerRegressor(profile="fast", seed=1)

    def publish(n, keep=2, seconds=1e-9, days=None, **options):
        versions = Versions(path, keep, seconds, days)
        options |= {"positions": {StreamPartition("", 0): learner.n_learned}, "resumable": True}
        options |= {"n_learned": lambda: learner.n_learned, "versions": versions}
        with Publisher(path, learner, **options) as publisher:
            for k in range(n):
                learner.learn_one({"a": float(k)}, float(k))
                publisher._due = 0.0
                publisher.learned()
                publisher._writer.wait()
        return versions

    return publish


def test_kept_by_count_and_age(publish):
    """The newest ones that are far enough apart are kept, so many and so long; one that is pinned
    without limit."""
    assert publish(3, keep=2, seconds=3600.0).kept() == [1]
    assert publish(3, keep=2).kept() == [5, 6]
    versions = publish(1, keep=0)
    assert versions.kept() == [5, 6]
    versions.pin(5)
    assert publish(3, keep=2).kept() == [5, 9, 10]
    versions.unpin()
    assert publish(1, keep=2).kept() == [10, 11]
    versions.pin(10)
    assert publish(2, keep=9, days=1e-9).kept() == [10, 13]


def test_what_a_change_replaces_is_kept(publish):
    """The last version before a promotion, and before other settings, is there to go back to."""
    publish(2, seconds=3600.0, name="a")
    assert publish(1, seconds=3600.0, configuration="other").kept() == [1, 2]
    champions = iter("aabcc")
    learner = InfiniteLayerRegressor(profile="fast", seed=1)
    versions = publish(3, 9, 3600.0, configuration="other",
                       champion=lambda: (next(champions), learner))  # fmt: skip
    assert versions.kept() == [1, 2, 4, 5]


def test_numbers_are_never_used_again(path, publish):
    """If the newest version is lost, as with the power, numbers go on after the kept ones."""
    assert publish(3).kept() == [2, 3]
    path.unlink()
    assert publish(1).kept() == [3, 4]


def test_followers_predict_with_the_pinned_version(path, publish):
    """A pin holds for running followers and later ones, while learning goes on, until it is
    lifted; they know how far the learner is."""
    running = Follower(path)
    publish(3)
    assert running.refresh()
    assert (running.current.header.version, running.current.pinned) == (3, False)
    Versions(path).pin(2)
    assert running.refresh()
    publish(3)
    for follower in (running, Follower(path), Follower(path, pin=2)):
        follower.refresh()
        assert (follower.current.header.version, follower.current.pinned) == (2, True)
        assert follower.current.header.n_learned == 2
        assert follower.reached == {("", 0): 6}
    assert Follower(path, pin=6).refresh()
    Versions(path).unpin()
    assert running.refresh()
    assert (running.current.header.version, running.current.pinned) == (6, False)


@pytest.mark.parametrize(
    ("n", "keep", "there"), [(0, 5, "none: "), (3, 2, "2, 3: "), (1, 0, "none: ")]
)
def test_a_pin_of_no_version(path, publish, n, keep, there):
    """Who pins a number that is none reads which there are, and where they are listed."""
    if n:
        publish(n, keep=keep)
    follower = Follower(path, pin=7)
    assert not follower.refresh()
    assert f"no version 7 is kept, but {there}" in follower.problem
    assert f"`iln-stream versions {path.parent}`" in follower.problem
    assert "leave out --pin" in follower.problem


def test_without_a_number_to_keep_nothing_is_kept(path, publish):
    """Not even what a change replaces, as nobody would remove it."""
    publish(1, keep=0)
    publish(1, keep=0, configuration="other")
    assert not Versions(path).folder.exists()


def test_versions_that_cannot_be_kept(path, publish, caplog):
    """As with a damaged pin: a run starts, what it publishes is published once; it is counted, and
    logged once."""
    versions = publish(2)
    spoil_pin(versions)
    learner = InfiniteLayerRegressor(profile="fast", seed=1)
    options = {"configuration": "other", "resumable": True, "versions": versions}
    with Publisher(path, learner, n_learned=lambda: 1, **options) as publisher:
        for k in range(2):
            learner.learn_one({"a": 1.0}, 1.0)
            publisher._due = 0.0
            publisher.learned()
            publisher._writer.wait()
            assert publisher._writer.written.version == k + 3
            assert not publisher._writer.failed
        assert publisher._writer.n_failed == 2
    assert caplog.text.count("can't keep versions of") == 1


def test_forgetting(path, publish):
    """No version is left, nor an empty folder, which would look like a model without a version;
    but numbers go on, as answers have the old ones."""
    versions = publish(3)
    versions.pin(3)
    assert versions.forget() == 3
    assert not versions.folder.exists()
    assert versions.forget() == 0
    assert publish(1).kept() == [4]
    assert Versions(path).last() == 4


def spoil_pin(versions: Versions) -> None:
    (versions.folder / "pinned").write_text("{}")


def set_an_endless_pin(versions: Versions) -> None:
    (versions.folder / "pinned").write_text('{"version": Infinity}')


def spoil_version(versions: Versions) -> None:
    file: Path = versions.file(3).path
    file.write_bytes(file.read_bytes()[:-1])


def remove_version(versions: Versions) -> None:
    versions.file(3).path.unlink()


@pytest.mark.parametrize("spoil", [spoil_pin, set_an_endless_pin, spoil_version, remove_version])
def test_a_pin_never_gives_way_to_the_newest(path, publish, spoil):
    """If pin or version can't be read, a new follower has none, and says what to do."""
    versions = publish(3)
    versions.pin(3)
    publish(1)
    spoil(versions)
    follower = Follower(path)
    assert not follower.refresh()
    assert follower.current is None
    assert "pin" in follower.problem or "checksum" in follower.problem


def test_only_a_whole_version_can_be_pinned(publish):
    """An unknown number, or a damaged version, is refused, and the pin before it stays."""
    versions = publish(3)
    versions.pin(2)
    spoil_version(versions)
    for number, why in ((7, "is not kept; kept: 2, 3"), (3, "is damaged: ")):
        with pytest.raises(SnapshotError, match=f"version {number} of events-all {why}"):
            versions.pin(number)
    assert versions.pinned() == 2
