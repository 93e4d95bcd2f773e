"""The page in a real browser, through real runs."""

import json
import random
import shutil

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from prometheus_client.parser import text_string_to_metric_families
from support import contenders
from support.command_line import iln
from support.embedded_log import append
from support.page_runs import FAST, events
from support.ports import free_port
from support.running_api import eventually

from iln_stream.streams.sqlite import create_topic

DEADLINE = 60_000  # ms
WINDOWED, RUNNING = "iln_error/mae/window", "iln_error/mae/all"


def samples(run):
    """Return the values of /metrics, named as in /live: by name, or by name and the last label."""
    text = httpx.get(f"{run.metrics_url}/metrics", trust_env=False).text
    found = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            of = sample.labels
            names = [of.get(k) for k in ("measure", "over", "bound") if k in of]
            own = [
                v
                for k, v in of.items()
                if k not in ("model", "partition", "measure", "over", "bound")
            ]
            found["/".join([sample.name, *names]), *own] = sample.value
    return found


def figures(page):
    """Return the figures that the page shows, by metric."""
    found = page.locator("#figures data").evaluate_all(
        "nodes => nodes.map(node => [node.dataset.metric, Number(node.value)])"
    )
    return dict(found)


def says(page, words):
    """Wait until the status has some words."""
    page.locator("#status").filter(has_text=words).wait_for(timeout=DEADLINE)


def shows(page, metric, value):
    """Wait until the page shows a metric's value."""
    page.wait_for_function(
        "([metric, value]) => Number(document.querySelector(`#figures [data-metric=${metric}]`)"
        "?.value ?? NaN) === value",
        arg=[metric, value],
        timeout=DEADLINE,
    )


def formatted(page, how, value):
    """Return how the page writes a value."""
    return page.evaluate(f"async v => (await import('/format.js')).{how}(v)", value)


def newest(page, card):
    """Return the newest row of a chart's table, by column."""
    fold = page.locator(".fold:not([open])", has=page.locator(f"#{card}"))
    if fold.count():
        fold.locator("> summary").click()
    summary = page.locator(f"#{card} summary:visible")
    if page.locator(f"#{card} details[open]").count() == 0:
        summary.click()
    page.locator(f"#{card} details[open] tbody td").first.wait_for()  # drawn by a later event
    heads = page.locator(f"#{card} details[open] thead th").all_inner_texts()
    cells = page.locator(f"#{card} details[open] tbody tr").first.locator("td").all_inner_texts()
    return dict(zip(heads, cells, strict=True))


def test_a_regression_shows_what_the_metrics_say(regression, show):
    """After the last event, figures, tables and charts have the values of /metrics."""
    page = show(regression.url)
    shows(page, "iln_events_total", 900)
    said = samples(regression)
    shown = figures(page)
    assert shown.keys() == {
        *(WINDOWED, RUNNING, "iln_events_total", "iln_recent_error_ratio"),
        *("iln_consumer_lag_records", "iln_dead_letters_total"),
    }
    assert shown == {name: said.get((name,), said.get((name, "model"))) for name in shown}

    best = min(("running_mean", "last_value"), key=lambda name: said[WINDOWED, name])
    saved = formatted(page, "share", 1.0 - said[WINDOWED, "model"] / said[WINDOWED, best])
    called = {"running_mean": "the mean label", "last_value": "repeating the last value"}[best]
    expected = f"{saved} better than {called}, after 900 labels; up to date; nothing to do."
    assert page.locator("#verdict").inner_text() == expected

    number = lambda *key: formatted(page, "number", said[key])  # noqa: E731
    rows = page.locator("#standings tbody tr").all_inner_texts()
    assert [row.split() for row in rows] == [
        [*called.split("_"), number(WINDOWED, name), number(RUNNING, name)]
        for called, name in (
            ("infinite-layer", "model"),
            ("running_mean", "running_mean"),
            ("last_value", "last_value"),
        )
    ]
    assert newest(page, "windowed-0") == {
        "event": "900",
        "infinite-layer": number(WINDOWED, "model"),
        "running mean": number(WINDOWED, "running_mean"),
        "last value": number(WINDOWED, "last_value"),
    }
    assert newest(page, "drift")["drift"] == number("iln_recent_error_ratio")
    weights = newest(page, "experts")
    for name, text in weights.items():
        if name not in ("event",) and "others" not in name:
            assert text == formatted(page, "percent", said["iln_expert_weight", name])

    def relevance():  # is computed now and then
        said = samples(regression)
        return {
            key[1]: formatted(page, "percent", v)
            for key, v in said.items()
            if key[0] == "iln_input_relevance_ratio"
        }

    def bars():
        rows = page.locator("#inputs tbody tr").all_inner_texts()
        return {row.split()[0]: row.split()[-1] for row in rows}

    eventually(lambda: bars() == relevance() != {})
    letters = page.locator("#letters tbody tr").all_inner_texts()
    assert ["901" in letters[0], "900" in letters[1]] == [True, True]
    assert "n/a" in letters[0]
    assert page.locator("#events tbody tr").first.inner_text().split()[3] == "e-899"
    assert page.locator("#checkpoints tbody tr").count() > 0


