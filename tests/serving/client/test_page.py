"""The examples of docs/client.md."""

import ast
import asyncio
import doctest
import math
from pathlib import Path

from support.document import blocks
from support.running_api import RunningApi, publish

from iln_stream.serving.client import AsyncClient

PAGE = Path(__file__).parents[3] / "docs" / "client.md"


def test_examples(tmp_path, monkeypatch):
    """Each example of the page does what the page says."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    publish(tmp_path)
    with RunningApi(tmp_path) as api:
        text = PAGE.read_text("utf-8").replace("http://127.0.0.1:8080", api.ready().url)
        page = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, str(PAGE), 0)
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
        assert len(page.examples) > 10
        found: list[str] = []
        runner.run(page, out=found.append)
        assert runner.summarize(verbose=False).failed == 0, "".join(found)


def test_asyncio(tmp_path, monkeypatch):
    """The example with await predicts, too."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    (text,) = (each for each in blocks("client.md", "python") if "async with" in each)
    publish(tmp_path)
    with RunningApi(tmp_path) as api:
        text = text.replace("http://127.0.0.1:8080", api.ready().url)
        code = compile(text, PAGE.name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        names = {"AsyncClient": AsyncClient}
        asyncio.run(eval(code, names))
        assert math.isfinite(names["prediction"].y_pred)
