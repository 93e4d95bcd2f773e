"""The line that a person reads while functions are being compiled."""

import io
import sys

from numba.core import event

from iln_stream.kernels.jit import Notice, compiled, notice


def compile_one():
    """Compile a function that no cache has."""
    compiled(eval("lambda x: x + 1"))(1.0)


class Screen(io.StringIO):
    """Standard error that is a terminal, or not."""

    def __init__(self, is_terminal):
        super().__init__()
        self.isatty = lambda: is_terminal


def shown(mine, monkeypatch, *, on_terminal):
    screen = Screen(on_terminal)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", screen)
        with notice.silent(), event.install_listener("numba:compile", mine):
            for _ in range(3):
                compile_one()
    return screen.getvalue()


def test_it_is_written_once(monkeypatch):
    """Somebody who waits knows why, without a line for each function."""
    assert shown(Notice(after=0.0), monkeypatch, on_terminal=True).count("compiles its loops") == 1


def test_a_short_wait_needs_none(monkeypatch):
    """A function or two are compiled before anybody wonders."""
    assert shown(Notice(after=60.0), monkeypatch, on_terminal=True) == ""


def test_a_file_gets_none(monkeypatch):
    """A log is no place for it: the service writes a line of its own."""
    assert shown(Notice(after=0.0), monkeypatch, on_terminal=False) == ""


def test_a_notebook_gets_it(monkeypatch):
    """Its standard error is no terminal, but is shown at once."""
    monkeypatch.setitem(sys.modules, "ipykernel", sys)
    assert "compiles its loops" in shown(Notice(after=0.0), monkeypatch, on_terminal=False)


def test_whoever_reports_silences_it(monkeypatch):
    """`iln-stream warm` and the service say themselves what is compiled."""
    mine = Notice(after=0.0)
    with mine.silent():
        assert shown(mine, monkeypatch, on_terminal=True) == ""


def test_our_functions_are_watched():
    """The learner's module registers it, without a call by the user."""
    assert notice in event._registered["numba:compile"]
