"""The page of a run, in a process of its own."""

import logging
import socket
import subprocess
import sys
import threading
from importlib.util import find_spec

from iln_stream.errors import IlnError
from iln_stream.service.settings import Settings, SettingsError

log = logging.getLogger(__name__)

_STOP_SECONDS = 5.0


class Page:
    """Runs the page as a child process, which ends with this one, however it ends.

    Learning goes on if the child fails.

    Parameters
    ----------
    settings
        With a `page_port`.
    learner
        Address of the learner's HTTP server.

    Raises
    ------
    IlnError
        When the port can't be listened on, or the extra `api` is missing.

    """

    def __init__(self, settings: Settings, learner: str) -> None:
        host, port = settings.metrics_host, settings.page_port
        assert port is not None
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            listening = socket.create_server((host, port), family=family, backlog=128)
        except OSError as error:
            raise IlnError(
                f"metrics_host = {host}, page_port = {port}: {error.strerror}; choose another "
                "port, or 0 for a free one"
            ) from error
        with listening:
            name = f"[{host}]" if ":" in host else host
            self.url = f"http://{name}:{listening.getsockname()[1]}"
            # The child ends when its standard input does: also when this process is killed.
            self._process = subprocess.Popen(  # noqa: S603 - our own module
                [
                    *(sys.executable, "-m", "iln_stream.cli.page_process"),
                    *(str(listening.fileno()), learner, settings.log_format),
                ],
                stdin=subprocess.PIPE,
                pass_fds=[listening.fileno()],
                start_new_session=True,  # Ctrl-C is for this process
            )
        self._closing = False
        self._watcher = threading.Thread(target=self._watch, name="page", daemon=True)
        self._watcher.start()
        log.info("page at %s", self.url)

    def close(self) -> None:
        """Stop the child."""
        self._closing = True
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._watcher.join()

    def _watch(self) -> None:
        code = self._process.wait()
        if not self._closing:
            log.error("the page ended with exit code %d; learning goes on without it", code)


def check_page(settings: Settings) -> None:
    """Check that the settings allow for a page.

    Raises
    ------
    SettingsError
        Names the setting.

    """
    if settings.page_port is None:
        return
    if settings.metrics_port is None or not settings.live:
        raise SettingsError("page_port: the page reads /live; set metrics_port and live")
    missing = [name for name in ("httpx", "starlette", "uvicorn") if find_spec(name) is None]
    if missing:
        raise SettingsError(
            f"page_port: {missing[0]} is not installed: pip install 'iln-stream[api]'"
        )
