"""`stop_on_signals`: SIGINT and SIGTERM stop a run, and keep their meaning elsewhere."""

import signal
import threading

import pytest

from iln_stream.service.http import stop_on_signals

SIGNALS = signal.SIGINT, signal.SIGTERM


def handlers():
    return [signal.getsignal(number) for number in SIGNALS]


def test_handlers_are_restored():
    """After a run, also a failed one, Ctrl-C means again what it meant before."""
    before = handlers()

    def fail():
        with stop_on_signals(lambda: None):
            assert handlers() != before
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert handlers() == before


def test_another_thread():
    """In another thread than the main one the handlers stay, as Python allows nothing else."""
    before, seen = handlers(), []

    def run():
        with stop_on_signals(lambda: None):
            seen.append(handlers())

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert seen == [before]
