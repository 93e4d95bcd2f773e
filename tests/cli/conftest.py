"""Fixtures of these tests."""

import logging
import os
import signal
import sys
import warnings
from collections.abc import Callable
from typing import NamedTuple, Self

import pytest

import iln_stream.cli.command  # noqa: F401 - a console keeps the COLUMNS of its import
from iln_stream.cli import main


class Done(NamedTuple):
    """The result of a command: exit code and output."""

    code: int
    out: str
    err: str

    def ok(self) -> Self:
        """The result of a command that succeeded."""
        assert self.code == 0, self.err
        return self

    def refused(self) -> Self:
        """The result of a command that ended with an error for its user."""
        assert self.code == 2, self.err
        assert "Traceback" not in self.err
        return self


@pytest.fixture
def command(tmp_path, monkeypatch, capfd) -> Callable[..., Done]:
    """Run a command line in this process, in its own folder."""
    for name in [name for name in os.environ if name.startswith("ILN_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(warnings, "formatwarning", warnings.formatwarning)
    root, handlers = logging.getLogger(), list(logging.getLogger().handlers)
    loggers = [logging.getLogger(name) for name in ("iln_stream", "kafka")]
    levels = [logger.level for logger in loggers]
    numbers = (signal.SIGINT, signal.SIGTERM)
    heeded = {number: signal.getsignal(number) for number in numbers}

    def run(*arguments: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["iln-stream", *arguments])
        try:
            main()
        except SystemExit as leaving:
            said = capfd.readouterr()
            return Done(int(leaving.code or 0), said.out, said.err)
        raise AssertionError("the command line never leaves without an exit code")

    yield run
    logging.captureWarnings(False)
    root.handlers[:] = handlers
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)
    for number, handler in heeded.items():
        signal.signal(number, handler)
