"""Two runs that publish the predictions of the same records to one topic notice each other."""

import json
import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any

import pytest

from iln_stream.streams.kafka import KafkaPredictionSink
from iln_stream.streams.kafka.consumer import open_consumer


@pytest.fixture
def begin(broker, topic) -> Iterator[Callable[[], KafkaPredictionSink]]:
    """Opens the sink of a run, which looks at each flush."""
    with ExitStack() as opened:

        def begin() -> KafkaPredictionSink:
            sink = KafkaPredictionSink(topic, bootstrap=broker.bootstrap, look_after=0.0)
            opened.callback(sink.close)
            sink.flush()
            return sink

        yield begin


def publish(sink: KafkaPredictionSink, offsets: range, partition: int = 0, **more: Any) -> None:
    for offset in offsets:
        message = {"stream": "orders", "partition": partition, "offset": offset, **more}
        sink.write_all([(partition, None, json.dumps(message).encode())])
    sink.flush()


def warned(caplog: pytest.LogCaptureFixture) -> int:
    return caplog.text.count("another run publishes the predictions of orders, partition 0")


def test_the_same_predictions_by_two_runs(begin, caplog) -> None:
    """Each run warns once; one that is ahead of the other, too."""
    one, other = begin(), begin()
    publish(one, range(100, 150))
    assert not warned(caplog)
    publish(other, range(50))
    assert warned(caplog) == 1
    for _ in range(2):
        publish(one, range(150, 151))
    assert warned(caplog) == 2


def test_one_run_alone(begin, caplog) -> None:
    """A run that was killed repeats predictions, has several horizons and other streams beside it,
    and is not warned."""
    publish(begin(), range(20))
    again = begin()
    publish(again, range(10, 30), horizon="1h")
    publish(again, range(10, 30), horizon="1d")
    publish(again, range(10, 30), stream="returns")
    again.write_all([(0, None, b"no prediction")])
    publish(again, range(30, 40), horizon="1h")
    for _ in range(2):  # another run, of another partition, repeats its predictions after a crash
        publish(begin(), range(5), partition=1)
    publish(again, range(40, 41), horizon="1h")
    assert "another run" not in caplog.text


def test_without_the_right_to_read(broker, topic, caplog) -> None:
    """A topic that can't be read stops no run, and costs no warning."""
    caplog.set_level(logging.DEBUG)
    sink = KafkaPredictionSink(topic, bootstrap=broker.bootstrap, look_after=0.0)
    tls = {"security_protocol": "SSL", "bootstrap_timeout_ms": 1_000}
    sink._open_consumer = partial(open_consumer, broker.bootstrap, tls)
    publish(sink, range(3))
    publish(sink, range(3, 6))
    sink.close()
    assert "was not looked at" in caplog.text
