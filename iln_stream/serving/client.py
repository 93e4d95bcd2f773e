"""The clients of `iln-stream serve`: one blocks, one awaits."""

import asyncio
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self, TypeVar

import httpx

from iln_stream.serving.client_calls import Call, Calls, Connection, Pause, Reply, Retries, reply_of
from iln_stream.serving.client_messages import (
    Appended,
    ClientError,
    Inputs,
    Label,
    Model,
    Moment,
    NewEvent,
    NewLabel,
    Prediction,
    Readiness,
)

T = TypeVar("T")


class _Connected:
    """The options and the connections of a client."""

    _kind: type[httpx.Client | httpx.AsyncClient]
    _http: Any

    def __init__(
        self,
        url: str = "http://127.0.0.1:8080",
        *,
        token: str | None = None,
        token_file: Path | str | None = None,
        timeout: float = 10.0,
        retries: Retries = Retries(),  # noqa: B008  # immutable
        batch_events: int = 1000,
        batch_bytes: int = 900_000,
        tls_ca: Path | None = None,
        tls_certificate: Path | None = None,
        tls_key: Path | None = None,
        trust_env: bool = True,
    ) -> None:
        self._calls = Calls(retries, batch_events, batch_bytes)
        self._connection = Connection(
            url, token, token_file, timeout, tls_ca, tls_certificate, tls_key
        )
        options = self._connection.options()
        try:
            self._http = self._kind(**options, trust_env=trust_env)
        except httpx.InvalidURL as error:
            raise ClientError(f"url = {url!r}: {error}") from None


class Client(_Connected):
    """A client of `iln-stream serve`; threads may share it.

    A request that failed because the server was busy, unavailable or out of reach is sent again, if
    sending it twice does no harm: predictions, questions, labels, and events with ids. Events
    without ids are sent once.

    Parameters
    ----------
    url
        Address of the server.
    token
        Bearer token, if the server asks for one.
    token_file
        File that holds it; it is read with each request, so that the token may change.
    timeout
        Seconds to connect, and seconds without a byte from the server.
    retries
        Number and waits of repeated requests; `Retries(most=0)`: none.
    batch_events, batch_bytes
        Most events, and bytes of events, in a request; more are sent in several requests. At most
        the server's `batch_events` and `body_bytes`, or requests are refused and sent in halves.
    tls_ca
        Certificates (PEM) that may sign the server's; None: those of the system.
    tls_certificate, tls_key
        Your certificate chain and its key (PEM), if the server asks for one (mutual TLS).
    trust_env
        Whether proxies in the environment, such as HTTPS_PROXY, are used.

    Raises
    ------
    ClientError
        When the arguments do not fit together or a file can't be read.

    Examples
    --------
    >>> from iln_stream.client import Client
    >>> with Client("http://127.0.0.1:8080") as client:  # doctest: +SKIP
    ...     client.append({"temp": 21.5, "sky": "clear"}, y=13.2, id="a-17")
    ...     client.predict({"temp": 19.0}).y_pred
    Appended(partition=0, offset=42, is_new=True)
    12.7

    """

    _kind = httpx.Client
    _http: httpx.Client

    def predict(
        self,
        x: Inputs,
        *,
        model: str | None = None,
        id: str | None = None,  # noqa: A002  # its name in the topic
        timestamp: Moment | None = None,
        weight: float | None = None,
    ) -> Prediction:
        """Predict an event; with an id, append it to the log, too.

        Parameters
        ----------
        x
            Inputs by name: finite numbers, bools, strings for categories, None for unknown ones.
        model
            Name of the model; needed if several are published.
        id
            Your id of the event, which names it in `feedback`. The prediction's `appended` says
            where the event is. None: it is only predicted.
        timestamp, weight
            As of `NewEvent`; only with an id.

        Raises
        ------
        ClientError
            When the server can't be reached or refuses, as of all calls.
        ValueError
            When an input is not finite, or none of these.

        """
        event = NewEvent(x, None, id, timestamp, weight)
        return self._run(self._calls.predict(event, model))

    def predict_many(
        self, xs: Iterable[Inputs | NewEvent], *, model: str | None = None
    ) -> list[Prediction]:
        """Predict several events, in their order; a mapping is the inputs of one.

        The model's version may change from one request to the next; each prediction has its own.
        Events with ids are appended to the log, too; after an error, call it again with all.
        """
        return self._run(self._calls.predict_many(xs, model))

    def predict_records(
        self, records: Iterable[Mapping[str, Any]], *, model: str | None = None
    ) -> list[Prediction]:
        """Predict several records as the run reads them, in their order; none is appended.

        Parameters
        ----------
        records
            Their fields by name, as JSON has them: the run's settings of fields make the inputs,
            aggregates by key included.
        model
            As of `predict`.

        """
        return self._run(self._calls.predict_records(records, model))

    def append(
        self,
        x: Inputs,
        y: Label | None = None,
        *,
        id: str | None = None,  # noqa: A002  # its name in the topic
        timestamp: Moment | None = None,
        weight: float | None = None,
    ) -> Appended:
        """Append an event to the log, for the learner; return its position once it is durable.

        The arguments are those of `NewEvent`.
        """
        return self._run(self._calls.append(NewEvent(x, y, id, timestamp, weight)))

    def append_many(self, events: Iterable[NewEvent | Inputs]) -> list[Appended]:
        """Append several events, in their order; a mapping is the inputs of one.

        If this fails, the error's `appended` has the places of those before, which are stored.
        """
        return self._run(self._calls.append_many(events))

    def feedback(
        self,
        id: str,  # noqa: A002
        y: Label,
        *,
        timestamp: Moment | None = None,
        weight: float | None = None,
    ) -> Appended:
        """Append the label of the event with this id.

        The arguments are those of `NewLabel`.
        """
        return self._run(self._calls.feedback(NewLabel(id, y, timestamp, weight)))

    def feedback_many(self, labels: Iterable[NewLabel]) -> list[Appended]:
        """Append the labels of several events, in their order.

        If this fails, the error's `appended` has the places of those before, which are stored.
        """
        return self._run(self._calls.feedback_many(labels))

    def promote(self, contender: str, *, model: str | None = None) -> list[Appended]:
        """Make a contender the champion, from this point of the log on.

        Parameters
        ----------
        contender
            Name of a challenger, or of the former champion.
        model
            Name of the published model; None: each model that learns the log.

        Returns
        -------
        list of Appended
            Where the command is, once it is durable. If the learner has no such contender, the
            command becomes a dead letter.

        """
        return self._run(self._calls.promote(contender, model))

    def model(self, name: str | None = None) -> Model:
        """Describe a published model; None: the only one."""
        return self._run(self._calls.model(name))

    def ready(self) -> Readiness:
        """Ask whether a model is loaded and the log is open."""
        return self._run(self._calls.ready())

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self, call: Call[T]) -> T:
        reply: Reply | None = None
        error: ClientError | None = None
        try:
            while True:
                step = call.send(reply) if error is None else call.throw(error)
                reply = error = None
                if isinstance(step, Pause):
                    time.sleep(step.seconds)
                    continue
                try:
                    reply = reply_of(self._http.request(**self._connection.arguments(step)))
                except ClientError as failure:  # the token can't be read
                    error = failure
                except httpx.HTTPError as failure:
                    error = self._connection.failure(failure)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]


