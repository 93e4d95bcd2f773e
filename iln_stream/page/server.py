"""The server of the page: builds the application from settings, and runs it."""

import logging
import os
import socket
import time
from contextlib import suppress
from functools import partial

import uvicorn

from iln_stream.api.graceful import GracefulServer
from iln_stream.api.listening import listen
from iln_stream.api.protocol import LimitedProtocol
from iln_stream.hosts import is_loopback, names_of
from iln_stream.page.app import create_app
from iln_stream.page.board import Board
from iln_stream.page.poller import Poller
from iln_stream.page.settings import PageSettings

log = logging.getLogger(__name__)

_SEND_BYTES = 64 * 1024
"""What the kernel keeps for a slow network: more would delay the newest state."""

_NICE = 5
"""The learner goes first where processors are few."""


class PageServer:
    """Serves the page in one process.

    Parameters
    ----------
    settings
        Settings of the page.
    listening
        A listening socket; None: one at the address of the settings.

    Raises
    ------
    SettingsError
        When the address can't be listened on.

    """

    def __init__(self, settings: PageSettings, listening: socket.socket | None = None) -> None:
        self._socket = listening or listen(settings.host, settings.port)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BYTES)
        host, port = self._socket.getsockname()[:2]
        self.url = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        self._learner = settings.learner
        if not is_loopback(host):
            log.warning(
                "host = %r: anyone who can reach it can read the latest events; let a proxy in "
                "front ask for a password",
                host,
            )
        self._server = GracefulServer(self._config(settings, host))

    def run(self) -> None:
        """Serve until SIGINT, SIGTERM or `stop`."""
        with suppress(OSError):
            os.nice(_NICE)
        log.info("page at %s, of the learner at %s", self.url, self._learner)
        self._server.run(sockets=[self._socket])

    def stop(self) -> None:
        """Stop `run`; safe from any thread."""
        self._server.should_exit = True

    def _config(self, settings: PageSettings, host: str) -> uvicorn.Config:
        logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
        hosts = names_of(host) if is_loopback(host) else None
        board = Board(settings.learner, time.time())
        poller = Poller(settings.learner, board, settings.poll_seconds)
        app = create_app(board, poller, settings.browsers, hosts, lambda: self._server.should_exit)
        protocol = partial(
            LimitedProtocol,
            header_seconds=5.0,
            body_seconds=60.0,
            connections=10 * settings.browsers,
            refused=_ignore,
        )
        return uvicorn.Config(
            app,
            loop="uvloop",
            http=protocol,  # type: ignore[arg-type]
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_keep_alive=60,
            timeout_graceful_shutdown=5,
        )


def _ignore(reason: str) -> None:
    """Refused connections are not counted."""
