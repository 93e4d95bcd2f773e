"""The documentation's site builds without a warning, without the network, and is complete."""

import json
import re
import runpy
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from support.document import DOCS

GENERATED = ["metrics", "commands", "messages", "changing", "learner_options"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site; a warning, such as of a broken link between pages, is an error."""
    folder = tmp_path_factory.mktemp("site")
    command = ["-P", "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet", "-b", "html"]
    done = subprocess.run(
        [sys.executable, *command, "-d", str(folder / "cache"), str(DOCS), str(folder / "html")],
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder / "html"


def test_no_outside_asset(site: Path) -> None:
    """Pages load nothing from other hosts."""
    for page in site.glob("*.html"):
        loaded = re.findall(r'<(?:script|img|link)[^>]*(?:src|href)="(\w+:)?//', page.read_text())
        assert not loaded, page


def test_every_page_is_in_the_site(site: Path) -> None:
    """Each document has a page that a table of contents leads to."""
    index = (site / "index.html").read_text("utf-8")
    for document in DOCS.glob("*.md"):
        if document.stem != "index":
            assert f'href="{document.stem}.html"' in index, document


def test_the_notebook_is_executed(site: Path) -> None:
    """Its code ran at the build, its pictures are light, and it can be downloaded as run."""
    page = (site / "notebook.html").read_text("utf-8")
    (error,) = re.findall(r"over the last 100 days: ([\d.]+) percentage", page)
    assert float(error) < 0.2
    pictures = re.findall(r'<img alt="([^"]+)"[^>]* src="([^"]+)"', page)
    drawn = {alt: (site / file).stat().st_size for alt, file in pictures if file.endswith(".png")}
    assert len(drawn) == 3
    assert max(drawn.values()) < 60_000
    (downloaded,) = site.glob("_downloads/*/notebook.ipynb")
    cells = json.loads(downloaded.read_text("utf-8"))["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", ())]
    assert sum("image/png" in output.get("data", ()) for output in outputs) == 3


def test_links_into_the_repository_exist() -> None:
    """A link of a document to a file that is no page of the site leads to a file."""
    for document in (*DOCS.glob("*.md"), DOCS.parent / "README.md"):
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", document.read_text("utf-8")):
            if "://" not in target:
                assert (document.parent / target).exists(), f"{document.name}: {target}"


@pytest.mark.parametrize("name", GENERATED)
def test_generated_pages_are_current(name: str) -> None:
    """These pages are what their scripts generate."""
    script = runpy.run_path(str(DOCS / f"{name}_table.py"))
    text = (DOCS / f"{name}.md").read_text("utf-8")
    assert script["rewritten"](text) == text, f"docs/{name}.md is out of date: run make docs"


def test_every_public_object_is_documented() -> None:
    """docs/python_api.md has each name that the package exports."""
    import iln_stream

    text = (DOCS / "python_api.md").read_text("utf-8")
    documented = set(re.findall(r"^\.\. auto\w+:: (\w+)", text, re.MULTILINE))
    assert documented == set(iln_stream.__all__) - {"__version__", "features"}


@pytest.mark.parametrize(
    "package", ["features", "research.paper", "research.related", "theory", "explaining"]
)
def test_every_object_for_research_is_documented(package: str) -> None:
    """docs/research_api.md has each name that the package exports, under its module."""
    text = (DOCS / "research_api.md").read_text("utf-8")
    section = text.partition(f".. currentmodule:: iln_stream.{package}\n")[2]
    section = section.partition(".. currentmodule::")[0]
    documented = re.findall(r"^\.\. auto\w+:: (\w+)", section, re.MULTILINE)
    assert sorted(documented) == sorted(import_module(f"iln_stream.{package}").__all__)
