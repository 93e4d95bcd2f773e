"""Writes a result to files."""

import json
import math
from pathlib import Path
from typing import Any

from iln_stream.experiments.result import Result

_DIGITS = 5
"""Significant digits of the numbers written: standard errors have fewer."""


def save(result: Result, folder: Path) -> tuple[Path, Path]:
    """Write NAME.json and experiment_NAME.svg; return their paths.

    The picture needs matplotlib.
    """
    from iln_stream.experiments.picture import draw

    folder.mkdir(parents=True, exist_ok=True)
    document, picture = folder / f"{result.name}.json", folder / f"experiment_{result.name}.svg"
    document.write_text(as_json(result.document()), encoding="utf-8")
    draw(result, picture)
    return document, picture


def as_json(document: dict[str, Any]) -> str:
    """Return a document as text, numbers rounded, lists and dicts of numbers on one line each."""
    return _written(_rounded(document), "") + "\n"


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _rounded(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(each) for each in value]
    return value


def _written(value: Any, indent: str) -> str:
    line = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if not isinstance(value, dict | list) or len(indent) + len(line) <= 100:
        return line
    inner = indent + " "
    if isinstance(value, dict):
        parts = [
            f"{json.dumps(k, ensure_ascii=False)}: {_written(v, inner)}" for k, v in value.items()
        ]
    else:
        parts = [_written(v, inner) for v in value]
    first, last = "{}" if isinstance(value, dict) else "[]"
    body = ",\n".join(inner + part for part in parts)
    return f"{first}\n{body}\n{indent}{last}"
