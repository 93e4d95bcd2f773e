"""Small errors written into the code, to see whether the tests notice them.

    python -m benchmarks.mutants draw [--seed 20261125] [--json FILE]
    python -m benchmarks.mutants run --results FILE [--json FILE] [--only N..M] [--seconds 150]

`draw` stores mutants of all rooms (the package's top folders): one per 270 lines of code, at least
3 of a room. A mutant is a statement of a function, and what takes its place. `run` finds the
function in any module by its qualified name or, if it was renamed, its body; of several functions
it takes the one with most of the old neighbours. It clones the last commit into a temporary folder,
writes one mutant after the other there, and runs with -x the module's doctests and the test file of
its name; then the test files that import its names, those with most names first; then the others of
the room, the nearest folders first. Results are appended, and an interrupted run resumes:

- `killed`: a test failed, twice, that passes without the mutant;
- `timeout`, killed as well: at the bound, a test was running that takes less without the mutant;
- `survived`: all these tests passed; `survived within 150 s`: all that ended before the bound;
- `untested`: there are no tests (those of Spark need its environment);
- `gone`: no function has the statement any more.
"""

import argparse
import ast
import copy
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

ROOT = Path(__file__).parents[1]
FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef
INNER = ast.stmt | ast.excepthandler | ast.match_case
SIMPLE = ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Expr | ast.Raise | ast.Return
_PAIRS = "Lt LtE Gt GtE Eq NotEq Is IsNot In NotIn And Or Add Sub Mult Div"
_OPERATORS = [getattr(ast, name) for name in _PAIRS.split()]
FLIPS = {operator: _OPERATORS[i ^ 1] for i, operator in enumerate(_OPERATORS)}
KINDS = ("deleted", "UnaryOp", "Constant", "Return", "Compare", "BinOp", "BoolOp", "AugAssign")
TEXTS = ("log.", "warn", "print(", "report(", "console.", "typer.", "'", '"', "...")
"""How docstrings begin, and calls whose arguments people read."""

PLUGIN = """
import os, pytest
LOG = open(os.environ["MUTANTS_LOG"], "a", buffering=1)
def pytest_runtest_logstart(nodeid):
    print("started", nodeid, file=LOG)
def pytest_runtest_logreport(report):
    if report.failed:
        print("failed", report.nodeid, file=LOG)
pytest_collectreport = pytest_runtest_logreport
@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    files = [each.split("::")[0] for each in config.args]
    items.sort(key=lambda item: files.index(item.nodeid.split("::")[0]))
"""
"""Of pytest: logs which tests begin and fail, and keeps the files in the command line's order."""


class Statement(NamedTuple):
    """A statement's text, of which the middle part, a node, may be mutated."""

    before: str
    part: Any
    after: str = ""

    @property
    def text(self) -> str:
        return f"{self.before}{ast.unparse(self.part)}{self.after}"


Functions = list[tuple[str, list[Statement], int]]
"""Qualified names, own statements and their checksum."""


def functions(node: ast.AST, prefix: str = "") -> Functions:
    """Return the functions in a module, class or function."""
    found: Functions = []
    for child in getattr(node, "body", []):
        if isinstance(child, FUNCTION):
            own = [*statements(child)]
            body = crc32("\n".join(each.text for each in own).encode())
            found.append((f"{prefix}{child.name}", own, body))
        if isinstance(child, FUNCTION | ast.ClassDef):
            found += functions(child, f"{prefix}{child.name}.")
    return found


def statements(parent: ast.AST) -> Iterator[Statement]:
    """Yield the statements in a function, in order, without those of functions in it."""
    for node in ast.iter_child_nodes(parent):
        if isinstance(node, ast.If | ast.While):
            yield Statement(f"{type(node).__name__.lower()} ", node.test, ":")
        elif isinstance(node, ast.For):
            yield Statement(f"for {ast.unparse(node.target)} in ", node.iter, ":")
        elif isinstance(node, SIMPLE) and not ast.unparse(node).startswith(TEXTS):
            yield Statement("", node)
        if isinstance(node, INNER) and not isinstance(node, FUNCTION | ast.ClassDef):
            yield from statements(node)


