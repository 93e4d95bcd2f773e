"""The demo's streams in an embedded log."""

from iln_stream.cli.demo import address, store_streams, streams
from iln_stream.loop import Listener, PrequentialLoop
from iln_stream.streams import StreamOptions, stream_at
from iln_stream.streams.river import RiverDatasetSource


class Nothing:
    """A learner that remembers what it learns."""

    def __init__(self):
        self.seen = []

    def predict_one(self, x):
        return 0.0

    def learn_one(self, x, y):
        self.seen.append((dict(x), y))


def seen(source):
    learner = Nothing()
    PrequentialLoop(source, learner, [Listener()]).run()
    source.close()
    return learner.seen


def test_the_log_has_every_event_to_the_last_bit(tmp_path):
    """Events read from the log are those of the data set, also when the demo runs again."""
    some = [stream._replace(n_events=300) for stream in streams(1)]
    for _ in range(2):
        store_streams(some, tmp_path / "demo.db")
        for stream in some:
            direct = RiverDatasetSource(stream.dataset, stream.title, limit=300)
            topic = stream_at(
                address(tmp_path / "demo.db", stream), StreamOptions(stop_at_end=True)
            )
            assert seen(topic.log(0, "earliest")) == seen(direct)
    assert address(tmp_path / "demo.db", some[0]).endswith("demo.db#TrumpApproval")
