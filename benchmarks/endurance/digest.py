"""A digest of the sources that determine what a learner predicts."""

import ast
import hashlib
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import iln_stream

PACKAGE = Path(iln_stream.__file__).parent


def digest(roots: Sequence[str]) -> str:
    """Return a digest of modules of iln_stream and of all modules of it that they import.

    Docstrings and comments do not count.
    """
    found: set[str] = set()
    waiting = list(roots)
    while waiting:
        module = waiting.pop()
        if module not in found and _file(module) is not None:
            found.add(module)
            waiting.extend(_imports(module))
    sources = "".join(f"{module}\n{_code(module)}\n" for module in sorted(found))
    return hashlib.sha256(sources.encode()).hexdigest()[:16]


def _file(module: str) -> Path | None:
    """Return a module's file; None if it is not a module of ours."""
    top, *rest = module.split(".")
    if top != PACKAGE.name or not rest:
        return None
    path = PACKAGE.joinpath(*rest)
    files = path / "__init__.py", path.with_suffix(".py")
    return next((file for file in files if file.is_file()), None)


@cache
def _tree(module: str) -> ast.Module:
    file = _file(module)
    assert file is not None
    return ast.parse(file.read_text("utf-8"))


def _imports(module: str) -> Iterator[str]:
    """Yield the modules that a module imports anywhere, and the names that may be modules."""
    for node in ast.walk(_tree(module)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _code(module: str) -> str:
    """Return a module's code without comments, docstrings and other bare strings."""
    tree = ast.parse(ast.unparse(_tree(module)))
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
