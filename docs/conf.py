"""Sphinx's configuration: `make site` builds docs/ into out/site."""

import re
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

from iln_stream._version import __version__

project = "iln_stream"
author = "The iln_stream developers"
project_copyright = author
release = version = __version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
exclude_patterns = ["out"]
source_suffix = {".md": "myst-nb"}

nb_execution_mode = "force"  # of pages that are notebooks, at each build
nb_execution_raise_on_error = True
nb_execution_timeout = 300  # seconds; the first run compiles

html_theme = "furo"
html_title = f"iln_stream {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_search_scorer = str(Path(__file__).parent / "_static" / "scorer.js")
html_copy_source = False
html_show_sphinx = False

autodoc_typehints = "none"  # the docstrings' Parameters say it in words
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True  # a name, such as NULLS, not sixty texts
toc_object_entries = False  # the contents of a page are its headings
napoleon_google_docstring = False

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .gp, .go"  # neither prompts nor what a program prints


def escape(
    _app: Sphinx, _what: str, _name: str, _object: object, _options: object, lines: list[str]
) -> None:
    """Keep |alpha_i|, X_1, [1]_ and [^1] of a docstring from being read as markup."""
    for i, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")) and "``" not in line:
            # A footnote's name may be on a page once; "A. Author" would be read as a list.
            line = re.sub(r"^(\s*)\.\. \[(\d+)\] ", r"\1:[\2]: \\", line)
            line = re.sub(r"\[\^?(\d+)\]_?", r"[\1]", line)
            lines[i] = re.sub(r"\||_(?=\W|$)", r"\\\g<0>", line)


def add_anchors(app: Sphinx, doctree: nodes.document) -> None:
    """Let links find the anchors of settings and metrics, which are HTML in tables."""
    slugs = app.env.metadata[app.env.docname].setdefault("myst_slugs", {})
    for html in doctree.findall(nodes.raw):
        slugs.update({name: (0, name, name) for name in re.findall(r'<a id="(\w+)">', str(html))})


def setup(app: Sphinx) -> None:
    """Connect what this file adds."""
    app.connect("autodoc-process-docstring", escape)
    app.connect("doctree-read", add_anchors)
