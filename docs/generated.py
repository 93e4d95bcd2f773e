"""The part of a document that a script generates, between two comments, and the code it reads."""

import ast
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "iln_stream"


@cache
def code() -> dict[str, list[ast.AST]]:
    """Return the nodes of each file of the package, by its path."""
    return {
        file.relative_to(PACKAGE).as_posix(): list(ast.walk(ast.parse(file.read_text("utf-8"))))
        for file in sorted(PACKAGE.rglob("*.py"))
    }


def markers(name: str) -> tuple[str, str]:
    """Return the comments before and after the part of this name."""
    return f"<!-- {name}:begin -->", f"<!-- {name}:end -->"


def rewritten_part(text: str, name: str, generated: str) -> str:
    """Return a document's text with another part of this name.

    Raises
    ------
    SystemExit
        When the text has no such part.

    """
    begin, end = markers(name)
    before, found, rest = text.partition(begin)
    _, found_end, after = rest.partition(end)
    if not (found and found_end):
        raise SystemExit(f"the document has no place for {name}: {begin} and, below it, {end}")
    return f"{before}{begin}\n{generated}\n{end}{after}"
