"""The code follows the table of imports in docs/architecture.md."""

import ast
import re
import subprocess
import sys
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import iln_stream

PACKAGE = Path(iln_stream.__file__).parent
DOCUMENT = Path(__file__).parents[1] / "docs" / "architecture.md"

FOR_ALL = {"errors", "files", "lazy"}
"""Modules of ours that every folder may import."""

SHIMS = {
    *("client", "contest", "events", "explaining", "frozen", "keyed", "paper", "related"),
    "theory",
}
"""Modules that keep import paths of release 0.2."""

THIRD_PARTIES = {
    "PIL": {"figures"},  # comes with matplotlib
    "confluent_kafka": {"records", "streams"},
    "fastapi": {"serving"},
    "httpx": {"serving"},
    "kafka": {"streams"},
    "llvmlite": {"kernels"},
    "matplotlib": {"cli", "figures", "research"},
    "narwhals": {"learners"},
    "numba": {"kernels"},
    "numpy": {
        *("features", "kernels", "learners", "loop", "plotting", "research", "snapshots"),
        *("spark", "state", "streams"),
    },
    "onnx": {"learners"},
    "prometheus_client": {"cli", "loop", "service", "serving"},
    "pyarrow": {"spark", "streams"},
    "pydantic": {"cli", "records", "service", "serving", "settings", "spark"},
    "pydantic_core": {"records"},
    "pydantic_settings": {"serving", "settings", "spark"},
    "pyspark": {"spark"},
    "rich": {"cli", "loop", "service"},
    "river": {
        *("cli", "learners", "records", "research", "service", "snapshots", "spark", "streams")
    },
    "simpleeval": {"records"},
    "starlette": {"serving"},
    "typer": {"cli"},
    "uvicorn": {"serving"},
}
"""Rooms that may import each dependency, so that learners need no Kafka and no server."""

MOST_FOLDERS, MOST_FILES_OF_SERVICE = 12, 20
"""What one person can hold."""


def module_name(file: Path) -> str:
    """Return the dotted name of a module."""
    parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(file): file for file in sorted(PACKAGE.rglob("*.py"))}
FOLDERS = sorted(folder.name for folder in PACKAGE.iterdir() if (folder / "__init__.py").exists())
ROOMS = sorted(
    {name.split(".")[1] for name in MODULES if "." in name}
    - {*FOR_ALL, *SHIMS, "_version", "__main__"}
)
"""Folders, and the modules beside them."""


def files_of(room: str) -> list[Path]:
    """Return the files of a room."""
    return sorted((PACKAGE / room).rglob("*.py")) or [PACKAGE / f"{room}.py"]


@cache
def imports(file: Path) -> list[tuple[str, bool]]:
    """Return each module that a file imports, and whether it does so at import time."""
    found = []
    tree = ast.parse(file.read_text(encoding="utf-8"))
    inside = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for node in ast.walk(function)
    }
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}:{node.lineno}: a relative import"
            # `from a import b` imports a.b if that is a module.
            children = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name for name in children if name in MODULES]
            names += [node.module] * (len(names) < len(children))
        found += [(name, id(node) not in inside) for name in names]
    return found


def documented() -> dict[str, set[str]]:
    """Return the imports of each folder, as documented."""
    rows = re.findall(
        r"^\| `(\w+)(?:/|\.py)` \|.*\| ([^|]*) \|$", DOCUMENT.read_text("utf-8"), re.MULTILINE
    )
    return {folder: set(re.findall(r"`(\w+)`", cell)) for folder, cell in rows}


def imported() -> dict[str, set[str]]:
    """Return the imports of each folder, as found in the code."""
    found: dict[str, set[str]] = {folder: set() for folder in ROOMS}
    for folder in ROOMS:
        for file in files_of(folder):
            names = [name.split(".") for name, _ in imports(file)]
            found[folder] |= {parts[1] for parts in names if parts[0] == "iln_stream" and parts[1:]}
        found[folder] -= {folder, "_version", *FOR_ALL}
    return found


def test_document_names_every_folder():
    """The table has one row for each folder, and for each module beside them."""
    assert sorted(documented()) == ROOMS


def test_the_house_can_be_held():
    """There are at most twelve folders, and few files where all is put together."""
    assert len(FOLDERS) <= MOST_FOLDERS
    assert len(files_of("service")) <= MOST_FILES_OF_SERVICE


@pytest.mark.parametrize("folder", ROOMS)
def test_folder_imports_what_the_document_says(folder):
    """Each folder imports exactly the folders in its row."""
    assert imported()[folder] == documented()[folder]


def test_document_follows_an_events_way():
    """Each row imports only from rows above it, so that folders form no cycle."""
    above: set[str] = set()
    for folder, allowed in documented().items():
        assert allowed <= above, f"{folder} imports from below"
        above.add(folder)


def test_nobody_imports_the_front_door():
    """No module of ours imports from the top of the package, which is for users."""
    for name, file in MODULES.items():
        assert "iln_stream" not in [found for found, _ in imports(file)], name


def test_nobody_imports_the_old_paths():
    """No module of ours imports those that only keep import paths of an earlier release."""
    shims = {f"iln_stream.{name}" for name in SHIMS}
    for name, file in MODULES.items():
        assert shims.isdisjoint(found for found, _ in imports(file)), name


@pytest.mark.parametrize("name", sorted(FOR_ALL | {"_version"}))
def test_what_all_may_import_imports_nothing(name):
    """The modules that all folders may import need only the standard library."""
    imported = {module.split(".")[0] for module, _ in imports(MODULES[f"iln_stream.{name}"])}
    assert imported <= sys.stdlib_module_names


@pytest.mark.parametrize("folder", ROOMS)
def test_third_parties(folder):
    """Each dependency is imported only by its folders."""
    for file in files_of(folder):
        for name, _ in imports(file):
            root = name.split(".")[0]
            if root != "iln_stream" and root not in sys.stdlib_module_names:
                assert folder in THIRD_PARTIES.get(root, ()), f"{file} imports {name}"


def test_numbas_inside_is_known_by_three_files():
    """What may change in a minor release of numba is imported by three files, which then change."""
    inside = ("numba.core", "numba.np", "llvmlite.ir")
    users = {n for n, f in MODULES.items() for m, _ in imports(f) if m.startswith(inside)}
    assert users == {f"iln_stream.kernels.{name}" for name in ("jit", "program", "vectors")}


def test_no_import_circle():
    """Modules do not import each other in a cycle."""
    graph: dict[str, set[str]] = {}
    for module, file in MODULES.items():
        needed = {name for name, at_once in imports(file) if at_once and name in MODULES}
        graph[module] = needed - {module}
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(f"a circle of imports: {' -> '.join(error.args[1])}")


@pytest.mark.parametrize(
    ("extra", "only"),
    [("matplotlib", {"iln_stream.figures"}), ("onnx", {"iln_stream.learners.frozen.onnx_model"})],
)
def test_all_works_without_its_extras(extra, only):
    """Each optional dependency is imported by these modules, and they only on use."""
    users = {n for n, f in MODULES.items() for m, _ in imports(f) if m.split(".")[0] == extra}
    assert users == only
    needing = {n for n, f in MODULES.items() for m, at_once in imports(f) if at_once and m in only}
    assert needing <= only


def test_spark_is_imported_on_use():
    """All modules of `spark/` can be imported without pyspark, as `make test` does."""
    names = [name for name in MODULES if name.startswith("iln_stream.spark")]
    imports = "".join(f"import {name}\n" for name in names)
    without = f"import sys\nsys.modules['pyspark'] = None\n{imports}"
    done = subprocess.run([sys.executable, "-c", without], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