def test_the_worst_series_are_named(tmp_path, run, show):
    """With the setting `series`, the series with the largest errors comes first, and says so.

    A model that is no better than a baseline says this on top, in amber.
    """
    rng = random.Random(0)
    append(
        tmp_path / "log.db",
        [
            json.dumps(
                {"at": 3600 * hour, "shop": shop, "sold": size * (1.0 + noise * rng.random())}
            ).encode()
            for hour in range(400)
            for shop, size, noise in (("a", 5.0, 0.1), ("b", 500.0, 3.0), ("c", 50.0, 0.5))
        ],
    )
    started = run(
        *("--target", "sold", "--time-field", "at", "--series", "shop", "--horizon", "1"),
        *("--profile", "fast"),
    )
    started.learned(1197)
    page = show(started.url)
    shows(page, "iln_events_total", 1200)
    rows = [row.split() for row in page.locator("#worst-series tbody tr").all_inner_texts()]
    assert [row[0] for row in rows] == ["b", "c", "a"]
    assert {row[2] for row in rows} == {"399"}
    verdict = page.locator("#verdict")
    assert verdict.inner_text().startswith("Lately about as good as the mean label; steady; up")
    assert verdict.get_attribute("class") == "warning"
    heads = page.locator("#events thead th:visible").all_inner_texts()
    assert heads[2:4] == ["Series", "Label"]  # no event has an id
    assert page.locator("#events tbody tr").first.locator("td").nth(2).inner_text() == "c"
    page.locator("#predictions select").select_option("b")
    page.locator("#predictions summary:visible").click()
    labels = page.locator("#predictions tbody td:nth-child(3)")
    labels.first.wait_for()
    assert {float(text.replace(",", "")) >= 500 for text in labels.all_inner_texts()} == {True}


@pytest.mark.thorough
def test_algorithm_1_shows_what_the_metrics_say(tmp_path, run, show):
    """Shrink frequency and norm of alpha are those of /metrics; parts that it lacks are hidden."""
    append(tmp_path / "log.db", events(0, 400))
    started = run("--learner", "shrinking-gradient", "--learner-options", '{"norm_bound": 0.02}')
    started.learned(400)
    page = show(started.url)
    shows(page, "iln_events_total", 400)
    said = samples(started)
    assert newest(page, "alpha")["norm"] == formatted(page, "number", said["iln_alpha_l1",])
    shown = newest(page, "shrinks")["shrink frequency"]
    assert shown == formatted(page, "percent", said["iln_shrink_frequency",])
    assert shown != "0%"
    assert page.locator("#experts, #inputs, #drift, #delay").filter(visible=True).count() == 0


@pytest.mark.thorough
def test_a_classification_shows_what_the_metrics_say(classification, show):
    """Log loss, wrong classes, waiting events and late labels are those of /metrics."""
    page = show(classification.url)
    shows(page, "iln_events_total", 300)
    said = samples(classification)
    shown = figures(page)
    wrong = "iln_error/misclassification/window"
    assert {"iln_error/loss/window", "iln_error/loss/all", wrong} <= shown.keys()
    assert shown == {name: said.get((name,), said.get((name, "model"))) for name in shown}
    assert newest(page, "windowed-1") == {
        "event": "300",
        "infinite-layer-classifier": formatted(page, "percent", said[wrong, "model"]),
        "majority class": formatted(page, "percent", said[wrong, "majority_class"]),
    }
    assert "Events that wait\t20" in page.locator("#delay").inner_text()
    assert page.locator("#events tbody tr").filter(has_text="no label yet").count() > 0
    assert "late" in page.locator("#events").inner_text()


