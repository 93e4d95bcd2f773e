"""Takes the pictures of the page in docs/images, of five real runs: `make screenshots`."""

import json
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from itertools import count, islice
from math import exp, pi, sin
from pathlib import Path
from random import Random

from PIL import Image
from playwright.sync_api import Browser
from support.chromium import chromium, inter
from support.embedded_log import append
from support.page_runs import Run

from iln_stream.cli.demo import CHALLENGERS, demand
from iln_stream.records import promotion

IMAGES = Path(__file__).parent / "images"
DESKTOP = {"width": 1440, "height": 1500}
PHONE = {"width": 390, "height": 844}
HEIGHTS = {"page": {"height": 1260}}
"""Where a picture ends between two rows of cards."""
RATE = 12.0
SECONDS = 45.0
MONDAY, HOUR = 1_767_571_200, 3600
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


def load() -> Iterator[list[bytes]]:
    """Yield the same demand as records of fields, with the time of each hour and the sky."""
    for n, event in enumerate(demand(1)):
        x = event["x"]
        sky = ("clear", "fair", "cloudy")[min(2, int(3 * x["clouds"]))]
        fields = {name: x[name] for name in ("temperature", "wind", "industry")}
        yield [encoded(at=MONDAY + HOUR * n, **fields, sky=sky, demand=event["y"])]


def payments() -> Iterator[list[bytes]]:
    """Yield payments; one in twelve is a fraud, mostly of large amounts by new customers."""
    rng = Random(1)  # noqa: S311
    for n in count():
        amount, before = rng.lognormvariate(3.5, 1.0), min(20, int(rng.expovariate(0.2)))
        device, country = rng.choice(("ios", "android", "web")), rng.choice(("NO", "DE", "US"))
        risk = 1.3 * (amount > 60) + 1.6 * (before < 2) + 1.8 * (device == "web") - 4.6
        yield [
            encoded(
                at=MONDAY + 40 * n, payment=f"p-{n}", amount=round(amount, 2), device=device,
                country=country, payments_before=before, fraud=rng.random() < 1 / (1 + exp(-risk)),
            )
        ]  # fmt: skip


def deliveries() -> Iterator[list[bytes]]:
    """Yield orders and, later, how many minutes they took; of one in thirty nobody says it."""
    rng, waiting = Random(1), []  # noqa: S311
    for n in count():
        at = MONDAY + 120 * n
        km, kitchen, rain = (
            rng.uniform(0.5, 9.0),
            rng.choice(("sushi", "pizza", "curry")),
            n % 90 < 25,
        )
        minutes = 12 + 3.2 * km + 9 * (kitchen == "curry") + 8 * rain + abs(rng.gauss(0, 4))
        if rng.random() > 1 / 30:
            waiting.append((at + 60 * minutes, n, minutes))
        due = sorted(each for each in waiting if each[0] <= at)
        waiting = [each for each in waiting if each[0] > at]
        yield [
            encoded(at=at, order=f"o-{n}", km=round(km, 1), kitchen=kitchen, rain=rain),
            *(encoded(at=t, order=f"o-{of}", delivery=round(took, 1)) for t, of, took in due),
        ]


def shops() -> Iterator[list[bytes]]:
    """Yield what eight shops sell in each hour."""
    rng = Random(1)  # noqa: S311
    for n in count():
        open_now = max(0.0, sin(pi * (n % 24 - 7) / 13)) if 7 <= n % 24 <= 20 else 0.0
        for i, shop in enumerate(
            ("Oslo", "Bergen", "Moss", "Voss", "Bodø", "Alta", "Hamar", "Narvik")
        ):
            size = 400.0 / (i + 1) * open_now * (1.3 if n // 24 % 7 > 4 else 1.0)
            sold = max(0.0, size * rng.gauss(1.0, 0.05 + 0.05 * i))
            yield [encoded(at=MONDAY + HOUR * n, shop=shop, sold=round(sold))]


def encoded(**fields: object) -> bytes:
    """Return a record."""
    return json.dumps(fields).encode()


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
            run.wait_for(lambda m: m.get("iln_consumer_lag_records") == 0)
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


INTERVALS = ("--prediction-intervals", "0.9")
STATE = ("--snapshots", "state", "--snapshot-seconds", "9", "--snapshot-pickle")
AT = ("--time-field", "at", "--target")
CONTEST = ("--challengers", json.dumps(CHALLENGERS), "--mixture")
TWO = ("--challengers", json.dumps({name: CHALLENGERS[name] for name in ("fast", "linear")}))

RUNS = {
    "page": (city, 7000, (*INTERVALS, *CONTEST, *STATE)),
    "page_demand": (
        load, 6000, (*AT, "demand", "--target-unit", "MW", "--time-features", "hour,weekday",
        *INTERVALS, *STATE),
    ),
    "page_classes": (
        payments, 6000, (*AT, "fraud", "--id-field", "payment", "--learner",
        "infinite-layer-classifier"),
    ),
    "page_deliveries": (
        deliveries, 4000, (*AT, "delivery", "--target-unit", "min", "--id-field", "order",
        "--pending-events", "1000", "--pending-seconds", "7200", *INTERVALS, *TWO, *STATE),
    ),
    "page_series": (
        shops, 8000, (*AT, "sold", "--series", "shop", "--horizon", "1", *INTERVALS,
        "--lags", '{"sold": [24, 168]}', "--time-features", "hour,weekday"),
    ),
}  # fmt: skip
"""Pictures, with the stream, how many of its items are there at first, and the flags."""


def main(*only: str) -> None:
    """Take all pictures, or those of the runs named."""
    with chromium(fonts=inter()) as browser:
        for name, (source, n, flags) in RUNS.items():
            if only and name not in only:
                continue
            with shown(source, n, *flags) as url:
                watching = browser.new_page()  # so that the page measures the rate each second
                watching.goto(url)
                watching.wait_for_timeout(1000 * SECONDS)
                size = DESKTOP | HEIGHTS.get(name, {})
                save(picture(browser, url, "light", size, 1), f"{name}.webp")
                if name == "page":
                    both = Image.new("RGB", (4 * PHONE["width"] + 40, 2 * PHONE["height"]), "white")
                    for i, scheme in enumerate(("light", "dark")):
                        phone = picture(browser, url, scheme, PHONE, 2)
                        both.paste(phone, (i * (both.width + 40) // 2, 0))
                    smaller = both.resize((both.width * 2 // 3, both.height * 2 // 3))
                    save(smaller, "page_phone.webp")
                watching.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
