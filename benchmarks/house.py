"""How large the code is, and which way one event takes through it.

Usage: python -m benchmarks.house [--files] [--json FILE]

Size: a line of code has a token outside comments and docstrings. Every string that is a statement
of its own is a docstring, also below a constant. Packages are the folders in the package.

The way of one event: `Service`, as `iln-stream run` builds it, reads a file of JSON lines in this
process (`{"x": {10 numbers}, "y": label}`; no snapshots, no predictions; three classes). After
5,000 events, `sys.setprofile` follows 50, each from the end of the last listener's turn to the same
moment of the next event: decoding, predicting, scoring, learning, metrics and /live.

- calls: of Python functions (lambdas, properties, resumed generators) whose code is in a file of
  this package; not comprehensions, of which Python 3.12 makes no calls, nor C functions;
- compiled: calls of functions that numba has compiled, which the other columns leave out;
- depth: the most of these calls active at once, where the loop's calls have depth 1.

Each number is a median of 50 events. `--files` lists the files that the calls of one enter.
"""

import argparse
import ast
import io
import json
import math
import random
import sys
import tempfile
import tokenize
import warnings
from pathlib import Path
from statistics import median_low
from types import FrameType
from typing import Any

from numba.core.dispatcher import Dispatcher

import iln_stream
from benchmarks.speed.report import versions
from iln_stream import IlnWarning, Listener
from iln_stream.service import Service, Settings

PACKAGE = Path(iln_stream.__file__).parent
LEARNED, FOLLOWED = 5000, 50
COUNTS = ("files", "calls", "compiled", "depth")
_BLANK = ("COMMENT", "NL", "NEWLINE", "INDENT", "DEDENT", "ENDMARKER")


def lines_of(folder: Path) -> tuple[int, int]:
    """Return the numbers of lines of code and of docstrings."""
    n_code = n_docs = 0
    for file in folder.rglob("*.py"):
        source = file.read_text(encoding="utf-8")
        code: set[int] = set()
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if tokenize.tok_name[token.type] not in _BLANK:
                code |= set(range(token.start[0], token.end[0] + 1))
        docs: set[int] = set()
        for node in ast.walk(ast.parse(source)):
            value = node.value if isinstance(node, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                docs |= set(range(value.lineno, (value.end_lineno or 0) + 1))
        n_code, n_docs = n_code + len(code - docs), n_docs + len(docs)
    return n_code, n_docs


def compiled_loops() -> set[int]:
    """Return the ids of code that numba has compiled; the code's hash changes as it runs."""
    modules = [each for name, each in sys.modules.items() if name.startswith("iln_stream.")]
    values = (value for module in modules for value in vars(module).values())
    return {id(value.py_func.__code__) for value in values if isinstance(value, Dispatcher)}


class Way(Listener):
    """Follows events; as the last listener, it is called when an event is done."""

    def __init__(self) -> None:
        self.events: list[list[tuple[str, int]]] = []  # of each: file and depth of every call
        self.n_compiled: list[int] = []
        self._n_seen = self._depth = 0

    def on_step(self, step: Any) -> None:
        sys.setprofile(None)
        self._n_seen, self._depth = self._n_seen + 1, 0
        if LEARNED <= self._n_seen < LEARNED + FOLLOWED:
            self._loops = compiled_loops()
            self.events, self.n_compiled = [*self.events, []], [*self.n_compiled, 0]
            sys.setprofile(self._profile)

    def _profile(self, frame: FrameType, event: str, argument: object) -> None:
        code, file = frame.f_code, Path(frame.f_code.co_filename)
        if code.co_name in ("<listcomp>", "<setcomp>", "<dictcomp>") or PACKAGE not in file.parents:
            return
        if id(code) in self._loops:
            self.n_compiled[-1] += event == "call"
        elif event == "call":
            self._depth += 1
            self.events[-1].append((str(file.relative_to(PACKAGE)), self._depth))
        elif event == "return":
            self._depth -= 1


def way(name: str) -> dict[str, Any]:
    """Return files, calls and depth of one event of a learner."""
    draw, followed, classes = random.Random(1), Way(), name == "classifier"
    with tempfile.TemporaryDirectory() as folder:
        events = Path(folder) / "events.jsonl"
        with events.open("w") as file:
            for _ in range(LEARNED + FOLLOWED):
                x = {f"x{j}": draw.random() for j in range(10)}
                y = 10 * math.sin(math.pi * x["x0"] * x["x1"]) + 5 * x["x2"] + draw.gauss(0, 1)
                label = "low" if y < 6 else "middle" if y < 10 else "high"
                print(json.dumps({"x": x, "y": label if classes else y}), file=file)
        own: Any = {"learner_options": {"profile": name}}
        own = {"learner": "infinite-layer-classifier"} if classes else own
        settings = Settings(
            source=str(events), metrics_port=0, dead_letters=f"{folder}/dead", **own
        )
        Service(settings, listeners=[followed]).run()
    files = [{file for file, _ in each} for each in followed.events]
    calls = [len(each) for each in followed.events]
    depths = [max(depth for _, depth in each) for each in followed.events]
    counts = map(median_low, (map(len, files), calls, followed.n_compiled, depths))
    found: dict[str, Any] = dict(zip(COUNTS, counts, strict=True))
    return found | {"entered": sorted(files[calls.index(found["calls"])])}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.house")
    parser.add_argument("--files", action="store_true", help="list the files that an event enters")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", IlnWarning)
    files, packages = PACKAGE.rglob("*.py"), PACKAGE.glob("*/__init__.py")
    sizes = {".py files": len(list(files)), "packages": len(list(packages))}
    sizes["lines of code"], sizes["lines of docstrings"] = lines_of(PACKAGE)
    sizes["lines of code in tests"], _ = lines_of(PACKAGE.parent / "tests")
    ways = {name: way(name) for name in ("accurate", "fast", "classifier")}
    for name, number in sizes.items():
        print(f"{name:24}{number:>10,}")
    print(f"{'one event':24}", *(f"{key:>9}" for key in COUNTS))
    for name, each in ways.items():
        print(f"  {name:22}", *(f"{each[key]:>9}" for key in COUNTS))
    for name, each in ways.items() if arguments.files else ():
        print(f"{name}:", *each["entered"], sep="\n  ")
    if arguments.json:
        stored = {"versions": versions(), "size": sizes, "one event": ways}
        arguments.json.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
