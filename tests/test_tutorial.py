"""The commands of docs/tutorial.md and of README.md work as printed."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from river import dummy, forest, stats
from support.document import DOCS, blocks, free_port, run_script

README = DOCS.parent / "README.md"


def with_free_ports(script: str) -> str:
    """Replace the ports of a script, which others on this machine may use."""
    metrics = f"iln-stream run --metrics-port {free_port()}"
    script = script.replace("iln-stream run", metrics)
    script = script.replace("iln-stream serve", "iln-stream serve --port 8080")
    return script.replace("8080", str(free_port())).replace("8090", str(free_port()))


def answers(printed: str) -> list[dict[str, Any]]:
    """Return the JSON objects that a script printed, with or without lines between them."""
    found, rest = [], printed
    while "{" in rest:
        rest = rest[rest.index("{") :]
        answer, end = json.JSONDecoder().raw_decode(rest)
        found.append(answer)
        rest = rest[end:]
    return found


def test_every_command_of_the_tutorial(tmp_path: Path) -> None:
    """From a file that nobody prepared to an answer over HTTP."""
    printed = run_script(with_free_ports("".join(blocks("tutorial.md", "sh"))), tmp_path)
    assert 'target = "price"' in printed
    records = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
    predictions = [record for record in records if "y_pred" in record]
    assert [each["id"] for each in predictions] == ["A-1", "A-2", "A-3", "A-4"]
    assert records[-1]["model"]["n_learned"] == 4
    assert 10 < records[-1]["predictions"][0]["y_pred"] < 70


def test_every_command_of_the_readme(tmp_path: Path) -> None:
    """The service of README records an event and answers with a prediction."""
    (script,) = re.findall(r"^```sh\n(.*?)^```$", README.read_text("utf-8"), re.M | re.DOTALL)
    printed = run_script(with_free_ports(script), tmp_path)
    ready, recorded, predicted = answers(printed)
    assert ready["ready"]
    assert recorded["appended"] == [{"partition": 0, "offset": 0, "is_new": True}]
    assert predicted["predictions"][0]["y_pred"] in (0.0, 13.2)  # before or after it was learned


def test_the_snippet_of_the_readme(capsys) -> None:
    """README's Python code prints the error that the text states; so do the peers that it names."""
    (code,) = re.findall(r"^```python\n(.*?)^```$", README.read_text("utf-8"), re.M | re.DOTALL)
    ours = "InfiniteLayerRegressor(seed=1)"
    errors = []
    for model in (ours, "forest.ARFRegressor(seed=1)", "dummy.StatisticRegressor(stats.Mean())"):
        exec(code.replace(ours, model), {"forest": forest, "dummy": dummy, "stats": stats})
        errors.append(float(capsys.readouterr().out.removeprefix("MAE:")))
    assert errors == pytest.approx([0.92, 1.96, 4.03], abs=0.006)


def test_readme_is_short() -> None:
    """README stays at what a visitor reads: 100 lines, and a picture before any formula."""
    text = README.read_text("utf-8")
    assert len(text.splitlines()) <= 100
    assert "![" in text[:1000]