def change(node: Any) -> None:
    """Change a node if there is a change for its kind."""
    match node:
        case ast.Compare() if flipped := FLIPS.get(type(node.ops[0])):
            node.ops[0] = flipped()
        case ast.BinOp() | ast.AugAssign() | ast.BoolOp() if flipped := FLIPS.get(type(node.op)):
            node.op = flipped()
        case ast.UnaryOp(op=ast.Not()):
            node.__class__, node.__dict__ = type(node.operand), vars(node.operand)
        case ast.Constant(value=bool()):
            node.value = not node.value
        case ast.Constant(value=int() | float()):
            node.value += 1
        case ast.Return(value=ast.expr()):
            node.value = ast.Constant(None)


def nodes(part: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that may change: not in annotations, formatted texts and `strict`."""
    yield part
    for each in ast.iter_child_nodes(part):
        left_out = isinstance(each, ast.JoinedStr) or each is getattr(part, "annotation", None)
        if not left_out and getattr(each, "arg", None) != "strict":
            yield from nodes(each)


def mutants_of(statement: Statement) -> Iterator[tuple[str, str]]:
    """Yield kind and text of each mutant of a statement."""
    part = statement.part
    target = getattr(part, "targets", [getattr(part, "target", part)])[0]
    stored = isinstance(target, ast.Attribute | ast.Subscript) and isinstance(part, ast.stmt)
    if stored or isinstance(part, ast.Expr | ast.Raise):
        yield "deleted", "pass"
    for i, node in enumerate([] if isinstance(part, ast.Raise) else nodes(part)):
        other = copy.deepcopy(part)
        change([*nodes(other)][i])
        text = statement._replace(part=other).text
        if text != statement.text:
            yield type(node).__name__, text


def modules(tree: Path) -> dict[str, Functions]:
    """Return the functions of each file of the package."""
    files = sorted((tree / "iln_stream").rglob("*.py"))
    return {str(each.relative_to(tree)): functions(ast.parse(each.read_bytes())) for each in files}


def draw(seed: int) -> list[dict[str, Any]]:
    """Return mutants of all rooms; within a room, each kind is as likely if there are enough."""
    from benchmarks.house import lines_of

    draws, drawn, rooms = random.Random(seed), [], defaultdict(list)
    for file, inside in modules(ROOT).items():
        near = sorted({name for name, _, _ in inside})
        for name, own, body in inside if file.count("/") > 1 else ():
            known = {"file": file, "function": name, "body": body, "neighbours": near}
            seen: list[str] = []
            for each in own:
                place = known | {"statement": each.text, "ordinal": seen.count(each.text)}
                rooms[file.split("/")[1]].append((each, place))
                seen.append(each.text)
    for room in sorted(rooms):
        wanted = len(drawn) + max(3, round(lines_of(ROOT / "iln_stream" / room)[0] / 270))
        while len(drawn) < wanted:
            kind = draws.choice(KINDS)
            for i in draws.sample(range(len(rooms[room])), min(200, len(rooms[room]))):
                if texts := [text for each, text in mutants_of(rooms[room][i][0]) if each == kind]:
                    found = {"room": room, "kind": kind, "mutated": draws.choice(texts)}
                    drawn.append(found | rooms[room].pop(i)[1])
                    break
    return drawn


def find(mutant: dict[str, Any], code: dict[str, Functions]) -> tuple[str, Statement] | None:
    """Return the file that has a mutant's function now, and the statement; None: it is gone."""
    found = []
    for file, inside in code.items():
        near = len({name for name, _, _ in inside} & {*mutant["neighbours"]})
        for name, own, body in inside:
            named, same = name == mutant["function"], body == mutant["body"]
            if named or (same and 2 * near >= len(mutant["neighbours"])):
                equal = [each for each in own if each.text == mutant["statement"]]
                rank = named + same + (file == mutant["file"]), near
                found += [(rank, file, each) for each in equal[mutant["ordinal"] :][:1]]
    return max(found, key=lambda each: each[0])[1:] if found else None


def test_files(tree: Path, file: str) -> list[list[str]]:
    """Return what to test a module with, in three steps."""
    source, parts, path = (tree / file).read_text(), Path(file).parts[1:], file[:-3].split("/")
    names = {path[-1]}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, FUNCTION | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    own, users, room = f"tests/{Path(*parts).parent}/test_{parts[-1]}", {}, {}
    left_out = ("tests/stack/", *(() if find_spec("pyspark") else ("tests/spark/",)))
    for test in sorted(str(each.relative_to(tree)) for each in tree.glob("tests/**/test_*.py")):
        imported = set()
        for node in ast.walk(ast.parse((tree / test).read_bytes())):
            if isinstance(node, ast.ImportFrom) and [
                *path[: node.module.count(".") + 1]
            ] == node.module.split("."):
                imported |= {each.name for each in node.names}
        if imported & names or test == own:
            users[test] = -len(imported & names)
        elif test.startswith(f"tests/{parts[0]}/"):
            room[test] = -len(os.path.commonpath([test, own]))
    # First the tests: the import of a module by its path takes the place of a function of its name.
    first = [own] * (users.pop(own, None) is not None) + [file] * (">>>" in source)
    steps = first, sorted(users, key=users.__getitem__), sorted(room, key=room.__getitem__)
    return [[each for each in step if not each.startswith(left_out)] for step in steps]


class Clone:
    """A clone of the last commit, in which one mutant after the other is tested."""

    def __init__(self, folder: Path, bound: float) -> None:
        self.tree, self._bound, self._log = folder / "tree", bound, folder / "log"
        subprocess.run(["git", "clone", "--quiet", ROOT, self.tree], check=True)
        (folder / "mutants_plugin.py").write_text(PLUGIN)
        for cache in (ROOT / "iln_stream").rglob("__pycache__/iln_stream-*"):
            shutil.copytree(cache, self.tree / cache.relative_to(ROOT))
        own = {"PYTHONPATH": f"{self.tree}:{folder}", "MUTANTS_LOG": str(self._log)}
        self._how: Any = {"cwd": self.tree, "env": os.environ | own, "stdout": subprocess.DEVNULL}
        for name in ("NUMBA_CACHE_DIR", "PYTHONDONTWRITEBYTECODE"):
            self._how["env"].pop(name, None)
        subprocess.run([sys.executable, "-m", "iln_stream", "warm"], check=True, **self._how)
        self._caches = {*self.tree.rglob("__pycache__/iln_stream-*")}
        self._code, self._time = modules(self.tree), 2e9

    def judge(self, mutant: dict[str, Any]) -> dict[str, Any]:
        """Return the outcome, and what it is due to."""
        if (found := find(mutant, self._code)) is None:
            return {"outcome": "gone"}
        file, (before, part, after) = found
        source, spent = (self.tree / file).read_bytes(), 0.0
        lines = source.splitlines(keepends=True)
        start = sum(map(len, lines[: part.lineno - 1])) + part.col_offset
        end = sum(map(len, lines[: part.end_lineno - 1])) + part.end_col_offset
        text = mutant["mutated"].removeprefix(before).removesuffix(after)
        result = {"outcome": "untested", "found": file}
        for files in test_files(self.tree, file):
            outcome = "failed"
            while outcome == "failed" and files:
                self._write(file, source[:start] + text.encode() + source[end:])
                outcome, test, seconds, alone = self._pytest(files, self._bound - spent)
                one = [test] if "::" in test else [test, "--collect-only"]
                again = outcome == "failed" and self._pytest(one, self._bound)[0] != "passed"
                self._write(file, source)
                spent += seconds
                result |= {"outcome": "survived", "seconds": round(spent, 1)}
                if outcome == "unfinished":
                    hangs = alone > 20 and self._pytest([test], alone)[0] == "passed"
                    late = f"survived within {self._bound:g} s"
                    return result | {"outcome": "timeout" if hangs else late, "test": test}
                if again and self._pytest(one, self._bound)[0] == "passed":
                    return result | {"outcome": "killed", "test": test}
                files = [each for each in files if each != test.split("::")[0]]
        return result

    def _write(self, file: str, source: bytes) -> None:
        (self.tree / file).write_bytes(source)
        self._time += 10  # Python reads a file of another time, and not its bytecode
        os.utime(self.tree / file, (self._time, self._time))
        for cache in {*self.tree.rglob("__pycache__/iln_stream-*")} - self._caches:
            shutil.rmtree(cache, ignore_errors=True)  # machine code of the mutant before

    def _pytest(self, arguments: list[str], seconds: float) -> tuple[str, str, float, float]:
        """Run tests; return the outcome, the last test, how long all took, and how long that."""
        self._log.write_text("")
        options = "-m pytest -x -q -p no:cacheprovider -p mutants_plugin --doctest-modules"
        chosen = "-m", "not thorough"  # what `make test` runs
        command = [sys.executable, *options.split(), *chosen, *arguments]
        code, began = None, time.time()
        process = subprocess.Popen(command, start_new_session=True, **self._how)
        with suppress(subprocess.TimeoutExpired):
            code = process.wait(max(seconds, 1))
        took, alone = time.time() - began, time.time() - self._log.stat().st_mtime
        events = [line.split(" ", 1) for line in self._log.read_text().splitlines()]
        if code is None:
            process.send_signal(signal.SIGINT)  # it ends the servers that it has started
            with suppress(subprocess.TimeoutExpired):
                process.wait(10)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        failed = [test for event, test in events if event == "failed"]
        last = (failed or [test for _, test in events[-1:]] or arguments)[0]
        ended = "unfinished" if code is None else "passed" if code in (0, 5) else "failed"
        return "failed" if failed else ended, last, took, alone


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutants")
    parser.add_argument("command", choices=["draw", "run"])
    parser.add_argument("--json", type=Path, default=ROOT / "benchmarks/results/mutants.json")
    parser.add_argument("--seed", type=int, default=20261125)
    parser.add_argument("--results", type=Path)
    parser.add_argument("--only", default="..", help="N..M: mutants N to M - 1 of the list")
    parser.add_argument("--seconds", type=float, default=150.0)
    options = parser.parse_args()
    if options.command == "draw":
        options.json.write_text(json.dumps(draw(options.seed), indent=1) + "\n")
        return
    mutants = json.loads(options.json.read_text())
    options.results.touch()
    done = {json.loads(line)["mutant"] for line in options.results.read_text().splitlines()}
    first, last = (int(each) if each else None for each in options.only.split(".."))
    with tempfile.TemporaryDirectory() as folder:
        clone = Clone(Path(folder), options.seconds)
        for i in [each for each in range(len(mutants))[first:last] if each not in done]:
            kept = {name: mutants[i][name] for name in ("room", "function", "mutated")}
            found = {"mutant": i} | kept | clone.judge(mutants[i])
            with options.results.open("a") as file:
                print(json.dumps(found), file=file)
            print(i, found["outcome"], found.get("test", ""), flush=True)
    results = [json.loads(line) for line in options.results.read_text().splitlines()]
    for room in sorted({each["room"] for each in results}):
        print(room, dict(Counter(each["outcome"] for each in results if each["room"] == room)))
    print("all", dict(Counter(each["outcome"] for each in results)))


if __name__ == "__main__":
    main()
