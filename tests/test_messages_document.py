"""docs/messages.md lists what the code says, and the code says what it lists."""

import ast
import importlib
import re
import runpy
from pathlib import Path

import pytest
from support.document import DOCS

import iln_stream
from iln_stream.records.schemas import schemas

SCRIPT = runpy.run_path(str(DOCS / "messages_table.py"))
TEXT = (DOCS / "messages.md").read_text(encoding="utf-8")
PACKAGE = Path(iln_stream.__file__).parent
ENOUGH = 0.6
"""Share of a message's fixed text that a row has to quote."""


def section(title: str) -> str:
    """Return a section of the page."""
    return TEXT.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def rows(title: str) -> list[str]:
    """Return the messages in a section's tables."""
    found = re.findall(r"^\| `([^`]+)` \|", section(title), re.MULTILINE)
    return [each.replace("\\|", "|") for each in found]


def fixed(text: str) -> list[str]:
    """Return the parts of a message that do not vary."""
    parts = (part.strip(" :;,.='\"") for part in text.split(SCRIPT["GAP"]))
    return [part for part in parts if len(part) > 1]


def quoted(row: str, text: str) -> float:
    """Return the share of a message's fixed text that a row quotes in order; 0 if it differs."""
    place, n = 0, 0
    for part in fixed(row):
        if (found := text.find(part, place)) < 0:
            return 0.0
        place, n = found + len(part), n + len(part)
    return n / max(1, sum(map(len, fixed(text))))


def spoken(*kinds: str) -> list[str]:
    """Return the messages of the calls; what the API refuses is an answer, no dead letter."""
    return [m.text for m in SCRIPT["messages"](*kinds) if not m.file.startswith("api/")]


def texts() -> set[str]:
    """Return every text of the code, with gaps."""
    nodes = (node for each in SCRIPT["code"]().values() for node in each)
    return {SCRIPT["template"](n) for n in nodes if isinstance(n, ast.JoinedStr | ast.Constant)}


@pytest.mark.parametrize(
    ("title", "kinds"),
    [
        ("Dead letters", ("MalformedError", "letter", "_letter")),
        ("Warnings", ("warn", "_warn")),
    ],
)
def test_every_message_has_a_row(title: str, kinds: tuple[str, ...]) -> None:
    """Each reason of a dead letter and each warning of the code is in the page."""
    listed, messages = rows(title), spoken(*kinds)
    assert len(messages) > 15
    missing = [m for m in messages if max(quoted(row, m) for row in listed) < ENOUGH]
    assert not missing


@pytest.mark.parametrize("title", ["Dead letters", "Warnings"])
def test_every_row_is_a_message(title: str) -> None:
    """The page has no message that the code does not have."""
    known = texts()
    assert not [row for row in rows(title) if fixed(row) and not any(quoted(row, t) for t in known)]


def test_every_error_has_a_subject() -> None:
    """Each folder and file that groups errors exists, and each error with a message has one."""
    for places in SCRIPT["SUBJECTS"].values():
        for place in places:
            assert any(PACKAGE.glob(f"{place}*")), place
    assert "SettingsError" in SCRIPT["errors"]()
    listed = SCRIPT["sections"]().count("\n- ")
    assert listed > 200


def test_every_exit_code_has_a_row() -> None:
    """Each code with which a command ends is in the table, with those of Python and the system."""
    documented = set(
        re.findall(r"\b\d+\b", " ".join(re.findall(r"^\| ([\d, ]+)", section("Exit codes"), re.M)))
    )
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


def test_every_schema_is_linked() -> None:
    """The page links the JSON Schema of each record that the service reads or writes."""
    for name in schemas():
        assert f"(../iln_stream/records/schemas/{name})" in TEXT, name
