"""What the page shows of the past, of slices and of the first minute, in a real browser."""

import json
import math
import random
import shutil
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from support import contenders
from support.embedded_log import append
from support.live_answer import live
from support.page_runs import FAST, Run

DAY, HOUR = 86_400, 3600
N_HOURS = 1200
MONDAY = 1_767_571_200
"""5 January 2026, 00:00 UTC."""


def hours():
    """Return hourly events: a curve that repeats each day, larger errors at eight and in rain."""
    rng = random.Random(0)
    found = []
    for n in range(N_HOURS):
        sky = rng.choice(("sun", "rain", "cloud", "cloud"))
        noise = 1.0 + 25.0 * (n % 24 == 8) + 8.0 * (sky == "rain")
        load = 100.0 + 40.0 * math.sin(n % 24 / 24 * 2 * math.pi) + noise * rng.gauss(0.0, 0.3)
        event = {"at": MONDAY + HOUR * n, "load": load, "sky": sky, "wind": rng.random()}
        found.append(json.dumps(event).encode())
    return found


@pytest.fixture(scope="module")
def load(tmp_path_factory):
    """A run of hourly events with a unit and intervals."""
    folder = tmp_path_factory.mktemp("load")
    append(folder / "log.db", hours())
    flags = ("--target", "load", "--time-field", "at", "--target-unit", "MW")
    with Run(folder, *FAST, *flags, "--prediction-intervals", "0.9") as started:
        started.learned(N_HOURS)
        yield started


def opened(show, run):
    """Return the page of the run once it has all events."""
    page = show(run.url, viewport={"width": 1440, "height": 900})
    page.wait_for_function(
        "n => Number(document.querySelector('[data-metric=iln_events_total]')?.value) === n",
        arg=N_HOURS,
    )
    return page


def table(page, card):
    """Return the heads and rows of the table of a card's chart."""
    if not page.locator(f"#{card} details[open]").count():
        page.locator(f"#{card} summary:visible").click()
    page.locator(f"#{card} details[open] tbody td").first.wait_for()
    heads = page.locator(f"#{card} details[open] thead th").all_inner_texts()
    rows = page.locator(f"#{card} details[open] tbody tr")
    return heads, [row.split("\t") for row in rows.all_inner_texts()]


def test_the_range_of_the_past(load, show):
    """Predictions and errors show the latest 256 steps, some of the last 10,000 or some of all.

    The axis has the events' times; the range is chosen with the keyboard, too.
    """
    page = opened(show, load)
    spans = {}
    for card in ("predictions", "windowed-0"):
        for choice in ("256", "10k", "All"):
            page.locator(f"#{card} .range label", has_text=choice).click()
            heads, rows = table(page, card)
            assert heads[0] == "time"
            spans[card, choice] = rows[-1][0], rows[0][0]
    first, last = "5 Jan", "23 Feb, 23:00"
    assert {end for _, end in spans.values()} == {last}
    assert all(spans[card, "All"][0].startswith(first) for card in ("predictions", "windowed-0"))
    assert all(not spans[card, "256"][0].startswith(first) for card in ("predictions",))
    assert "Some of all events" in page.locator("#predictions").inner_text()
    assert {"prediction", "label", "interval"} <= set(table(page, "predictions")[0])
    page.locator("#predictions .range input:checked").focus()
    page.keyboard.press("ArrowLeft")
    assert "the latest 10,000 events" in page.locator("#predictions").inner_text()


def test_the_day_before_is_a_baseline(load, show):
    """Of a stream with a daily course, repeating the day before is what the model is judged by."""
    page = opened(show, load)
    assert "than repeating the day before" in page.locator("#verdict").inner_text()
    assert page.locator("#standings tr", has_text="day before").count() == 1
    assert "day before" in table(page, "windowed-0")[0]


def test_the_unit_of_the_target(load, show):
    """The setting `target_unit` is in the title, beside errors and on the axis."""
    page = opened(show, load)
    assert page.locator("h1").inner_text() == "load in MW"
    assert page.locator("#figures [data-unit=MW]").count() == 2
    assert "in MW" in page.locator("#windowed-0 header").inner_text()
    ticks = page.locator("#predictions .plot:visible .tick")
    assert ticks.filter(has_text="MW").count() == 1


def test_where_the_errors_are(load, show):
    """The hour and the category with the larger errors are named, the largest first.

    Hours after that one may follow, as the learner also follows its noise; nothing else does.
    """
    page = opened(show, load)
    rows = page.locator("#slices tbody tr")
    rows.first.wait_for()
    named = [row.split("\t")[0] for row in rows.all_inner_texts()]
    assert named[0] == "hour 08:00 UTC"
    assert [name for name in named if not name.startswith("hour")] == ["sky rain"]
    assert "latest 1,000 labels" in page.locator("#slices header").inner_text()


def test_a_failed_challenger_gives_its_whole_reason(tmp_path, run, show):
    """The reason is behind its first word, for pointer, keyboard and touch; nothing is cut off."""
    shutil.copy(contenders.__file__, tmp_path)
    reason = "it lacks the columns " + ", ".join(f"sensor_{n}" for n in range(30))
    failing = {"learner": "contenders:Failing", "learner_options": {"reason": reason}}
    append(tmp_path / "log.db", [b'{"x": {"a": 1.0}, "y": 1.0}'] * 20)
    state = ("--snapshots", "state", "--snapshot-pickle")
    started = run(*FAST, *state, "--challengers", json.dumps({"failing": failing}))
    started.learned(20)
    page = show(started.url, viewport={"width": 390, "height": 800})
    summary = page.locator("#standings .failed:visible summary")
    summary.wait_for()
    assert summary.inner_text() == "20 failed: ArithmeticError"
    summary.focus()
    page.keyboard.press("Enter")
    assert page.locator("#standings .failed p:visible").inner_text() == f"ArithmeticError: {reason}"
    assert page.evaluate("document.documentElement.scrollWidth") == 390


@pytest.fixture
def waiting():
    """A learner's address and the state that it answers, which a test may change."""
    says = {"state": "waiting: compiling the learner's loops: 12 of about 33"}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            answer = json.dumps({**live(0), **says}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", says
        server.shutdown()


def test_the_first_minute_has_steps(waiting, page_of, show):
    """Before the first event the page says what is done and what comes next, and no empty chart."""
    url, says = waiting
    page = show(page_of(url, "--poll-seconds", "0.2"))
    now = page.locator(".steps [aria-current=step]")
    now.filter(has_text="Compiled 12 of about 33 functions, once per machine").wait_for()
    assert page.locator(".card, #figures").filter(visible=True).count() == 0
    says["state"] = "idle"
    now.filter(has_text="Learning begins by itself with the first event").wait_for()
    assert page.locator(".steps [data-step=done]").count() == 2
    letter = {"serial": 0, "partition": 0, "offset": 0, "reason": "no JSON", "payload": "x"}
    says["models"] = [{**live(0)["models"][0], "dead_letters": [letter]}]
    page.locator("#letters").wait_for()
    assert page.locator(".steps").is_hidden()
