"""Compiled code is kept on disk and gives the same results from there; functions at addresses; and
the line that a person reads while functions are being compiled.
"""

import io
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from numba import njit
from numba.core import event

import iln_stream.kernels
from iln_stream.kernels.jit import (
    Notice,
    address_of,
    borrowed,
    call_float,
    call_int,
    compiled,
    notice,
)

PROGRAM = """
import hashlib, math, warnings
warnings.simplefilter("ignore")
from iln_stream import InfiniteLayerRegressor, Pool, ShrinkingGradient
from iln_stream.state import pack

for model in (InfiniteLayerRegressor("fast", 1), ShrinkingGradient(estimator=Pool(64), seed=1)):
    for t in range(140):
        x = {"a": math.sin(t), "b": math.cos(3 * t), "c": float(t % 5)}
        model.predict_one(x)
        model.learn_one(x, math.sin(2 * t))
    arrays, text = pack(model.state())
    digest = hashlib.sha256(text.encode())
    for path in sorted(arrays):
        digest.update(arrays[path].tobytes())
    print(digest.hexdigest())
"""


def digests(cache: Path) -> list[str]:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.thorough
def test_a_cold_and_a_warm_process_agree_bit_for_bit(tmp_path):
    """The first process of a release compiles, later ones load: same state, to the last bit.

    Called functions are inlined for that. Otherwise the linker may use any caller's copy of a
    function, and copies differ in the order of sums.
    """
    cold = digests(tmp_path)
    assert len(cold) == 2
    assert any(tmp_path.rglob("*.nbc")), "nothing was kept on disk: there is nothing to load"
    assert digests(tmp_path) == cold


KERNELS = Path(iln_stream.kernels.__file__).parent
CALL = """
import numpy as np
from iln_stream.kernels.regression_event import join_target  # calls moments_with, of columns.py
stats = np.zeros((47, 1))
stats[6] = 9.0  # the bound of values
join_target(8.0, stats, 0)
print(stats[1, 0], sum(join_target.stats.cache_hits.values()))
"""


