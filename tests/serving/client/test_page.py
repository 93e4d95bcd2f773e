"""The examples of docs/http_api.md."""

import ast
import asyncio
import doctest
import math
from pathlib import Path

import pytest
from support.document import blocks
from support.running_api import RunningApi, publish

from iln_stream.serving.client import AsyncClient

PAGE = Path(__file__).parents[3] / "docs" / "http_api.md"


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    """The address of a server with a model."""
    folder = tmp_path_factory.mktemp("page")
    publish(folder)
    with RunningApi(folder) as api:
        yield api.ready().url


def test_examples(url, monkeypatch):
    """Each example of the page does what the page says."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    text = PAGE.read_text("utf-8").replace("http://127.0.0.1:8080", url)
    page = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, str(PAGE), 0)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    assert len(page.examples) > 10
    found: list[str] = []
    runner.run(page, out=found.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(found)


def test_asyncio(url, monkeypatch):
    """The example with await predicts, too."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    (text,) = (each for each in blocks("http_api.md", "python") if "async with" in each)
    text = text.replace("http://127.0.0.1:8080", url)
    code = compile(text, PAGE.name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    names = {"AsyncClient": AsyncClient}
    asyncio.run(eval(code, names))
    assert math.isfinite(names["prediction"].y_pred)
