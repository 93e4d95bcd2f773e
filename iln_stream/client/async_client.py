"""The client that awaits."""

import asyncio
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

import httpx

from iln_stream.client.answers import Appended, Model, Prediction, Readiness
from iln_stream.client.calls import Call, Calls, Pause, Reply
from iln_stream.client.connection import Connection, reply_of
from iln_stream.client.errors import ClientError
from iln_stream.client.messages import Inputs, Label, Moment, NewEvent, NewLabel
from iln_stream.client.retries import Retries

T = TypeVar("T")


class AsyncClient:
    """A client of `iln-stream serve` for asyncio; the arguments and calls are those of `Client`.

    Examples
    --------
    >>> from iln_stream.client import AsyncClient
    >>> async def predicted():
    ...     async with AsyncClient("http://127.0.0.1:8080") as client:
    ...         return (await client.predict({"temp": 19.0})).y_pred

    """

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
            self._http = httpx.AsyncClient(**options, trust_env=trust_env)
        except httpx.InvalidURL as error:
            raise ClientError(f"url = {url!r}: {error}") from None

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

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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