def test_damaged_code_is_compiled_anew(tmp_path):
    """A flipped bit in machine code or its index changes no result, and is mended."""

    def run():
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
        command = [sys.executable, "-c", CALL]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return done.stdout.split()

    cold = run()
    for suffix in ("nbc", "nbi"):
        for file in tmp_path.rglob(f"*.{suffix}"):
            data = bytearray(file.read_bytes())
            data[len(data) // 2] ^= 4
            file.write_bytes(data)
        assert run() == cold == [cold[0], "0"]
    assert run() == [cold[0], "1"]


@pytest.fixture
def tree(request, tmp_path):
    """A copy of the kernels: its columns.py, a way to call one, and the cache folder."""
    package = tmp_path / "iln_stream"
    shutil.copytree(KERNELS, package / "kernels", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(KERNELS.parent / "errors.py", package)
    (package / "__init__.py").touch()
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    environment.pop("NUMBA_CACHE_DIR", None)
    place = package / "kernels" / "__pycache__"
    if named := getattr(request, "param", "named"):
        place = tmp_path / named
        environment["NUMBA_CACHE_DIR"] = str(place)

    def call(before=""):
        command = [sys.executable, "-c", CALL.replace("stats =", f"{before}\nstats =")]
        done = subprocess.run(
            command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
        )
        mean, hits = done.stdout.split()
        return float(mean), int(hits)

    return package / "kernels" / "columns.py", call, place


@pytest.mark.thorough
@pytest.mark.parametrize(
    "tree",
    [
        pytest.param("", id="beside the sources"),
        pytest.param("named", id="NUMBA_CACHE_DIR", marks=pytest.mark.thorough),
    ],
    indirect=True,
)
def test_an_edited_function_is_compiled_anew_for_its_callers(tree):
    """Machine code of unchanged sources is loaded; an edit in another file forces recompilation."""
    source, call, place = tree
    assert call() == (8.0, 0)
    kept = {path: path.stat().st_mtime_ns for path in place.rglob("*.nb?")}
    assert kept
    assert call() == (8.0, 1)
    assert {path: path.stat().st_mtime_ns for path in place.rglob("*.nb?")} == kept
    text = source.read_text()
    source.write_text(text.replace("stats[MEAN, j] + step", "stats[MEAN, j] + 0.5 * step"))
    assert call() == (4.0, 0)
    source.write_text(text)
    assert call() == (8.0, 1)


@pytest.mark.thorough
def test_old_machine_code_is_removed(tree):
    """When sources change, only code of other sources that is unused for a day is removed."""
    source, call, place = tree
    call()
    (old,) = place.rglob("iln_stream-*")
    recent, users = old.with_name("iln_stream-recent"), old.with_name("users")
    for folder in (recent, users):
        shutil.copytree(old, folder)
    days_ago = time.time() - 3 * 86_400
    for folder in (old, users):
        os.utime(folder, (days_ago, days_ago))
    source.write_text(source.read_text() + "\n")
    call()
    assert (old.exists(), recent.exists(), users.exists()) == (False, True, True)


@pytest.mark.thorough
def test_a_day_counts_from_the_last_use(tree):
    """A process that loads machine code keeps it from being removed."""
    source, call, place = tree
    call()
    (used,) = place.rglob("iln_stream-*")
    os.utime(used, (0.0, 0.0))
    call()
    source.write_text(source.read_text() + "\n")
    call()
    assert used.exists()


@pytest.mark.thorough
def test_removing_it_harms_no_process(tree):
    """A process whose folder is removed before it compiles continues without it."""
    _, call, place = tree
    assert call(before=f"import shutil; shutil.rmtree({str(place)!r})") == (8.0, 0)


def test_compiles_where_nothing_can_be_kept():
    """A function is compiled even if no cache folder is writable."""
    scope = {}
    exec(compile("def twice(x):\n    return 2.0 * x", "<nowhere>", "exec"), scope)
    assert compiled(scope["twice"])(3.0) == 6.0


@compiled
def total(x, factor):
    result = 0.0
    for i in range(x.shape[0]):
        result += x[i]
    return result * factor


@compiled
def size(x):
    return x.shape[0]


@compiled
def totals(X, factor, address, out):
    for i in range(X.shape[0]):
        out[i] = call_float(address, (X[i], factor))


@compiled
def sizes(X, address):
    n = 0
    for i in range(X.shape[0]):
        n += call_int(address, (X[i],))
    return n


@pytest.mark.parametrize("factor", [2.5, 3])
def test_the_function_at_an_address_is_called(factor):
    """With each row and a number of either type; the address is that of the code for its types."""
    X, out = np.random.default_rng(0).normal(size=(20, 7)), np.zeros(20)
    address = address_of(total, X[0], factor)
    totals(X, factor, address, out)
    assert out.tolist() == [total(x, factor) for x in X]
    assert address_of(total, X[1], factor) == address
    assert address_of(total, X[1], 3 if factor == 2.5 else 2.5) != address
    assert sizes(X, address_of(size, X[0])) == 140


def test_other_types_have_other_addresses():
    """Of arrays that are read-only, of another precision or with gaps."""
    x = np.zeros(8)
    fixed = x.copy()
    fixed.flags.writeable = False
    arrays = (x, fixed, x.astype(np.float32), x[::2])
    assert len({address_of(size, each) for each in arrays}) == len(arrays)


@njit
def fill(array):
    part = borrowed(array)[2:8].reshape(2, 3)
    for i in range(2):
        part[i] = i + 1.0


def test_slices_of_a_borrowed_array_are_parts_of_it():
    """What is written to them is in the array, which is not freed with them."""
    array = np.zeros(10)
    for _ in range(1_000):
        fill(array)
    assert array.tolist() == [0.0, 0.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 0.0, 0.0]


class Screen(io.StringIO):
    """Standard error that is a terminal, or not."""

    def __init__(self, is_terminal):
        super().__init__()
        self.isatty = lambda: is_terminal


def shown(mine, monkeypatch, *, on_terminal):
    """What a notice writes to standard error while two functions are compiled."""
    screen = Screen(on_terminal)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", screen)
        with notice.silent(), event.install_listener("numba:compile", mine):
            for _ in range(2):
                compiled(eval("lambda x: x + 1"))(1.0)
    return screen.getvalue()


@pytest.mark.parametrize(
    ("after", "on_terminal", "times"), [(0.0, True, 1), (60.0, True, 0), (0.0, False, 0)]
)
def test_who_waits_at_a_terminal_knows_why(monkeypatch, after, on_terminal, times):
    """By one line for all functions; a short wait needs none, and a log gets another."""
    written = shown(Notice(after=after), monkeypatch, on_terminal=on_terminal)
    assert written.count("compiles its loops") == times


def test_a_notebook_gets_it(monkeypatch):
    """Its standard error is no terminal, but is shown at once."""
    monkeypatch.setitem(sys.modules, "ipykernel", sys)
    assert "compiles its loops" in shown(Notice(after=0.0), monkeypatch, on_terminal=False)


def test_whoever_reports_silences_it(monkeypatch):
    """`iln-stream warm` and the service say themselves what is compiled."""
    mine = Notice(after=0.0)
    with mine.silent():
        assert shown(mine, monkeypatch, on_terminal=True) == ""


def test_our_functions_are_watched():
    """The learner's module registers it, without a call by the user."""
    assert notice in event._registered["numba:compile"]