def test_a_threshold_of_two_classes(tmp_path, run, show):
    """Of two classes, the probabilities are of the rarer one; the table counts what a threshold
    would have caught, and follows the slider."""
    rng = random.Random(0)
    rows = [(rng.random(), rng.random()) for _ in range(300)]
    paid = [{"a": a, "fraud": a + 0.2 * b > 0.9} for a, b in rows]
    append(tmp_path / "log.db", [json.dumps(each).encode() for each in paid])
    started = run("--target", "fraud", "--learner", "infinite-layer-classifier")
    started.learned(300)
    page = show(started.url)
    shows(page, "iln_events_total", 300)
    assert page.locator("h1").inner_text() == "fraud"
    assert "Probability of true" in page.locator("#predictions").inner_text()

    def counts():
        cells = page.locator("#threshold tbody td").all_inner_texts()
        return [[int(cell) for cell in cells[:2]], [int(cell) for cell in cells[2:]]]

    frauds = sum(each["fraud"] for each in paid[1:])  # before the first label no class is known
    (caught, missed), (wrong, right) = counts()
    assert (caught + missed, wrong + right) == (frauds, 299 - frauds)
    base = float(page.locator("#threshold-at").input_value())
    assert base == pytest.approx(frauds / 299, abs=0.01)
    assert page.locator("#figures dt").all_inner_texts()[2] == "ROC AUC"
    assert caught > 0.5 * frauds

    assert "How often true came" in page.locator("#calibration header").inner_text()
    page.locator("#calibration summary").click()
    page.locator("#calibration tbody td").first.wait_for()
    bins = [row.split() for row in page.locator("#calibration tbody tr").all_inner_texts()]
    assert {row[-1][0] for row in bins} == {"±"}
    assert "in 299 labels" in page.locator("#calibration header").inner_text()
    came = [float(row[1].rstrip("%")) for row in bins if row[1] != "–"]
    assert came[0] > 80 > 5 > came[-1]  # the newest first: that of the largest probability
    page.locator("#threshold-at").fill("0.01")
    (more, fewer), (also, _) = counts()
    assert more >= caught
    assert fewer <= missed
    assert also > wrong


def content(page):
    """Return all that the page shows, but for what depends on the clock or the process."""
    page.set_viewport_size({"width": 1280, "height": 5000})  # charts out of sight are not drawn
    page.wait_for_function("() => document.querySelector('#windowed-0 .plot path')")
    page.evaluate(  # charts are drawn anew for this size within a frame or two
        """async () => {
            for (let n = 0; n < 5; n++) await new Promise(done => requestAnimationFrame(done));
        }"""
    )
    return page.evaluate(
        """() => [...document.querySelectorAll(".card:not([hidden]), #figures dd data")]
            .filter(node => !["rate", "lag", "checkpoints", "inputs", "slices"].includes(node.id))
            .map(node => node.innerText + [...node.querySelectorAll(".plot path")]
                .map(path => path.getAttribute("d")).join("")
                + [...node.querySelectorAll(".plot line.event")]
                .map(line => line.getAttribute("x1")).join(" "))"""
    )


@pytest.mark.thorough
def test_a_killed_learner_comes_back_as_it_was(tmp_path, run, page_of, show):
    """The page keeps the last data, says since when the learner is gone, and later shows the same.

    The learner resumes from an earlier snapshot and learns some events again.
    """
    append(tmp_path / "log.db", events(0, 700))
    port = free_port()
    flags = (*FAST, "--snapshots", "state", "--snapshot-seconds", "99")
    first = run(*flags, page=False, port=port)
    first.learned(700)
    page = show(page_of(first.metrics_url))
    shows(page, "iln_events_total", 700)
    says(page, "Up to date")
    page.locator("#figures").filter(has_text="a second lately").wait_for()
    before = content(page)
    first.command.kill()
    says(page, "The learner can't be reached since")
    page.wait_for_function("!document.getElementById('figures').innerText.includes('a second')")
    assert content(page) == before
    second = run(*flags, page=False, port=port)
    second.learned(700)
    says(page, "Up to date")
    shows(page, "iln_events_total", 700)
    assert content(page) == before


