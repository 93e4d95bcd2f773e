"""How the page's server asks a learner."""

import asyncio
import json
import logging

import pytest
from prometheus_client import CollectorRegistry

from iln_stream.service.http import HttpServer, for_this_host
from iln_stream.serving.page import Board, Poller


def asked(url):
    """Let a poller ask, until the board has heard something; return the page's part."""

    async def ask():
        board = Board(url, 0.0)
        polling = asyncio.create_task(Poller(url, board, 0.01).run())
        assert await board.newer_than(1, 30.0)
        await asyncio.sleep(0.5)
        polling.cancel()
        return json.loads(board.message(0))["page"]

    return asyncio.run(ask())


@pytest.mark.parametrize(("host", "status"), [("127.0.0.1", 404), ("127.0.0.2", 421)])
def test_a_learner_that_gives_no_data_is_warned_of(host, status, caplog):
    """A learner that runs with `live` off, or is asked by another name than its own, is told from
    one that does not run: by one warning with its answer, and in the page's state."""
    caplog.set_level(logging.WARNING, "iln_stream.serving.page")
    routes = {} if status == 404 else {"/live": for_this_host(lambda *_: [], "127.0.0.1")}
    server = HttpServer("0.0.0.0", 0, CollectorRegistry(), list, routes)
    try:
        url = server.url.replace("0.0.0.0", host)
        page = asked(url)
    finally:
        server.close()
    assert page["state"] == "gone"
    assert f"{url}/live answers {status}: " in page["problem"]
    assert [message for message in caplog.messages if f"answers {status}" in message] == [
        f"{page['problem']} (`live` of its settings must be on)"
    ]
