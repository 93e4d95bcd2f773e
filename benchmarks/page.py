"""What a page and ten browsers take from a learner; first paint, and bytes that a browser loads.

Usage: PYTHONPATH=tests:. python -m benchmarks.page [--profile accurate] [--turns 6] [--json FILE]

A learner learns a full log as fast as it can. In turn it is *alone* (the page's server is stopped,
browsers show nothing), ten *streams* of changes are read, and ten *browsers*, pages of a headless
Chromium without a graphics processor, show them on the same machine. Compared are CPU time an
event and events a second: on a machine with few cores the learner also loses what browsers use.
"""

import argparse
import json
import os
import signal
import statistics
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

import httpx
from playwright.sync_api import Browser, Page
from support.chromium import chromium
from support.page_runs import Run
from support.running_command import Command

from benchmarks.api.__main__ import cpu
from benchmarks.api.feed import feed

BROWSERS = 10
KINDS = ("alone", "streams", "browsers")
LOADS = 10


def main() -> None:
    """Run both parts, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--profile", default="accurate")
    parser.add_argument("--events", type=int, default=600_000)
    parser.add_argument("--turns", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, chromium() as browser:
        folder = Path(name)
        feed(f"sqlite:{folder / 'log.db'}", 1e9, options.events)
        profile = ("--learner-options", json.dumps({"profile": options.profile}))
        run = Run(folder, *profile, "--stop-at-end", page=False)
        with (
            run.command,
            Command(folder, "page", "--learner", run.metrics_url, "--port", "0") as it,
        ):
            it.wait_until_it_says("page at")
            url = it.said.split("page at ")[1].split(",")[0]
            run.wait_for(lambda m: m.get("iln_events_total", 0) > 5000)
            found = {"options": {**vars(options), "json": None}}
            found |= slowing(run.command, it, url, browser, options)
            found["loads"] = [load(browser, url) for _ in range(LOADS)]
    report(found)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(found, indent=1))


def slowing(
    run: Command, served: Command, url: str, browser: Browser, options: argparse.Namespace
) -> dict[str, Any]:
    """Return, of each turn, what learning costs alone, with streams and with browsers."""
    learner, server = run.pid, served.pid
    pages = [browser.new_context().new_page() for _ in range(BROWSERS)]
    turns: dict[str, list[dict[str, float]]] = {kind: [] for kind in KINDS}
    for turn in range(len(KINDS) * options.turns):
        kind = KINDS[turn % len(KINDS)]
        with streams(url) if kind == "streams" else nullcontext():
            for page in pages:
                page.goto(url if kind == "browsers" else "about:blank")
            os.kill(server, signal.SIGSTOP if kind == "alone" else signal.SIGCONT)
            sleep(1.0)
            before = counted(run), cpu(learner), cpu(server), rendering(), perf_counter()
            sleep(options.seconds)
            after = counted(run), cpu(learner), cpu(server), rendering(), perf_counter()
            os.kill(server, signal.SIGCONT)
        events, of_learner, of_server, of_browsers, took = (
            b - a for a, b in zip(before, after, strict=True)
        )
        turns[kind].append(
            {
                "cpu_us_per_event": 1e6 * of_learner / events,
                "events_per_second": events / took,
                "server": of_server / took,
                "browsers": of_browsers / took,
            }
        )
    for page in pages:
        page.context.close()
    ratios = {
        kind: {
            key: statistics.median(
                s[key] / a[key] for a, s in zip(turns["alone"], turns[kind], strict=True)
            )
            for key in ("cpu_us_per_event", "events_per_second")
        }
        for kind in KINDS[1:]
    }
    return {"turns": turns, "ratios": ratios}


@contextmanager
def streams(url: str) -> Iterator[None]:
    """Read the stream of changes as ten browsers do, but show nothing."""
    stopped = threading.Event()

    def read() -> None:
        with httpx.stream("GET", f"{url}/events", trust_env=False, timeout=60) as stream:
            for _ in stream.iter_raw():
                if stopped.is_set():
                    return

    threads = [threading.Thread(target=read) for _ in range(BROWSERS)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stopped.set()
        for thread in threads:
            thread.join()


def rendering() -> float:
    """Return the CPU seconds of the browser's processes so far."""
    found = 0.0
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and b"chromium" in (entry / "cmdline").read_bytes():
                found += cpu(int(entry.name))
        except OSError:  # it has ended
            continue
    return found


def counted(run: Command) -> float:
    """Return the number of learned events."""
    return run.metrics()["iln_events_total"]


def load(browser: Browser, url: str) -> dict[str, float]:
    """Load the page with an empty cache; return the time of its first paint, and bytes."""
    context = browser.new_context()
    page = context.new_page()
    received = _bytes_of(page)
    page.goto(url)
    page.wait_for_selector("#events tbody tr")
    files = sum(received.values())
    paint = page.evaluate(
        "() => performance.getEntriesByName('first-contentful-paint')[0].startTime"
    )
    shown = page.evaluate("() => performance.now()")
    context.close()
    return {"first_paint_ms": paint, "data_shown_ms": shown, "bytes": files}


def _bytes_of(page: Page) -> dict[str, float]:
    """Return a mapping that counts the bytes of each request, headers included."""
    received: dict[str, float] = {}
    network = page.context.new_cdp_session(page)
    network.send("Network.enable")

    def count(message: dict[str, Any], size: float) -> None:
        received[message["requestId"]] = received.get(message["requestId"], 0.0) + size

    network.on("Network.dataReceived", lambda m: count(m, m["encodedDataLength"]))
    network.on("Network.responseReceived", lambda m: count(m, m["response"]["encodedDataLength"]))
    return received


def report(found: dict[str, Any]) -> None:
    """Print the figures."""
    for kind, turns in found["turns"].items():
        middle = {key: statistics.median(turn[key] for turn in turns) for key in turns[0]}
        print(
            f"{kind}: {middle['cpu_us_per_event']:.2f} us of CPU an event, "
            f"{middle['events_per_second']:,.0f} events/s; of a core the page's server takes "
            f"{middle['server']:.1%}, Chromium {middle['browsers']:.0%}"
        )
    for kind, ratios in found["ratios"].items():
        for key, ratio in ratios.items():
            print(f"{key}, ten {kind} over alone, median of pairs: {ratio:.4f}")
    for key in found["loads"][0]:
        values = sorted(each[key] for each in found["loads"])
        print(f"{key}: median {statistics.median(values):,.0f}, largest {values[-1]:,.0f}")


if __name__ == "__main__":
    main()
