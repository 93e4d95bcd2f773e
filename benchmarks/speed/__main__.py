"""The benchmarks of speed: `python -m benchmarks.speed [SECTION ...] [--quick] [--json FILE]`."""

import argparse
from importlib import import_module
from pathlib import Path
from time import perf_counter

from rich.console import Console

from .effort import QUICK, Effort
from .report import as_json, machine, versions

SECTIONS = {
    "machine_limit": "the cost of each thing that a draw is made of",
    "cells": "each estimator against that limit, over support, width and draws",
    "per_event": "predict + learn from dicts, beside other online regressors",
    "growth": "the cost of an event as the support grows",
    "variance_time": "variance × time of each estimator",
    "rebuild": "the longest single event of a support",
    "startup": "import and first events in fresh processes",
}


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.speed",
        description="Sections: " + "; ".join(f"{name}: {what}" for name, what in SECTIONS.items()),
    )
    parser.add_argument("sections", nargs="*", metavar="SECTION", help="default: all")
    parser.add_argument(
        "--quick", action="store_true", help="see that it works, in a minute or two"
    )
    parser.add_argument("--json", type=Path, help="write everything to this file as well")
    arguments = parser.parse_args()
    if unknown := set(arguments.sections) - set(SECTIONS):
        parser.error(f"{', '.join(sorted(unknown))}: sections are {', '.join(SECTIONS)}")

    console = Console(width=None if Console().is_terminal else 140)
    effort = QUICK if arguments.quick else Effort()
    console.print({**versions(), **machine()})
    sections = {}
    for name in arguments.sections or SECTIONS:
        console.rule(SECTIONS[name])
        started = perf_counter()
        sections[name] = import_module(f".{name}", __package__).measure(effort)
        for findings in sections[name]:
            findings.show(console)
        console.print(f"{perf_counter() - started:.0f} s", style="dim")
    if arguments.json:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(as_json(effort, sections), encoding="utf-8")


if __name__ == "__main__":
    main()
