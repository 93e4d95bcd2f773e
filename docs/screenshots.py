"""Takes the pictures of the page in docs/images, of real runs: `make screenshots`."""

import json
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from itertools import count, cycle, islice
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser
from river import datasets
from support.chromium import chromium, inter
from support.embedded_log import append
from support.page_runs import Run

from iln_stream.cli.demo import CHALLENGERS, demand
from iln_stream.records import promotion

IMAGES = Path(__file__).parent / "images"
DESKTOP = {"width": 1440, "height": 1500}
PHONE = {"width": 390, "height": 844}
RATE = 12.0
SECONDS = 45.0
PROMOTIONS = {3600: "fast", 5200: "infinite-layer"}
"""By the hour after which they come."""


def city() -> Iterator[list[bytes]]:
    """Yield the records of each hour of the demo's endless stream, and now and then a wrong one.

    A challenger is promoted, and the first champion comes back.
    """
    for n, event in enumerate(demand(1)):
        records = [json.dumps(event).encode()]
        if n % 3000 == 2500:
            records.append(b'{"x": {"temperature": 21.5, "sky": "clear"}, "y": "n/a"}')
        if n in PROMOTIONS:
            records.append(promotion(PROMOTIONS[n]))
        yield records


def segments() -> Iterator[list[bytes]]:
    """Yield the records of each segment of an image; its class comes 40 to 100 events later."""
    waiting = []
    for n, (x, y) in zip(count(), cycle(datasets.ImageSegments()), strict=False):
        records = [json.dumps({"x": x, "id": f"s-{n}"}).encode()]
        waiting.append((n, y))
        while len(waiting) > 40 + n * 7 % 60:
            first, label = waiting.pop(0)
            records.append(json.dumps({"id": f"s-{first}", "y": label}).encode())
        yield records


@contextmanager
def shown(source: Callable[[], Iterator[list[bytes]]], n: int, *flags: str) -> Iterator[str]:
    """Learn `n` events, then `RATE` a second; yield the page's address some time later."""
    with tempfile.TemporaryDirectory() as name:
        log, stream = Path(name) / "log.db", source()
        append(log, [record for records in islice(stream, n) for record in records])
        run, stopped = Run(Path(name), *flags), threading.Event()

        def feed() -> None:
            while not stopped.wait(1.0 / RATE):
                append(log, next(stream))

        with run.command:
            run.wait_for(lambda m: m.get("iln_events_total", 0) >= n)
            feeding = threading.Thread(target=feed)
            feeding.start()
            try:
                yield run.url
            finally:
                stopped.set()
                feeding.join()


def picture(browser: Browser, url: str, scheme: str, size: dict[str, int], scale: int) -> Image:
    """Return a picture of the page."""
    context = browser.new_context(viewport=size, color_scheme=scheme, device_scale_factor=scale)
    page = context.new_page()
    page.goto(url)
    page.wait_for_selector("#events tbody tr", state="attached")
    page.wait_for_timeout(2000)
    image = Image.open(BytesIO(page.screenshot())).convert("RGB")
    context.close()
    return image


def save(image: Image, name: str) -> None:
    """Write a picture without loss."""
    path = IMAGES / name
    image.save(path, lossless=True, method=6)
    print(f"{path.name}: {path.stat().st_size // 1024} KiB")


def main() -> None:
    """Take all pictures."""
    learner = (
        *("--prediction-intervals", "0.9", "--challengers", json.dumps(CHALLENGERS), "--mixture"),
        *("--snapshots", "state", "--snapshot-seconds", "9", "--snapshot-pickle"),
    )
    classifier = ("--learner", "infinite-layer-classifier", "--pending-events", "1000")
    with chromium(fonts=inter()) as browser:
        with shown(city, 7000, *learner) as url:
            watching = browser.new_page()  # so that the page measures the rate each second
            watching.goto(url)
            watching.wait_for_timeout(1000 * SECONDS)
            save(picture(browser, url, "light", DESKTOP, 1), "page.webp")
            save(picture(browser, url, "dark", DESKTOP, 1), "page_dark.webp")
            both = Image.new("RGB", (4 * PHONE["width"] + 40, 2 * PHONE["height"]), "white")
            for i, scheme in enumerate(("light", "dark")):
                both.paste(picture(browser, url, scheme, PHONE, 2), (i * (both.width + 40) // 2, 0))
            save(both.resize((both.width * 2 // 3, both.height * 2 // 3)), "page_phone.webp")
            watching.close()
        with shown(segments, 2500, *classifier) as url:
            watching = browser.new_page()
            watching.goto(url)
            watching.wait_for_timeout(1000 * SECONDS)
            save(picture(browser, url, "light", DESKTOP, 1), "page_classes.webp")
            watching.close()


if __name__ == "__main__":
    main()
