"""The tests that docs/guarantees.md names exist."""

import ast
import re
from pathlib import Path

TESTS = Path(__file__).parent
GUARANTEES = (TESTS.parent / "docs" / "guarantees.md").read_text()


def rows() -> list[list[str]]:
    """Return the rows of the table: failure, effect, tests."""
    lines = [line for line in GUARANTEES.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[1:]]


def test_each_failure_names_tests_that_exist() -> None:
    """Each failure names tests, and each of them exists."""
    assert len(rows()) > 25
    for failure, _, tests in rows():
        named = re.findall(r"`([^`]+)`", tests)
        assert named, failure
        for name in named:
            file, _, function = name.partition("::")
            assert (TESTS / file).is_file(), name
            assert not function or function in functions(TESTS / file), name


def functions(file: Path) -> set[str]:
    """Return the names of the functions in a file."""
    return {node.name for node in ast.parse(file.read_text()).body if hasattr(node, "name")}