def shows_a_promotion(page, card, words):
    """Check the line of a promotion, its name, its text and the table."""
    plot = page.locator(f"#{card} .plot:visible")
    plot.scroll_into_view_if_needed()
    page.wait_for_function(
        "card => document.querySelectorAll(`#${card} .plot line.event`).length === 1", arg=card
    )
    assert page.locator(f"#{card} .plot .event-name").all_text_contents() == [words.split()[0]]
    described = page.locator(f"#{plot.get_attribute('aria-describedby')}")
    assert described.text_content() == words
    if page.locator(f"#{card} details[open]").count() == 0:
        page.locator(f"#{card} summary:visible").click()
    page.locator(f"#{card} details[open] tbody td").first.wait_for()
    notes = page.locator(f"#{card} details[open] tbody td:last-child").all_inner_texts()
    assert [note for note in notes if note] == [words.split(" at ")[0]]


@pytest.mark.thorough
def test_a_contest_shows_who_predicts_best(tmp_path, run, show):
    """Contenders, errors and evidence are those of /metrics; a promotion moves the champion's
    mark."""
    append(tmp_path / "log.db", events(0, 500))
    shutil.copy(contenders.__file__, tmp_path)
    challengers = {
        "linear": {"learner": "contenders:linear"},
        "failing": {"learner": "contenders:Failing"},
    }
    state = ("--snapshots", "state", "--snapshot-pickle")
    flags = (*FAST, *state, "--challengers", json.dumps(challengers), "--mixture")
    first = run(*flags)
    first.learned(500)
    page = show(first.url, viewport={"width": 1440, "height": 800})
    shows(page, "iln_events_total", 500)
    said = samples(first)
    rows = {row.split()[0]: row for row in page.locator("#standings tbody tr").all_inner_texts()}
    assert list(rows) == ["infinite-layer", "linear", "failing", "mixture", "running", "last"]
    assert [name for name, row in rows.items() if "champion" in row] == ["infinite-layer"]
    for name in ("infinite-layer", "linear", "failing", "mixture"):
        for metric in (WINDOWED, RUNNING):
            assert formatted(page, "number", said[metric, name]) in rows[name]
    for name in ("linear", "mixture"):
        low, high = (said[f"iln_contender_evidence/{end}", name] for end in ("lower", "upper"))
        known = f"{formatted(page, 'signed', low)} to {formatted(page, 'signed', high)}"
        assert ("needs more events" if (low, high) == (-1.0, 1.0) else known) in rows[name]
    failures = int(said["iln_contender_failures_total", "failing"])
    assert failures > 0
    assert f"{failures} failed" in rows["failing"]
    shown = newest(page, "windowed-0")
    assert shown["linear"] == formatted(page, "number", said[WINDOWED, "linear"])
    done = iln("promote", "linear", "--source", "sqlite:log.db", *flags, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    append(tmp_path / "log.db", events(500, 560))
    shows(page, "iln_events_total", 560)
    champion = page.locator("#standings tr").filter(has_text="champion")
    assert champion.inner_text().startswith("linear")
    version = json.loads(httpx.get(f"{first.metrics_url}/live", trust_env=False).text)["models"][0]
    versions = {each["name"]: each["version"] for each in version["contenders"]}
    assert len(set(versions.values())) == len(versions) == 4
    assert versions["linear"][:8] in champion.inner_text()
    shows_a_promotion(page, "windowed-0", "linear becomes champion at event 501")
    shows_a_promotion(page, "predictions", "linear becomes champion at step 501")


@pytest.mark.thorough
def test_new_events_appear_as_they_are_learned(tmp_path, run, show):
    """At 12 KB/s and 400 ms, the page shows the last event soon after it was learned, without being
    loaded again. When the run ends, it keeps its data and says that its server is gone."""
    append(tmp_path / "log.db", events(0, 100))
    started = run(*FAST)
    page = show("about:blank", expected="ERR_|Failed to load")
    network = page.context.new_cdp_session(page)
    network.send("Network.enable")
    network.send(
        "Network.emulateNetworkConditions",
        {"offline": False, "latency": 400, "downloadThroughput": 12e3, "uploadThroughput": 12e3},
    )
    page.goto(started.url)
    shows(page, "iln_events_total", 100)
    page.evaluate("window.before = true")
    for n in range(100, 1100, 100):
        append(tmp_path / "log.db", events(n, n + 100))
        page.wait_for_timeout(300)
    started.learned(1100)
    shows(page, "iln_events_total", 1100)
    assert page.locator("#events tbody tr").first.inner_text().split()[3] == "e-1099"
    assert page.evaluate("window.before")
    started.command.kill()
    says(page, "This page's server can't be reached since")
    assert figures(page)["iln_events_total"] == 1100


@pytest.mark.thorough
@pytest.mark.parametrize("last", [13_000, 27_000])
def test_nothing_grows(tmp_path, run, page_of, show, last):
    """Neither elements nor listeners nor memory grow once lists and curves are full."""
    append(tmp_path / "log.db", events(0, 6000))
    started = run(*FAST, page=False)
    page = show(page_of(started.metrics_url, "--poll-seconds", "0.1"))
    shows(page, "iln_events_total", 6000)
    devtools = page.context.new_cdp_session(page)
    devtools.send("Performance.enable")

    def used():
        readings = []
        for _ in range(4):  # what one collection frees may hold more
            devtools.send("HeapProfiler.collectGarbage")
            found = devtools.send("Performance.getMetrics")["metrics"]
            found = {each["name"]: each["value"] for each in found}
            names = ("Nodes", "JSEventListeners", "JSHeapUsedSize")
            readings.append([found[name] for name in names])
            page.wait_for_timeout(200)
        return [min(column) for column in zip(*readings, strict=True)]

    def learn(first, end):  # each append is one or two messages
        for n in range(first, end, 100):
            append(tmp_path / "log.db", events(n, n + 100))
            page.wait_for_timeout(100)
        shown = page.locator("[data-metric=iln_events_total]")  # waiting in the page takes memory
        eventually(lambda: shown.get_attribute("value") == str(end))
        return used()

    learn(6000, 7500)
    nodes, listeners, heap = learn(7500, 9000)
    nodes_after, listeners_after, heap_after = learn(9000, last)
    assert nodes_after - nodes < 40  # ticks come and go
    assert listeners_after <= listeners
    assert heap_after - heap < 1.5e6  # the messages meanwhile are more


@pytest.mark.parametrize(  # every two of the three values come together
    ("task", "width", "scheme"),
    [
        ("regression", 360, "dark"),
        pytest.param("regression", 1440, "light", marks=pytest.mark.thorough),
        pytest.param("classification", 360, "light", marks=pytest.mark.thorough),
        pytest.param("classification", 1440, "dark", marks=pytest.mark.thorough),
    ],
)
def test_axe_finds_nothing(request, show, task, width, scheme):
    """The checks of axe-core pass, with the tables of charts and what is folded open and closed."""
    page = show(
        request.getfixturevalue(task).url,
        color_scheme=scheme,
        viewport={"width": width, "height": 800},
    )
    page.wait_for_selector("#events tbody tr", state="attached")
    for _ in range(2):
        found = Axe().run(page).response["violations"]
        assert [(each["id"], each["nodes"][0]["html"]) for each in found] == []
        page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    assert page.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.thorough
def test_axe_finds_nothing_while_the_learner_is_awaited(page_of, show):
    """The page without any data has no problem either, and says what it waits for."""
    page = show(page_of(f"http://127.0.0.1:{free_port()}"))
    says(page, "The learner can't be reached since")
    assert Axe().run(page).response["violations"] == []


def test_charts_are_read_with_the_keyboard(regression, show):
    """Tab reaches a chart; arrows move its cursor, whose values are said."""
    page = show(regression.url)
    shows(page, "iln_events_total", 900)
    plot = page.locator("#windowed-0 .plot:visible")
    plot.focus()
    said = plot.get_attribute("aria-valuetext")
    assert said.startswith("event 900, infinite-layer ")
    page.keyboard.press("ArrowLeft")
    assert plot.get_attribute("aria-valuetext").startswith("event 896, ")
    page.keyboard.press("Home")
    assert plot.get_attribute("aria-valuetext").startswith("event 8, ")
    assert "event 8" in page.locator("#windowed-0 .legend:visible").inner_text()
    page.keyboard.press("Escape")
    assert "event" not in page.locator("#windowed-0 .legend:visible").inner_text()


@pytest.mark.thorough
def test_a_model_is_chosen(tmp_path, run, show):
    """With several learners, the choice is in the address, and stays when the page is reloaded."""
    create_topic(tmp_path / "log.db", "events", 2)
    append(tmp_path / "log.db", events(0, 300))
    started = run(*FAST, "--learner-per", "partition")
    page = show(started.url)
    page.wait_for_selector("#chooser:visible")
    options = page.locator("#model option").all_inner_texts()
    assert len(options) == 2
    page.locator("#model").select_option(index=1)
    page.wait_for_function(
        "() => document.getElementById('model-facts').innerText.includes('partition 1')"
    )
    page.reload()
    page.wait_for_function(
        "() => document.getElementById('model-facts').innerText.includes('partition 1')"
    )
