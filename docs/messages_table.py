"""Rewrites docs/messages.md: every error that ends a command, read from the code."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from generated import code, rewritten_part

PAGE = Path(__file__).parent / "messages.md"
GAP = "…"
"""Stands for what varies in a message."""

SUBJECTS = {
    "Settings": ("settings.py", "service/settings.py", "service/checks.py", "service/learners.py"),
    "Fields and formats of records": ("records", "service/decoding.py"),
    "Kafka": ("streams/kafka",),
    "The embedded log": ("streams/sqlite",),
    "Files and other streams": ("streams", "service/streams.py"),
    "Late labels and the log of labels": ("loop/late_labels.py", "loop/pending.py"),
    "History before the log": ("service/history.py", "service/warm_start.py"),
    "Challengers": ("learners/contest", "service/challengers.py", "service/prediction.py"),
    "A model for each key": ("learners/keyed",),
    "Learning": ("loop", "learners", "features", "research"),
    "Resuming, snapshots and rebuild": ("snapshots", "state.py", "service/re", "service/assembly"),
    "Worker processes": ("service/supervisor.py", "service/merged.py", "service/worker"),
    "Other settings of a run": ("service", "errors.py"),
    "Published versions": ("snapshots/publish", "snapshots/follower.py"),
    "The HTTP API": ("serving",),
    "The page": ("serving/page",),
    "Models outside of the service": ("learners/frozen",),
    "The CPU baseline": ("kernels",),
    "Spark": ("spark",),
    "Commands": ("cli", "research/experiments", "plotting.py", "figures.py"),
}
"""Subjects, by folders and files of the package; of several that fit, the longest one."""

ELSEWHERE = ("serving/client", "client.py", "research/paper", "research/theory.py", "lazy.py")
"""Folders whose errors end no command: docs/client.md lists those of the client."""


class Message(NamedTuple):
    """A message in the code: its class, its text with gaps, and its file."""

    kind: str
    text: str
    file: str


def messages(*kinds: str) -> Iterator[Message]:
    """Yield the messages of calls of these classes or functions, in the order of files."""
    for name, nodes in code().items():
        for call in nodes:
            if isinstance(call, ast.Call) and (kind := _called(call)) in kinds:
                for argument in call.args:
                    if re.search("[a-z]{3}", text := template(argument)):
                        yield Message(kind, text, name)


def template(node: ast.expr) -> str:
    """Return a text with gaps for what is computed; just a gap for what is no text.

    Examples
    --------
    >>> template(ast.parse("f'{name} = {value!r}: ' 'must be positive'", mode="eval").body)
    '… = …: must be positive'

    """
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return re.sub(f"{GAP}+", GAP, "".join(map(template, node.values)))
    return GAP


def errors() -> dict[str, tuple[str, ...]]:
    """Return the names of the error classes with their bases: all that end a command with 2."""
    bases = {}
    for nodes in code().values():
        for node in nodes:
            if isinstance(node, ast.ClassDef):
                bases[node.name] = tuple(ast.unparse(base) for base in node.bases)
    found = {"IlnError"}
    while more := {k for k, above in bases.items() if found.intersection(above)} - found:
        found |= more
    return {name: bases[name] for name in sorted(found)}


def subject(file: str) -> str:
    """Return the subject of the errors in a file."""
    fitting = [(place, name) for name, places in SUBJECTS.items() for place in places]
    _, found = max((len(place), name) for place, name in fitting if file.startswith(place))
    return found


def sections() -> str:
    """Return all errors in Markdown, by subject."""
    found: dict[str, set[str]] = {name: set() for name in SUBJECTS}
    for _, text, file in messages(*errors()):
        if not file.startswith(ELSEWHERE):
            found[subject(file)].add(text)
    parts = []
    for name, texts in found.items():
        if texts:
            lines = "\n".join(f"- {_code(text)}" for text in sorted(texts, key=_order))
            parts.append(f"### {name}\n\n{lines}")
    return "\n\n".join(parts)


def _called(call: ast.Call) -> str:
    return getattr(call.func, "id", getattr(call.func, "attr", ""))


def _order(text: str) -> tuple[bool, str]:
    """Messages that begin with a setting or a word come first."""
    return text.startswith(GAP), text.lower()


def _code(text: str) -> str:
    return f"`` {' '.join(text.split())} ``" if "`" in text else f"`{' '.join(text.split())}`"


def rewritten(text: str) -> str:
    """Return the page's text with the errors between its markers brought up to date."""
    return rewritten_part(text, "errors", sections())


if __name__ == "__main__":
    PAGE.write_text(rewritten(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
