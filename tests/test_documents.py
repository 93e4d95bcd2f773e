"""The documents say what the code does: generated pages, tables, names and links."""

import ast
import importlib
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import learner_options_table
import pytest
import settings_table
import words
import yaml
from generated import code, markers, rewritten_part
from json_schemas import schemas
from support.document import DOCS
from typer.testing import CliRunner

import iln_stream
from iln_stream.cli.app import app
from iln_stream.research.experiments.catalogue import EXPERIMENTS
from iln_stream.service import SETTING_GROUPS, Settings
from iln_stream.service.learners import NAMED

ROOT = DOCS.parent
TESTS = Path(__file__).parent
PACKAGE = Path(iln_stream.__file__).parent


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


# Generated pages


@pytest.mark.parametrize("name", ["metrics", "commands", "changing"])
def test_generated_pages_are_current(name: str) -> None:
    """These pages are what their scripts generate."""
    script = importlib.import_module(f"{name}_table")
    text = script.PAGE.read_text(encoding="utf-8")
    assert script.rewritten(text) == text, f"{script.PAGE} is out of date: run make docs"


def test_tables_of_settings_are_current() -> None:
    """The tables of settings and of options are what the scripts generate, and only they are
    rewritten."""
    for file, kind in settings_table.TABLES.items():
        text = file.read_text(encoding="utf-8")
        assert settings_table.rewritten(text, kind) == text, f"{file} is out of date: run make docs"
    for file, names in learner_options_table.pages().items():
        text = file.read_text(encoding="utf-8")
        assert learner_options_table.rewritten(text, names) == text, f"{file}: run make docs"
    begin, end = markers("settings")
    once = rewritten_part(f"before\n{begin}\nold\n{end}\nafter\n", "settings", "new")
    assert once == f"before\n{begin}\nnew\n{end}\nafter\n"
    with pytest.raises(SystemExit, match="the document has no place for settings: <!-- settings:"):
        rewritten_part(f"{end}{begin}", "settings", "new")


def test_each_setting_is_in_one_group() -> None:
    """No setting is left out of --help-all's groups or is there twice; --help of `run` and the
    document show the fifteen basic ones first, and --help of other commands only their own."""
    grouped = [name for names in SETTING_GROUPS.values() for name in names]
    assert sorted(grouped) == sorted(Settings.model_fields)
    section = page("settings.md").split("\n## Basic\n")[1].split("\n## ")[0]
    basic = [f"--{name.replace('_', '-')}" for name in SETTING_GROUPS["Basic"]]
    assert len(basic) == 15
    shown = re.findall(r"^\| <a id=.*?`([\w-]+)`", section, re.M)
    assert tuple(shown) == SETTING_GROUPS["Basic"]
    assert options_shown("run", "--help") == [
        *("--config", *basic, "--accept-loss", "--help-all", "--help")
    ]
    assert options_shown("promote", "--help") == ["--config", "--help-all", "--help"]
    for command in ("run", "promote"):
        shown = options_shown(command, "--help-all")
        assert {f"--{name.replace('_', '-')}" for name in grouped} <= {*shown}


def options_shown(*arguments: str) -> list[str]:
    """Return the options that a command's help shows."""
    shown = CliRunner().invoke(app, arguments, env={"COLUMNS": "200"}).output
    return re.findall(r"^│ +(--[\w-]+)", shown, re.M)


# What is named exists, and what exists is named


def test_each_failure_names_tests_that_exist() -> None:
    """Each failure in guarantees.md names tests, and each of them exists."""
    table = [line for line in page("guarantees.md").splitlines() if line.startswith("| ")][1:]
    assert len(table) > 25
    for row in table:
        named = re.findall(r"`([^`]+)`", row.strip("| ").split(" | ")[3])
        assert named, row
        for name in named:
            file, _, function = name.partition("::")
            assert (TESTS / file).is_file(), name
            body = ast.parse((TESTS / file).read_text()).body
            assert not function or function in {getattr(node, "name", None) for node in body}, name


def test_links_into_the_repository_exist() -> None:
    """A link of a document to a file that is no page of the site leads to a file."""
    for document in (*DOCS.glob("*.md"), ROOT / "README.md"):
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", document.read_text("utf-8")):
            if "://" not in target:
                assert (document.parent / target).exists(), f"{document.name}: {target}"


