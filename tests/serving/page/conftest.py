"""A browser, and real runs whose page it shows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page
from support.chromium import chromium
from support.embedded_log import append
from support.page_runs import FAST, Run, classes, events
from support.running_command import Command


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The browser that a module's tests share; its event loop must end before other tests begin."""
    with chromium() as running:
        yield running


@pytest.fixture
def show(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Return a function that opens an address; each page must log no error."""
    contexts, problems = [], []

    def opened(url: str, expected: str = "", **options: Any) -> Page:
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()

        def note(kind: str, text: str) -> None:
            if not (expected and re.search(expected, text)):
                problems.append(f"{kind}: {text}")

        page.on("pageerror", lambda error: note("error", str(error)))
        page.on(
            "console",
            lambda m: note(m.type, m.text) if m.type in ("error", "warning") else None,
        )
        page.goto(url)
        return page

    yield opened
    for each in contexts:
        each.close()
    assert problems == []


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Callable[..., Run]]:
    """Return a function that starts a run in the folder of the test."""
    started = []

    def start(*flags: str, **options: Any) -> Run:
        started.append(Run(tmp_path, *flags, **options))
        return started[-1]

    yield start
    for each in started:
        each.command.kill()


@pytest.fixture
def page_of(tmp_path: Path) -> Iterator[Callable[..., str]]:
    """Return a function that starts `iln-stream page` of a learner and returns the page's address.

    Name it before `show`, so that browsers leave before the server does.
    """
    started = []

    def start(learner: str, *flags: str) -> str:
        command = Command(tmp_path, "page", "--learner", learner, "--port", "0", *flags)
        started.append(command)
        command.wait_until_it_says("page at")
        return command.said.split("page at ")[1].split(",")[0]

    yield start
    for each in started:
        each.kill()


@pytest.fixture
def regression(tmp_path: Path, run: Callable[..., Run]) -> Run:
    """A run that has learned 900 events with intervals, two dead letters and checkpoints."""
    append(tmp_path / "log.db", [*events(0, 900), b"no event", b'{"x": {"a": 1}, "y": "n/a"}'])
    started = run(*FAST, "--prediction-intervals", "0.9", "--snapshots", "state")
    started.learned(900)
    return started


@pytest.fixture
def classification(tmp_path: Path, run: Callable[..., Run]) -> Run:
    """A run that has learned 280 of 300 events, whose labels came later."""
    append(tmp_path / "log.db", classes(0, 300))
    started = run("--learner", "infinite-layer-classifier", "--pending-events", "100")
    started.learned(280)
    return started
