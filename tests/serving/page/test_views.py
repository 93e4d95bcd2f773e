"""What the page shows of the past, of slices and of the first minute, in a real browser."""

import json
import math
import random
import re
import shutil
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from time import time

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
    """Return hourly events: a curve that repeats each day, larger errors at six and in rain."""
    rng = random.Random(11)
    found = []
    for n in range(N_HOURS):
        sky = rng.choice(("sun", "rain", "cloud", "cloud"))
        noise = 1.0 + 25.0 * (n % 24 == 6) + 8.0 * (sky == "rain")
        load = 100.0 + 40.0 * math.sin(n % 24 / 24 * 2 * math.pi) + noise * rng.gauss(0.0, 0.3)
        event = {"at": MONDAY + HOUR * n, "load": load, "sky": sky, "wind": rng.random()}
        found.append(json.dumps(event).encode())
    return found


@pytest.fixture(scope="module")
def load(tmp_path_factory):
    """A run of hourly events with a unit and intervals."""
    folder = tmp_path_factory.mktemp("load")
    append(folder / "log.db", hours())
    named = ("--target", "load", "--time-field", "at", "--target-unit", "MW")
    flags = (*named, "--time-features", "hour")
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
    """Predictions show the latest 256 steps, these and errors some of the last 10,000 or of all.

    The axis has the events' times; the range is chosen with the keyboard, too.
    """
    page = opened(show, load)
    spans = {}
    for card in ("predictions", "windowed-0"):
        for choice in ("256", "10k", "All")[card == "windowed-0" :]:
            page.locator(f"#{card} .range label", has_text=choice).click()
            heads, rows = table(page, card)
            assert heads[0] == "time"
            spans[card, choice] = rows[-1][0], rows[0][0]
    first, last = "6 Jan", "23 Feb, 23:00"  # some of 1,200 events, from 5 January on
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


def daily(first, last, level=1.0):
    """Return events of a stream, one each three minutes, whose noise is largest at noon."""
    rng, found = random.Random(first), []
    for n in range(first, last):
        noise = level * (1.0 + 5.0 * max(0.0, -math.cos(n / 240 * math.pi)) ** 3)
        x = rng.uniform(-1.0, 1.0)
        fields = {"at": MONDAY + 180 * n, "x": x, "load": 20.0 * x + rng.gauss(0.0, noise)}
        found.append(json.dumps(fields).encode())
    return found


