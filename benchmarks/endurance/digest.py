"""A digest of the sources that determine what a learner predicts."""

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import iln_stream

PACKAGE = Path(iln_stream.__file__).parent

NO_ARITHMETIC = {"iln_stream.errors", "iln_stream.learners.metrics"}
"""Modules that change no number: a new error or metric would make every record out of date."""


@cache
def digest(roots: tuple[str, ...]) -> str:
    """Return a digest of modules of iln_stream and of all modules of it that they import.

    Comments, docstrings and `NO_ARITHMETIC` do not count.
    """
    trees: dict[str, ast.Module] = {}
    waiting = list(roots)
    while waiting:
        module = waiting.pop()
        file = None if module in NO_ARITHMETIC else file_of(module)
        if file is not None and module not in trees:
            trees[module] = ast.parse(file.read_text("utf-8"))
            waiting.extend(_imports(trees[module]))
    sources = "".join(f"{module} {_code(trees[module])}\n" for module in sorted(trees))
    return hashlib.sha256(sources.encode()).hexdigest()[:16]


def file_of(module: str) -> Path | None:
    """Return a module's file; None if it is not a module of ours."""
    top, *rest = module.split(".")
    if top != PACKAGE.name or not rest:
        return None
    path = PACKAGE.joinpath(*rest)
    files = path / "__init__.py", path.with_suffix(".py")
    return next((file for file in files if file.is_file()), None)


def _imports(tree: ast.Module) -> Iterator[str]:
    """Yield the modules that a module imports, at its top or in a function, not only for types."""
    blocks = [each for each in ast.walk(tree) if isinstance(each, ast.If)]
    of_types = [each for each in blocks if ast.unparse(each.test) == "TYPE_CHECKING"]
    left_out = {node for block in of_types for node in ast.walk(block)}
    for node in ast.walk(tree):
        if node in left_out:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                # `from a import b` needs a.b if that is a module, and not all that a imports.
                inner = f"{node.module}.{alias.name}"
                yield inner if file_of(inner) is not None else node.module


def _code(tree: ast.Module) -> str:
    """Return a module's code without comments, docstrings and other bare strings."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [s for s in body if not _is_string(s)]  # type: ignore[attr-defined]
    return ast.dump(tree)


def _is_string(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )
