"""Starts commands as forks of a process that has imported them.

A run of 200 events then takes .85 s of processor time in place of 2.3 s.

A fork is a process of its own: memory, working directory, environment, signals, output and exit
code are those of an executed command. Only what a process does before its first command is shared:
the imports, and the compiled loops of the usual learners.

`ForkServer` is the tests' side, the functions below it are the server's.
"""

import contextlib
import gc
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

_NUMBER = struct.Struct("i")


class ForkedCommand:
    """A command that a `ForkServer` has started, used like `subprocess.Popen`."""

    def __init__(self, arguments: Sequence[str], pid: int, reports: int) -> None:
        self.args = list(arguments)
        self.pid = pid
        self.returncode: int | None = None
        self._reports = reports

    def poll(self) -> int | None:
        """Return the exit code, or None while the command runs."""
        return self._reported(0)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end, and return the exit code."""
        code = self._reported(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return code

    def send_signal(self, number: int) -> None:
        """Send a signal, if the command is still running."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Send SIGKILL."""
        self.send_signal(signal.SIGKILL)

    def _reported(self, timeout: float | None) -> int | None:
        if self.returncode is None and select.select([self._reports], [], [], timeout)[0]:
            self.returncode = _read_number(self._reports)
            os.close(self._reports)
        return self.returncode


class ForkServer:
    """A server in an environment, which ends with this process.

    `warm_up` is what it runs before its first fork; `main` is what a fork runs, with its arguments
    in `sys.argv`. Both are source code.
    """

    def __init__(self, environment: Mapping[str, str], warm_up: str, main: str) -> None:
        self._socket, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno()), warm_up, main],
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )

    def start(
        self,
        arguments: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        files: tuple[IO[Any], IO[Any], IO[Any]],
    ) -> ForkedCommand:
        """Start a command in a folder; `files` are its standard input, output and error."""
        reports, report = os.pipe()
        request = json.dumps([list(arguments), str(folder), dict(environment)]).encode()
        descriptors = [*(each.fileno() for each in files), report]
        header = _NUMBER.pack(len(request))
        try:
            socket.send_fds(self._socket, [header], descriptors)
            self._socket.sendall(request)
        finally:
            os.close(report)
        return ForkedCommand(arguments, _read_number(reports), reports)


def _read_number(descriptor: int) -> int:
    packed = os.read(descriptor, _NUMBER.size)
    if not packed:
        raise RuntimeError("the fork server ended; what it said is in this process's output")
    return int(_NUMBER.unpack(packed)[0])


def _serve(requests: socket.socket) -> None:
    """Fork for each request. Returns in each fork, ready to run its command."""
    running: dict[int, int] = {}
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)  # without a handler, nothing would wake us
    signal.set_wakeup_fd(wake)
    while True:
        ready, _, _ = select.select([requests, woken], [], [])
        if woken in ready:
            os.read(woken, 1024)
            _report_ended(running)
        if requests not in ready:
            continue
        header, descriptors, _, _ = socket.recv_fds(requests, _NUMBER.size, 4)
        if not header:
            os._exit(0)  # the tests are over
        request = json.loads(_exactly(requests, _NUMBER.unpack(header)[0]))
        report = descriptors[3]
        pid = os.fork()
        if not pid:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _become(request, descriptors)
            for each in (requests.detach(), woken, wake, *descriptors, *running.values()):
                os.close(each)
            return
        os.write(report, _NUMBER.pack(pid))
        running[pid] = report
        for each in descriptors[:3]:
            os.close(each)


def _report_ended(running: dict[int, int]) -> None:
    for pid in list(running):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            report = running.pop(pid)
            with contextlib.suppress(BrokenPipeError):  # nobody waits for it any more
                os.write(report, _NUMBER.pack(os.waitstatus_to_exitcode(status)))
            os.close(report)


def _exactly(connection: socket.socket, count: int) -> bytes:
    received = bytearray()
    while len(received) < count:
        received += connection.recv(count - len(received))
    return bytes(received)


def _become(request: tuple[list[str], str, dict[str, str]], descriptors: Sequence[int]) -> None:
    """Give this process the command's arguments, folder, environment and files."""
    arguments, folder, environment = request
    for standard, given in enumerate(descriptors[:3]):
        os.dup2(given, standard)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    sys.argv = ["-c", *arguments]
    sys.path[0] = ""


def _main(descriptor: str, warm_up: str, main: str) -> None:
    exec(warm_up, {})
    gc.collect()
    gc.freeze()  # or each fork's first collection would copy what it shares
    _serve(socket.socket(fileno=int(descriptor)))
    exec(main, {"__name__": "__main__"})


if __name__ == "__main__":
    _main(*sys.argv[1:])
