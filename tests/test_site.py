"""The documentation's site builds without a warning, without the network, and is complete."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.document import DOCS

from iln_stream import __version__


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


@pytest.mark.thorough
def test_every_page_is_in_the_site(site: Path) -> None:
    """Each document has a page that a table of contents leads to; pages load nothing from other
    hosts; code can be copied by a button, and the version is shown."""
    for page in site.glob("*.html"):
        loaded = re.findall(r'<(?:script|img|link)[^>]*(?:src|href)="(\w+:)?//', page.read_text())
        assert not loaded, page
    for part in ("copybutton.js", f"iln_stream {__version__}"):
        assert part in (site / "installation.html").read_text("utf-8")
    index = (site / "index.html").read_text("utf-8")
    for document in DOCS.glob("*.md"):
        if document.stem != "index":
            assert f'href="{document.stem}.html"' in index, document


@pytest.mark.thorough
def test_the_notebook_is_executed(site: Path) -> None:
    """Its code ran at the build, its pictures are light, and it can be downloaded as run."""
    page = (site / "river.html").read_text("utf-8")
    pictures = re.findall(r'<img alt="([^"]+)"[^>]* src="([^"]+)"', page)
    drawn = {alt: (site / file).stat().st_size for alt, file in pictures if file.endswith(".png")}
    assert len(drawn) == 3
    assert max(drawn.values()) < 60_000
    (downloaded,) = site.glob("_downloads/*/river.ipynb")
    cells = json.loads(downloaded.read_text("utf-8"))["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", ())]
    assert sum("image/png" in output.get("data", ()) for output in outputs) == 3
