"""Rewrites the options of learners in docs, from signatures and docstrings.

Those of the default learners are in settings.md, the others in research_api.md.
"""

import re
from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from inspect import Parameter, cleandoc, signature
from pathlib import Path
from typing import Any, NamedTuple

from generated import rewritten_part

from iln_stream.learners import ShrinkingGradient
from iln_stream.service.learners import LEARNERS, NAMED, OF_SAMPLING, pool

DOCS = Path(__file__).parent

OF_USERS = ("infinite-layer", "infinite-layer-classifier")
"""Learners whose options are on the page of settings."""

INSIDE: dict[str, type] = {
    "shrinking-gradient": ShrinkingGradient,
    "pool": ShrinkingGradient,
}
"""The class to which a function of the service passes its further options on."""

OF_FUNCTION = {"size": "The number of hidden units in the pool."}
"""Options that only a function of the service has."""

ALIKE = ("features", "norm_bound", "horizon", "max_columns")
"""Options that `pool` has, too, which the page says in a sentence."""

ANYWHERE = "seed"
"""The option of the built-in learners that is a setting, too."""


SYMBOLS = {
    r"\alpha": "α", r"\epsilon": "ε", r"\eta": "η", r"\lambda": "λ", r"\mu": "μ", r"\nu": "ν",
    r"\phi": "φ", r"\psi": "ψ", r"\rho": "ρ", r"\sigma": "σ", r"\tau": "τ", r"\theta": "θ",
    r"\xi": "ξ", r"\sqrt": "√", r"\le": "≤", r"\lceil": "⌈", r"\rceil": "⌉", r"\|": "‖",
    r"\min": "min", r"\max": "max", r"\log": "log", r"\,": "",
}  # fmt: skip
"""What the docstrings' LaTeX commands are in plain text."""


class Option(NamedTuple):
    """An option of a learner."""

    name: str
    default: object
    meaning: str


def makers() -> dict[str, Callable[..., Any]]:
    """Return the makers of all learners by name, the built-in ones first."""
    ours = {
        each.name: each.load()
        for each in sorted(entry_points(group=LEARNERS))
        if each.value.startswith("iln_stream.")
    }
    return {**NAMED, **ours}


def options(name: str) -> list[Option]:
    """Return the options of a learner; their defaults are those of the learner that is built."""
    make = makers()[name]
    inside = INSIDE.get(name)
    found = []
    if inside is not None:
        defaults = _defaults_of_built(make, inside)
        found = [
            Option(each.name, each.default, OF_FUNCTION[each.name])
            for each in _parameters(make)
            if each.name in OF_FUNCTION
        ]
    else:
        defaults = {}
    described = meanings(inside or make)
    for each in _parameters(inside or make):
        if name in NAMED and each.name == ANYWHERE:
            continue
        if make is pool and each.name in ("estimator", *OF_SAMPLING, *ALIKE):
            continue
        default = defaults.get(each.name, each.default)
        found.append(Option(each.name, default, described[each.name]))
    return found


def _defaults_of_built(make: Callable[..., Any], inside: type) -> dict[str, object]:
    """Return the parameters of the learner that is built without options."""
    model = make(seed=1)
    step = next(each for each in model.regressor.steps.values() if isinstance(each, inside))
    return {each.name: getattr(step, each.name) for each in _parameters(inside)}


def _parameters(make: Callable[..., Any]) -> Iterator[Parameter]:
    for each in signature(make).parameters.values():
        if each.kind is not Parameter.VAR_KEYWORD:
            yield each


def meanings(kind: Any) -> dict[str, str]:
    """Return what the section "Parameters" of a docstring says about each parameter."""
    section = cleandoc(kind.__doc__).partition("Parameters\n----------\n")[2]
    section = re.split(r"\n\n\w+\n---", section)[0]
    found = {}
    for names, text in re.findall(r"^(\w[^\n]*)\n((?: {4}[^\n]*\n?|\n)+)", section, re.MULTILINE):
        for name in names.split(", "):
            found[name] = " ".join(text.split())
    return found


def plain(text: str) -> str:
    """Return a docstring's sentence for a table: no LaTeX, and `unset` in place of None.

    Raises
    ------
    KeyError
        When a formula has a command without a symbol.

    """

    def formula(match: re.Match[str]) -> str:
        inside = re.sub(r"\\(?:sqrt|lceil) ", lambda m: SYMBOLS[m[0].rstrip()], match[1])
        inside = re.sub(r"\\(?:[a-z]+|\||,)", lambda m: SYMBOLS[m[0]], inside)
        inside = re.sub(r"√\{(.*?)\}", r"√(\1)", inside).replace(" ⌉", "⌉")
        return inside.replace("{", "(").replace("}", ")")

    text = re.sub(r"\$(.*?)\$", formula, text)
    return text.replace("None:", "Unset:").replace("is None", "is unset")


def pages() -> dict[Path, list[str]]:
    """Return the pages, each with the learners whose options it has."""
    return {
        DOCS / "settings.md": list(OF_USERS),
        DOCS / "research_api.md": [name for name in makers() if name not in OF_USERS],
    }


def _section(name: str) -> str:
    rows = ["| option | default | meaning |", "|---|---|---|"]
    for each in options(name):
        shown = "unset" if each.default is None else f"`{_literal(each.default)}`"
        if each.name == "step" and INSIDE.get(name) is ShrinkingGradient:
            shown += ", unset with `horizon`"
        meaning = plain(each.meaning).replace("|", "\\|")
        rows.append(f"| `{each.name}` | {shown} | {meaning} |")
    return "\n".join((f"### {name}\n", *rows))


def _literal(value: object) -> str:
    """Return a value as TOML writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return str(list(value))
    return f'"{value}"' if isinstance(value, str) else str(value)


def rewritten(text: str, names: list[str]) -> str:
    """Return a page's text with the options of these learners brought up to date."""
    return rewritten_part(text, "options", "\n\n".join(map(_section, names)))


if __name__ == "__main__":
    for page, names in pages().items():
        page.write_text(rewritten(page.read_text("utf-8"), names), encoding="utf-8")
