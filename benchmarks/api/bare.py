"""A server that answers each request at once, to show what the machine itself costs."""

import asyncio

import uvloop

_BODY = b'{"predictions": []}'
_ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(_BODY), _BODY)


class Bare(asyncio.Protocol):
    """Answers whatever comes."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._transport.write(_ANSWER)  # type: ignore[attr-defined]


async def main() -> None:
    """Serve until killed."""
    server = await asyncio.get_running_loop().create_server(Bare, "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main())
