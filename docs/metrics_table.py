"""Rewrites docs/metrics.md: every metric and its alerts, read from the code."""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import yaml
from generated import code, rewritten_part

from iln_stream.reporting import ESSENTIAL

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "metrics.md"
RULES = ROOT / "services" / "prometheus" / "rules.yml"

KINDS = {
    "Counter": "counter",
    "CounterMetricFamily": "counter",
    "Gauge": "gauge",
    "GaugeMetricFamily": "gauge",
    "Histogram": "histogram",
}
"""Kinds of metrics by the class that makes one."""


OF_PROCESS = ("serving", "service/supervisor.py", "service/merged.py")
"""Places whose metrics are those of a process, not of a learner: they name all their labels."""


OF_LEARNER = ("model", "partition")
"""The first labels of all metrics of a learner, which the page says once."""


class Metric(NamedTuple):
    """One metric, as the code declares it."""

    name: str
    kind: str
    labels: tuple[str, ...]
    meaning: str


def metrics() -> dict[str, Metric]:
    """Return all metrics that the package's code declares, by name."""
    found = {}
    for file, nodes in code().items():
        of_process = file.startswith(OF_PROCESS)
        for call in (node for node in nodes if isinstance(node, ast.Call)):
            if metric := _declared(call, () if of_process else OF_LEARNER):
                found[metric.name] = metric
    return dict(sorted(found.items()))


def _declared(call: ast.Call, common: tuple[str, ...]) -> Metric | None:
    """Return the metric that a call declares, if its name is an iln_ literal."""
    maker = getattr(call.func, "id", getattr(call.func, "attr", ""))
    values = [_literal(each) for each in call.args]
    texts = [each for each in values if isinstance(each, str)]
    names = [each for each in texts if re.fullmatch(r"iln_[a-z0-9_]+", each)]
    if not names:
        return None
    name, after = names[0], texts[texts.index(names[0]) + 1 :]
    if maker == "FlagSpec" and after:
        return Metric(name, "gauge", common, after[0])
    if maker == "MetricSpec" and len(after) >= 2:
        shared = next((each for each in values if isinstance(each, tuple)), after[2:3])
        return Metric(name, after[0], (*common, *shared), after[1])
    if maker in KINDS and after:
        kind = KINDS[maker]
        name += "_total" if kind == "counter" and not name.endswith("_total") else ""
        own = next((each for each in values if isinstance(each, tuple)), ())
        own = next((_literal(k.value) for k in call.keywords if k.arg == "labels"), own)
        return Metric(name, kind, (*common, *own), after[0])
    return None


def _literal(node: ast.expr) -> object:
    try:
        return ast.literal_eval(node)
    except ValueError:
        return None


def alerts(metric: str) -> Iterator[str]:
    """Yield the names of the alerts whose expressions use a metric."""
    for group in _rules()["groups"]:
        for rule in group["rules"]:
            if "alert" in rule and _names(rule["expr"], metric):
                yield rule["alert"]


@cache
def _rules() -> dict:
    return yaml.safe_load(RULES.read_text(encoding="utf-8"))


def _names(expression: str, metric: str) -> bool:
    return re.search(rf"\b{metric}(_bucket|_count|_sum)?\b", expression) is not None


def table(names: Iterable[str]) -> str:
    """Return some metrics as a table."""
    declared = metrics()
    rows = ["| metric | type | meaning |", "|---|---|---|"]
    for metric in (declared[name] for name in names):
        labels = metric.labels[2:] if metric.labels[:2] == OF_LEARNER else metric.labels
        kind = f"{metric.kind} by {', '.join(f'`{each}`' for each in labels)}"
        meaning = metric.meaning.replace("|", "\\|")
        if named := ", ".join(f"[{each}](#{each.lower()})" for each in alerts(metric.name)):
            meaning += f" Alerts: {named}."
        anchor = f'<a id="{metric.name}"></a>'
        rows.append(f"| {anchor}`{metric.name}` | {kind if labels else metric.kind} | {meaning} |")
    return "\n".join(rows)


def rewritten(text: str) -> str:
    """Return the page's text with the tables between its markers brought up to date."""
    others = [name for name in metrics() if name not in ESSENTIAL]
    return rewritten_part(rewritten_part(text, "ten", table(ESSENTIAL)), "metrics", table(others))


if __name__ == "__main__":
    PAGE.write_text(rewritten(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