class AsyncClient(_Connected):
    """A client of `iln-stream serve` for asyncio; the arguments and calls are those of `Client`.

    Examples
    --------
    >>> from iln_stream.client import AsyncClient
    >>> async def predicted():
    ...     async with AsyncClient("http://127.0.0.1:8080") as client:
    ...         return (await client.predict({"temp": 19.0})).y_pred

    """

    _kind = httpx.AsyncClient
    _http: httpx.AsyncClient

    async def predict(
        self,
        x: Inputs,
        *,
        model: str | None = None,
        id: str | None = None,  # noqa: A002  # its name in the topic
        timestamp: Moment | None = None,
        weight: float | None = None,
    ) -> Prediction:
        """Predict an event; with an id, append it to the log, too."""
        event = NewEvent(x, None, id, timestamp, weight)
        return await self._run(self._calls.predict(event, model))

    async def predict_many(
        self, xs: Iterable[Inputs | NewEvent], *, model: str | None = None
    ) -> list[Prediction]:
        """Predict several events, in their order."""
        return await self._run(self._calls.predict_many(xs, model))

    async def predict_records(
        self, records: Iterable[Mapping[str, Any]], *, model: str | None = None
    ) -> list[Prediction]:
        """Predict several records as the run reads them, in their order."""
        return await self._run(self._calls.predict_records(records, model))

    async def append(
        self,
        x: Inputs,
        y: Label | None = None,
        *,
        id: str | None = None,  # noqa: A002  # its name in the topic
        timestamp: Moment | None = None,
        weight: float | None = None,
    ) -> Appended:
        """Append an event to the log; return its position once it is durable."""
        return await self._run(self._calls.append(NewEvent(x, y, id, timestamp, weight)))

    async def append_many(self, events: Iterable[NewEvent | Inputs]) -> list[Appended]:
        """Append several events, in their order."""
        return await self._run(self._calls.append_many(events))

    async def feedback(
        self,
        id: str,  # noqa: A002
        y: Label,
        *,
        timestamp: Moment | None = None,
        weight: float | None = None,
    ) -> Appended:
        """Append the label of the event with this id."""
        return await self._run(self._calls.feedback(NewLabel(id, y, timestamp, weight)))

    async def feedback_many(self, labels: Iterable[NewLabel]) -> list[Appended]:
        """Append the labels of several events, in their order."""
        return await self._run(self._calls.feedback_many(labels))

    async def promote(self, contender: str, *, model: str | None = None) -> list[Appended]:
        """Make a contender the champion, from this point of the log on."""
        return await self._run(self._calls.promote(contender, model))

    async def model(self, name: str | None = None) -> Model:
        """Describe a published model; None: the only one."""
        return await self._run(self._calls.model(name))

    async def ready(self) -> Readiness:
        """Ask whether a model is loaded and the log is open."""
        return await self._run(self._calls.ready())

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _run(self, call: Call[T]) -> T:
        reply: Reply | None = None
        error: ClientError | None = None
        try:
            while True:
                step = call.send(reply) if error is None else call.throw(error)
                reply = error = None
                if isinstance(step, Pause):
                    await asyncio.sleep(step.seconds)
                    continue
                try:
                    reply = reply_of(await self._http.request(**self._connection.arguments(step)))
                except ClientError as failure:  # the token can't be read
                    error = failure
                except httpx.HTTPError as failure:
                    error = self._connection.failure(failure)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
