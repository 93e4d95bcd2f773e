"""`stop_on_signals`: SIGINT and SIGTERM stop a run, and keep their meaning elsewhere."""

import signal
import threading

import pytest

from iln_stream.service.http import stop_on_signals

SIGNALS = signal.SIGINT, signal.SIGTERM


def handlers():
    return [signal.getsignal(number) for number in SIGNALS]


@pytest.mark.parametrize("number", SIGNALS, ids=lambda n: n.name)
def test_stop(number, caplog):
    """A signal calls `stop` and logs its name, and interrupts nothing."""
    caplog.set_level("INFO", "iln_stream")
    stopped = []
    with stop_on_signals(lambda: stopped.append(True)):
        signal.raise_signal(number)
    assert stopped == [True]
    assert caplog.messages == [f"{number.name}: finishing the current event"]


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