def test_a_daily_rhythm_is_no_change(tmp_path, run, show):
    """Errors that are largest at noon are steady, before and after a restart; if they are larger
    than usual at noon, the stream has changed."""
    noon = 4 * 480 + 250
    append(tmp_path / "log.db", daily(0, noon))
    flags = (*FAST, "--target", "load", "--time-field", "at", "--snapshots", "state")
    for _ in range(2):
        started = run(*flags)
        started.learned(noon)
        page = show(started.url)
        drift = page.locator("#figures [data-metric=iln_recent_error_ratio]")
        drift.locator("xpath=..").filter(has_text="usual at this hour").wait_for()
        assert float(drift.get_attribute("value")) > 1.5
        verdict = page.locator("#verdict.good").inner_text()
        assert verdict.endswith("; steady; up to date; nothing to do.")
        page.goto("about:blank")
        started.command.terminate()
    append(tmp_path / "log.db", daily(noon, noon + 100, 4.0))
    page = show(run(*flags).url)
    page.locator("#verdict.warning", has_text="the stream has changed").wait_for()


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

    Hours after that one may follow, as the learner also follows its noise; nothing else does, not
    the inputs that are made of the hour.
    """
    page = opened(show, load)
    rows = page.locator("#slices tbody tr")
    rows.first.wait_for()
    named = [row.split("\t")[0] for row in rows.all_inner_texts()]
    assert named[0] == "hour 06:00 UTC"
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
    """Before the first event the page says what is done, how long it takes and what comes next;
    no empty chart, and nothing that looks like a failure."""
    url, says = waiting
    says["started_at"] = time() - 12.0
    page = show(page_of(url, "--poll-seconds", "0.2"))
    now = page.locator(".steps [aria-current=step]")
    now.filter(has_text="Compiling 12 of about 33 loops, once per machine").wait_for()
    verdict = page.locator("#verdict")
    assert re.fullmatch(r"Getting ready, about [234]0 s\.", verdict.inner_text())
    assert verdict.get_attribute("class") == "good"
    assert page.locator("#status").inner_text() == "Getting ready"
    assert page.locator(".card, #figures").filter(visible=True).count() == 0
    says["state"] = "idle"
    now.filter(has_text="Learning begins by itself with the first event").wait_for()
    assert page.locator(".steps [data-step=done]").count() == 2
    letter = {"serial": 0, "partition": 0, "offset": 0, "reason": "no JSON", "payload": "x"}
    says["models"] = [{**live(0)["models"][0], "dead_letters": [letter]}]
    page.locator("#letters").wait_for()
    assert page.locator(".steps").is_hidden()


def answer(n, first=1, letters=0, lag=0, **metrics):
    """Return the model of a learner after n steps, and dead letters among those after `first`."""
    (model,) = live(n)["models"]
    model["task"], model["target"] = "regression", "rentals"
    row = dict.fromkeys(("y", "y_pred", "p", "id", "time", "delay", "interval"), None)
    row |= {"partition": 0, "offset": 1, "flags": [], "late": False}
    model["steps"] = [{**row, "serial": k} for k in range(max(1, n - 255), n + 1)]
    letter = {"partition": 0, "offset": 0, "reason": "no JSON", "payload": "x"}
    serials = [first + k * (n - first) // max(1, letters) for k in range(letters)]
    model["dead_letters"] = [{**letter, "serial": k} for k in serials]
    errors = {"model": 1.0, "last_value": 2.0}
    model["metrics"] |= {"iln_error/mae/window": errors, "iln_error/mae/all": errors, **metrics}
    model["metrics"] |= {"iln_labelled_events_total": n, "iln_consumer_lag_records": lag}
    return [model]


def test_the_verdict_has_a_next_step(waiting, page_of, show):
    """Dead letters, a lag that doesn't shrink and a better challenger are said, each with what to
    do; expired labels are counted whatever their reason, and inputs made of one field together."""
    url, says = waiting
    says |= {"state": "learning", "models": answer(5000)}
    page = show(page_of(url, "--poll-seconds", "0.2"))
    verdict = page.locator("#verdict")
    good = "Lately 50% better than repeating the last value; steady"

    def becomes(text, look):
        page.locator(f"#verdict.{look}").filter(
            has_text=re.compile(f"^{re.escape(text)}$")
        ).wait_for()

    becomes(f"{good}; up to date; nothing to do.", "good")
    says["models"] = answer(5000, 4977, letters=50)
    unread = "7 of 10 recent records could not be learned; up to date; see Dead letters."
    becomes(f"{good}; {unread}", "bad")
    says["models"] = answer(5000, 4800, letters=1)  # a single one is no reason to worry
    becomes(f"{good}; up to date; nothing to do.", "good")
    says["models"] = answer(5000, lag=70_000)
    becomes(
        f"{good}; 70,000 records behind and not catching up; choose a faster profile, or workers.",
        "warning",
    )
    says["models"] = answer(
        5000,
        iln_pending_events=3,
        iln_pending_expired_total={"age": 170.0, "count": 6.0, "replaced": 0.0},
        iln_input_relevance_ratio={
            "rentals.lag_167": 0.3, "rentals.level": 0.2, "time.hour.sin": 0.1,
            "time.hour.cos": 0.1, "tank.level": 0.05,
        },
    )  # fmt: skip
    page.locator("#delay tbody tr").nth(1).wait_for()
    late = page.locator("#delay tbody tr").all_inner_texts()
    assert late == ["Events that wait\t3", "Events that expired\t176"]
    bars = [row.split() for row in page.locator("#inputs tbody tr").all_inner_texts()]
    assert [(row[0], row[-1]) for row in bars] == [
        ("rentals", "50%"), ("time.hour", "20%"), ("tank.level", "5%"), ("all", "25%"),
    ]  # fmt: skip
    better = {"status": "challenger", "lower": 0.01, "upper": 0.2, "windowed_error": 0.5}
    usual = {"status": "champion", "lower": None, "upper": None, "windowed_error": 1.0}
    open_ = {**better, "lower": -1.0, "upper": 1.0, "windowed_error": 2.0}
    (model,) = says["models"]
    names = {"first": usual, "linear": better, "slow": open_}
    more = {"learner": "l", "version": "", "n_failures": 0, "running_error": 1.0}
    says["models"] = [{**model, "contenders": [{"name": k, **v, **more} for k, v in names.items()]}]
    becomes(f"{good}; up to date; linear predicts better; promote linear.", "good")
    says["models"][0]["contenders"][1]["status"] = "out"
    becomes(f"{good}; up to date; linear is out; see why it fails.", "warning")
    says["models"][0]["metrics"]["iln_learning_problem"] = {"labels_without_events": 1.0}
    problem = "labels without events; up to date; linear is out; read the log."
    becomes(f"{good}; {problem}", "warning")
    slow = page.locator("#standings tr", has_text="slow").inner_text()
    assert "undecided: worse so far, needs more events" in slow
    assert verdict.count() == 1
