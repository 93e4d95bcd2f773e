"""`RebuildPositions`: which records a rebuild has read."""

from pathlib import Path

import pytest

from iln_stream.service import Settings
from iln_stream.service.rebuild import RebuildPositions
from iln_stream.service.recovery import folder_of
from iln_stream.service.streams import readers, source_stream
from iln_stream.snapshots import Header, Snapshot, SnapshotFolder
from iln_stream.streams.sqlite import create_topic


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings of two models of two partitions each, with a log of labels."""
    for topic in ("events", "labels"):
        create_topic(tmp_path / "log.db", topic, 2)
    return Settings(
        source=f"sqlite:{tmp_path / 'log.db'}",
        labels=f"sqlite:{tmp_path / 'log.db'}#labels",
        pending_events=10,
        learner_per="partition",
        snapshots=str(tmp_path / "state"),
    )


def test_offsets_of_both_logs(settings: Settings) -> None:
    """Each model's newest snapshot tells up to where its partitions were read, of either log."""
    stream = source_stream(settings)
    for reader, (events, labels) in zip(readers(settings, stream), ((10, 5), (0, 7)), strict=True):
        folder = SnapshotFolder(folder_of(settings, stream, reader))
        folder.path.mkdir(parents=True)
        for epoch, more in ((1, 100), (2, 0)):
            of_events, of_labels = reader.origins
            rebuilt = {of_events: events + more, of_labels: labels + more}
            header = Header(
                *(stream.name, {of_events: 20}, None, 2, epoch, {}),
                seed=1,
                saved_at="2026-01-31T12:00:00Z",
                rebuilt=rebuilt,
            )
            folder.write(Snapshot(header, {}))
    has = RebuildPositions(settings, stream).has
    assert [has("log-events", 0, offset) for offset in (9, 10)] == [True, False]
    assert [has("log-labels", 0, offset) for offset in (4, 5)] == [True, False]
    assert not has("log-events", 1, 0)
    assert [has("log-labels", 1, offset) for offset in (6, 7)] == [True, False]
    assert not has("other", 0, 0)