def test_every_public_object_is_documented() -> None:
    """The pages of the API have each name that a package exports, under its module."""
    sections = "".join(map(page, ("python_api.md", "research_api.md"))).split(".. currentmodule:: ")
    documented: dict[str, list[str]] = {}
    for section in sections[1:]:
        names = re.findall(r"^\.\. auto\w+:: (\w+)", section, re.M)
        documented.setdefault(section.splitlines()[0], []).extend(names)
    assert len(documented) == 8
    assert set(documented.pop("iln_stream")) == set(iln_stream.__all__) - {
        "__version__",
        "features",
    }
    for parts in ("iln_stream.learners.frozen", "iln_stream.reporting"):
        assert documented.pop(parts)
    for package, names in documented.items():
        assert sorted(names) == sorted(importlib.import_module(package).__all__)


def test_readme_is_short() -> None:
    """README stays at what a visitor reads: 100 lines, and a picture before any formula."""
    text = (ROOT / "README.md").read_text("utf-8")
    assert len(text.splitlines()) <= 100
    assert "![" in text[:1000]


@pytest.mark.parametrize("kind", words.LIMITS)
def test_pages_stay_short(kind: str) -> None:
    """The pages of a kind have no more words than their limit (`make words`)."""
    assert sum(words.counted()[kind].values()) <= words.LIMITS[kind]


# Messages: docs/troubleshooting.md and docs/commands.md

GAP = "…"
"""Stands for what varies in a message."""

REMEDY = re.compile(
    r"([;:,.] |\bor )(append|check|chmod|choose|convert|correct|divide|give|ignore|leave|list|look|"
    r"name|raise|remove|rename|replace|report|scale|send|set|start|unset|wrap|write)\b"
)
"""How the part of a message begins that says what to do."""


def template(node: ast.expr) -> str:
    """Return a text with gaps for what is computed; just a gap for what is no text."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return re.sub(f"{GAP}+", GAP, "".join(map(template, node.values)))
    return GAP


def messages(*kinds: str) -> Iterator[str]:
    """Yield the messages of calls of these classes or functions."""
    for call in (node for nodes in code().values() for node in nodes):
        func = getattr(call, "func", None)
        if getattr(func, "id", getattr(func, "attr", "")) in kinds:
            for argument in call.args:  # type: ignore[attr-defined]
                if re.search("[a-z]{3}", text := template(argument)):
                    yield text


def section(name: str, title: str) -> str:
    return page(name).partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def fixed(text: str) -> list[str]:
    """Return the parts of a message that do not vary."""
    parts = (part.strip(" :;,.='\"") for part in text.split(GAP))
    return [part for part in parts if len(part) > 1]


def quoted(row: str, text: str) -> float:
    """Return the share of a message's fixed text that a row quotes in order; 0 if it differs."""
    place, n = 0, 0
    for part in fixed(row):
        if (found := text.find(part, place)) < 0:
            return 0.0
        place, n = found + len(part), n + len(part)
    return n / max(1, sum(map(len, fixed(text))))


@pytest.mark.parametrize(
    ("title", "kinds"),
    [("Dead letters", ("MalformedError", "letter", "_letter")), ("Warnings", ("warn", "_warn"))],
)
def test_messages_without_a_remedy_have_a_row(title: str, kinds: tuple[str, ...]) -> None:
    """Each reason of a dead letter and each warning says what to do, or the page says it: a row
    quotes most of its fixed text. The page quotes no message that the code does not have."""
    quotes = re.findall(r"^\| `([^`]+)` \|", section("troubleshooting.md", title), re.M)
    rows = [each.replace("\\|", "|") for each in quotes]
    bare = [text for text in messages(*kinds) if not REMEDY.search(text)]
    assert len(bare) > 10
    assert not [text for text in bare if max(quoted(row, text) for row in rows) < 0.6]
    nodes = (node for each in code().values() for node in each)
    texts = {template(n) for n in nodes if isinstance(n, ast.JoinedStr | ast.Constant)}
    assert not [row for row in rows if fixed(row) and not any(quoted(row, t) for t in texts)]


