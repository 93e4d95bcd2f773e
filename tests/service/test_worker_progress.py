"""Progress of several workers as lines of the log."""

import logging
from time import sleep

import pytest
from prometheus_client.core import CounterMetricFamily
from support.running_api import eventually

from iln_stream.service.worker_processes import progress_logged


def test_it_logs_until_it_is_closed(caplog: pytest.LogCaptureFixture) -> None:
    """A line comes from time to time, and none after the end."""
    caplog.set_level(logging.INFO)
    events = CounterMetricFamily("iln_events", "Of the test.", labels=["partition"])
    events.add_metric(["1"], 1234)
    with progress_logged(lambda: [events], [(0,), (1,)], seconds=0.001):
        eventually(lambda: caplog.messages)
    n = len(caplog.messages)
    sleep(0.01)
    assert len(caplog.messages) == n
    assert set(caplog.messages) == {"1,234 events; worker 0: 0, 0 to go; worker 1: 1,234, 0 to go"}
