"""The server: builds the application from settings, and runs it until a signal stops it."""

import asyncio
import logging
import os
import socket
import sys
from functools import partial
from pathlib import Path

import uvicorn
from prometheus_client import ProcessCollector
from prometheus_client.registry import CollectorRegistry

from iln_stream.errors import is_loopback, names_of
from iln_stream.serving.app import create_app
from iln_stream.serving.appending import Appending
from iln_stream.serving.gate import Check, KnownHost, Tokens
from iln_stream.serving.metrics import ApiMetrics
from iln_stream.serving.models import Models
from iln_stream.serving.protocol import (
    GracefulServer,
    LimitedProtocol,
    configuration,
    listen,
    tls_context,
)
from iln_stream.serving.recording import AnswerLog
from iln_stream.serving.settings import ApiSettings
from iln_stream.settings import SettingsError
from iln_stream.snapshots.follower import Follower
from iln_stream.streams import Scheme, StreamOptions, stream_at

log = logging.getLogger(__name__)

HEADER_SECONDS, BODY_SECONDS = 5.0, 10.0
"""Seconds that a client may take to send its headers, and its body."""

IDLE_SECONDS = 60
"""Seconds after which an idle connection is closed."""

STOP_SECONDS = 20
"""Seconds that requests in progress get when the API stops."""

CONNECTIONS = 1024
"""Connections open at the same time."""

QUEUE_EVENTS = 10_000
"""Most events that may wait to be appended."""

_GROUP_EVENTS = 1000
"""Most events that are appended together in one durable write."""

_SWITCH_SECONDS = 0.0005
"""Time after which a thread that loads a version lets the event loop go on; Python's is 5 ms."""


class ApiServer:
    """Serves the API in one process.

    Raises
    ------
    SettingsError
        When settings do not fit together, or a file or the address can't be used.

    """

    def __init__(self, settings: ApiSettings) -> None:
        tokens = None if settings.token_file is None else Tokens(settings.token_file)
        context = tls_context(settings)
        mutual = settings.tls_client_ca is not None
        _check_reach(settings, tokens is not None, context is not None)
        self._metrics = ApiMetrics(CollectorRegistry())
        ProcessCollector(registry=self._metrics.registry)
        pins = settings.pins

        def follow(path: Path) -> Follower:
            return Follower(path, settings.allow_pickle, pins.get(path.stem, pins.get("")))

        also = () if tokens is None else (tokens.refresh,)
        named = [name for name in pins if name]
        models = Models(settings.models, settings.interval_level, follow, also, named)
        if settings.pin:
            log.warning(
                "pin = %s: the run may remove this version, after `version_keep` newer ones; "
                "`iln-stream versions %s --pin` keeps it",
                ",".join(settings.pin),
                settings.models,
            )
        appending = _appending(settings, self._metrics) if settings.events else None
        answers = None
        if settings.answers is not None:
            answers = AnswerLog(_stream(settings, settings.answers).sink, self._metrics)
        checks: list[Check] = [] if tokens is None else [tokens]
        if tokens is None and not mutual:
            checks.append(KnownHost(names_of(settings.host)))
        app = create_app(
            settings, models, appending, self._metrics, checks, tokens is not None, answers
        )
        self._socket = listen(settings.host, settings.port)
        self._server = _ApiServer(_config(app, settings, self._metrics), HEADER_SECONDS)
        self._server.config.load()
        self._server.config.ssl = context
        host, port = self._socket.getsockname()[:2]
        scheme = "http" if context is None else "https"
        self.url = f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"

    @property
    def n_requests(self) -> int:
        """Number of requests in progress."""
        return len(self._server.server_state.tasks)

    @property
    def n_connections(self) -> int:
        """Number of open connections."""
        return len(self._server.server_state.connections)

    def run(self) -> None:
        """Serve until SIGINT, SIGTERM or `stop`; requests in progress are answered first."""
        before = sys.getswitchinterval()
        sys.setswitchinterval(_SWITCH_SECONDS)
        try:
            log.info("serving %s (description: %s/openapi.json)", self.url, self.url)
            self._server.run(sockets=[self._socket])
        finally:
            sys.setswitchinterval(before)

    def stop(self) -> None:
        """Stop `run`; safe from any thread."""
        self._server.should_exit = True


class _ApiServer(GracefulServer):
    def __init__(self, config: uvicorn.Config, tls_seconds: float) -> None:
        super().__init__(config)
        self._tls_seconds = tls_seconds

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen; limit the time for beginning and ending TLS, for which uvicorn has no option."""
        if self.config.ssl is None:
            await super().startup(sockets)
            return
        loop = asyncio.get_running_loop()
        create_server = loop.create_server
        limited = partial(
            create_server,
            ssl_handshake_timeout=self._tls_seconds,
            ssl_shutdown_timeout=self._tls_seconds,
        )
        loop.create_server = limited  # type: ignore[method-assign]
        try:
            await super().startup(sockets)
        finally:
            loop.create_server = create_server  # type: ignore[method-assign]


def _appending(settings: ApiSettings, metrics: ApiMetrics) -> Appending:
    log_stream = _stream(settings, settings.events)
    if type(log_stream).appender is Scheme.appender:
        raise SettingsError(
            f"events = {settings.events!r}: can't be appended to; give sqlite:PATH or kafka:TOPIC, "
            "or nothing for a server that only predicts"
        )
    log_stream.check()
    return Appending(log_stream.appender, QUEUE_EVENTS, _GROUP_EVENTS, metrics)


def _stream(settings: ApiSettings, address: str) -> Scheme:
    options = StreamOptions(
        bootstrap=settings.bootstrap,
        kafka_options=settings.kafka_options,
        kafka_secrets=settings.kafka_secrets,
    )
    return stream_at(address, options)


def _config(app: object, settings: ApiSettings, metrics: ApiMetrics) -> uvicorn.Config:
    protocol = partial(
        LimitedProtocol,
        header_seconds=HEADER_SECONDS,
        body_seconds=BODY_SECONDS,
        connections=CONNECTIONS,
        refused=metrics.refused,
    )
    return configuration(
        app,
        protocol,
        proxy_headers="FORWARDED_ALLOW_IPS" in os.environ,  # which uvicorn reads
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=STOP_SECONDS,
    )


def _check_reach(settings: ApiSettings, has_token: bool, has_tls: bool) -> None:
    """Refuse to let other machines in without a token or a certificate."""
    if is_loopback(settings.host):
        return
    if not has_token and settings.tls_client_ca is None:
        raise SettingsError(
            f"host = {settings.host!r}: other machines can reach it; set token_file or "
            "tls_client_ca, or listen on 127.0.0.1"
        )
    if has_token and not has_tls:
        log.warning(
            "the token is sent in plain text: set tls_certificate and tls_key, unless a proxy in "
            "front does TLS"
        )
