"""The examples of docs/client.md."""

import doctest
from pathlib import Path

from support.running_api import RunningApi, publish

PAGE = Path(__file__).parents[2] / "docs" / "client.md"


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