def test_schemas_of_records_are_linked() -> None:
    """A page links the JSON Schema of each record."""
    pages = "".join(file.read_text(encoding="utf-8") for file in DOCS.glob("*.md"))
    for name in schemas():
        assert f"(../iln_stream/records/schemas/{name})" in pages, name


def test_every_exit_code_has_a_row() -> None:
    """Each code with which a command ends is in the table, with those of Python and the system."""
    rows = re.findall(r"^\| ([\d, ]+)", section("commands.md", "Exit codes"), re.M)
    documented = set(re.findall(r"\b\d+\b", " ".join(rows)))
    used = {0, 1, 2}
    for file in (PACKAGE / "cli").glob("*.py"):
        module = importlib.import_module(f"iln_stream.cli.{file.stem}")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("sys.exit", "typer.Exit"):
                for code in node.args:
                    if not isinstance(code, ast.Call):
                        used.add(int(eval(ast.unparse(code), vars(module))))
    assert {128 + 2, 128 + 13} < used
    assert {str(code) for code in used} <= documented


# docs/paper.md and docs/experiments.md

PAPER = page("paper.md")
TABLE = "\n".join(line for line in PAPER.splitlines() if line.startswith("|"))


def test_the_paper_s_table_names_what_exists() -> None:
    """Each file, folder and test that the table names exists."""
    named = {name for name in re.findall(r"`([\w/.]+)`", TABLE) if "/" in name}
    assert len(named) > 10
    for name in named:
        places = [PACKAGE / name, PACKAGE / "learners" / name, ROOT / name]
        assert any(place.exists() for place in places), name
    tests = "\n".join(file.read_text("utf-8") for file in TESTS.rglob("test_*.py"))
    for name in set(re.findall(r"`(test_\w+)`", TABLE)):
        assert f"def {name}(" in tests, name


def test_experiments_exist() -> None:
    """Each experiment that the documents name is in the catalogue, with its stored full run; each
    of the catalogue has a section and a row in the table of claims."""
    named = set(re.findall(r"experiment (?:`)?([a-z]\w*\d?)`", PAPER))
    assert named
    assert named <= set(EXPERIMENTS)
    measured = page("experiments.md")
    shown = set(re.findall(r"iln-stream experiment (\w+) --full", measured))
    claims = set(re.findall(r"\(experiments.md#(\w+)\) \|$", PAPER, re.M))
    assert shown == claims == set(EXPERIMENTS)
    for name in shown:
        document = json.loads((DOCS / "experiments" / f"{name}.json").read_text("utf-8"))
        assert (document["name"], document["settings"]["full"]) == (name, True)
        picture = DOCS / "images" / f"experiment_{name}.svg"
        assert f"images/{picture.name}" in measured
        assert picture.stat().st_size < 60_000


def test_learners_of_the_paper_exist() -> None:
    """Each name of a learner in the table of methods is one that the service knows, (c) stands for
    a classifier, and no related learner lacks a row."""
    rows = [line.split("|") for line in TABLE[TABLE.index("| method |") :].splitlines()]
    cells = [row[2].strip() for row in rows if row[2].strip().startswith("`")]
    named = {cell.split("`")[1] for cell in cells}
    named |= {cell.split("`")[1] + "-classifier" for cell in cells if cell.endswith("(c)")}
    points = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"]
    related = {k for k, v in points["iln_stream.learners"].items() if ".related:" in v}
    assert related
    assert named - set(NAMED) == related


def test_the_citation_agrees() -> None:
    """The BibTeX entry says what CITATION.cff says of the paper."""
    (entry,) = re.findall(r"```bibtex\n(.*?)```", PAPER, re.DOTALL)
    fields = dict(re.findall(r"(\w+) += \{(.*)\}", entry))
    (paper,) = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))["references"]
    authors = [f"{a['family-names']}, {a['given-names']}" for a in paper["authors"]]
    assert fields == {
        "booktitle": f"Proceedings of the {paper['conference']['name']}",
        "title": paper["title"],
        "author": " and ".join(authors),
        "series": paper["collection-title"],
        "volume": str(paper["volume"]),
        "pages": f"{paper['start']}--{paper['end']}",
        "year": str(paper["year"]),
        "url": paper["url"],
    }
