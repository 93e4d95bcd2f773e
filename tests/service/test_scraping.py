"""Asking several servers."""

from prometheus_client.registry import CollectorRegistry

from iln_stream.service.http import HttpServer
from iln_stream.service.merged import Scraper


def test_answers_come_in_order():
    """Each server's answer is at its place; None stands for one that does not answer."""
    ready = HttpServer("127.0.0.1", 0, CollectorRegistry(), list)
    waits = HttpServer("127.0.0.1", 0, CollectorRegistry(), lambda: ["no broker"])
    gone = HttpServer("127.0.0.1", 0, CollectorRegistry(), list)
    gone.close()
    scraper = Scraper(2)
    found = scraper.ask([f"{ready.url}/ready", None, f"{gone.url}/ready", f"{waits.url}/ready"])
    assert found == [(200, "ready\n"), None, None, (503, "no broker\n")]
    scraper.close()
    ready.close()
    waits.close()
