"""A browser, and real runs whose page it shows."""

import re
from contextlib import ExitStack

import pytest
from support.chromium import chromium
from support.embedded_log import append
from support.page_runs import FAST, Run, classes, events
from support.running_command import Command


@pytest.fixture(scope="module")
def browser():
    """The browser that a module's tests share; its event loop must end before other tests begin."""
    with chromium() as running:
        yield running


@pytest.fixture
def show(browser):
    """Return a function that opens an address; each page must log no error."""
    contexts, problems = [], []

    def opened(url, expected="", **options):
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()

        def note(kind, text):
            if not (expected and re.search(expected, text)):
                problems.append(f"{kind}: {text}")

        page.on("pageerror", lambda error: note("error", str(error)))
        page.on(
            "console", lambda m: note(m.type, m.text) if m.type in ("error", "warning") else None
        )
        page.goto(url)
        return page

    yield opened
    for each in contexts:
        each.close()
    assert problems == []


@pytest.fixture
def run(tmp_path):
    """Return a function that starts a run in the folder of the test."""
    with ExitStack() as running:
        yield lambda *flags, **more: running.enter_context(Run(tmp_path, *flags, **more))


@pytest.fixture
def page_of(tmp_path):
    """Return a function that starts `iln-stream page` of a learner and returns the page's address.

    Name it before `show`, so that browsers leave before the server does.
    """
    with ExitStack() as running:

        def start(learner, *flags):
            arguments = ("page", "--learner", learner, "--port", "0", *flags)
            command = running.enter_context(Command(tmp_path, *arguments))
            command.wait_until_it_says("page at")
            return command.said.split("page at ")[1].split(",")[0]

        yield start


@pytest.fixture(scope="module")
def regression(tmp_path_factory):
    """A run that has learned 900 events with intervals, two dead letters and checkpoints."""
    folder = tmp_path_factory.mktemp("regression")
    append(folder / "log.db", [*events(0, 900), b"no event", b'{"x": {"a": 1}, "y": "n/a"}'])
    with Run(folder, *FAST, "--prediction-intervals", "0.9", "--snapshots", "state") as started:
        started.learned(900)
        yield started


@pytest.fixture(scope="module")
def classification(tmp_path_factory):
    """A run that has learned 280 of 300 events, whose labels came later."""
    folder = tmp_path_factory.mktemp("classification")
    append(folder / "log.db", classes(0, 300))
    flags = ("--learner", "infinite-layer-classifier", "--pending-events", "100")
    with Run(folder, *flags) as started:
        started.learned(280)
        yield started
