"""The report of a run as JSON: versions, machine, settings and findings."""

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from .effort import Effort
from .findings import Findings

PACKAGES = ("iln-stream", "river", "numpy", "numba", "scikit-learn", "vowpalwabbit", "capymoa")


def versions() -> dict[str, str | None]:
    """Return versions; None for a missing package."""
    found: dict[str, str | None] = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = None
    return found


def machine() -> dict[str, str | int | float | None]:
    """Return the machine's type and load."""
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "processors": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
    }


def as_json(effort: Effort, sections: Mapping[str, Sequence[Findings]]) -> str:
    """Return all findings."""
    report: dict[str, Any] = {
        "versions": versions(),
        "machine": machine(),
        "effort": asdict(effort),
        "sections": {name: [asdict(found) for found in all_] for name, all_ in sections.items()},
    }
    return json.dumps(report, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _processor() -> str:
    """Return the processor's name and its widest vector instructions."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or "unknown"
    fields = dict(
        (part.strip() for part in line.split(":", 1)) for line in text.splitlines() if ":" in line
    )
    flags = fields.get("flags", "").split()
    vectors = next((name for name in ("avx512f", "avx2") if name in flags), "")
    return f"{fields.get('model name', 'unknown')} {vectors}".strip()
