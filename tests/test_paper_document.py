"""docs/paper.md and docs/experiments.md: what they name exists, and what they show runs."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from support.command_line import environment

import iln_stream
from iln_stream.research.experiments.catalogue import EXPERIMENTS
from iln_stream.service.learners import NAMED

ROOT = Path(__file__).parents[1]
PACKAGE = Path(iln_stream.__file__).parent
PAPER = (ROOT / "docs" / "paper.md").read_text("utf-8")
MEASURED = (ROOT / "docs" / "experiments.md").read_text("utf-8")
TABLE = "\n".join(line for line in PAPER.splitlines() if line.startswith("|"))


def test_files_exist():
    """Each file and folder that the table names exists, in the package or from the root."""
    named = {name for name in re.findall(r"`([\w/.]+)`", TABLE) if "/" in name}
    assert len(named) > 10
    for name in named:
        places = [PACKAGE / name, PACKAGE / "learners" / name, ROOT / name]
        assert any(place.exists() for place in places), name


def test_tests_exist():
    """Each test that the table names is in the tests."""
    tests = "\n".join(file.read_text("utf-8") for file in (ROOT / "tests").rglob("test_*.py"))
    for name in set(re.findall(r"`(test_\w+)`", TABLE)):
        assert f"def {name}(" in tests, name


def test_experiments_exist():
    """Each experiment that the documents name is in the catalogue, with its stored full run."""
    named = set(re.findall(r"experiment (?:`)?([a-z]\w*\d?)`", PAPER))
    assert named
    assert named <= set(EXPERIMENTS)
    shown = set(re.findall(r"iln-stream experiment (\w+) --full", MEASURED))
    assert shown
    for name in shown:
        assert name in EXPERIMENTS
        document = json.loads((ROOT / "docs" / "experiments" / f"{name}.json").read_text("utf-8"))
        assert (document["name"], document["settings"]["full"]) == (name, True)
        picture = ROOT / "docs" / "images" / f"experiment_{name}.svg"
        assert f"images/{picture.name}" in MEASURED
        assert picture.stat().st_size < 60_000


def test_learners_exist():
    """Each name of a learner in the table of methods is one that the service knows, (c) stands for
    a classifier, and no related learner lacks a row."""
    methods = TABLE[TABLE.index("| method |") :]
    rows = [line.split("|") for line in methods.splitlines()]
    cells = [row[4].strip() for row in rows if row[4].strip().startswith("`")]
    named = {cell.split("`")[1] for cell in cells}
    named |= {cell.split("`")[1] + "-classifier" for cell in cells if cell.endswith("(c)")}
    points = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"]
    related = {k for k, v in points["iln_stream.learners"].items() if ".related:" in v}
    assert related
    assert named - set(NAMED) == related


def test_the_citation_agrees():
    """The BibTeX entry says what CITATION.cff says of the paper."""
    (entry,) = re.findall(r"```bibtex\n(.*?)```", PAPER, re.DOTALL)
    fields = dict(re.findall(r"(\w+) += \{(.*)\}", entry))
    (paper,) = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))["references"]
    authors = [f"{a['family-names']}, {a['given-names']}" for a in paper["authors"]]
    assert fields.pop("booktitle") == f"Proceedings of the {paper['conference']['name']}"
    assert fields == {
        "title": paper["title"],
        "author": " and ".join(authors),
        "series": paper["collection-title"],
        "volume": str(paper["volume"]),
        "pages": f"{paper['start']}--{paper['end']}",
        "year": str(paper["year"]),
        "url": paper["url"],
    }


@pytest.mark.timeout(120)
def test_the_oracle_of_the_document_runs(tmp_path):
    """The how-to's code runs as printed: |E| of one event is at most eta |y|, eta = 1 at first."""
    (code,) = re.findall(r"```python\n(.*?)```", PAPER, re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
        timeout=100,
    )
    assert 0 < float(done.stdout) <= 0.3
