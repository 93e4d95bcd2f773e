"""A CPU baseline is set before numpy and numba are loaded, or it is said why not."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

import pytest
from support.command_line import environment, iln

from iln_stream.kernels.cpu import BASELINES, VARIABLE, lacking

OURS = next((n for n, each in BASELINES.items() if platform.machine() in each.machines), None)
FOREIGN = next(n for n in BASELINES if n != OURS)

pytestmark = pytest.mark.skipif(OURS is None, reason="no baseline is of this architecture")


def python(program: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a process of its own, where warnings of imports are errors."""
    pinned = {name for each in BASELINES.values() for name in each.variables}
    inherited = {k: v for k, v in environment().items() if k not in pinned}
    return subprocess.run(
        [sys.executable, "-W", "error::ImportWarning", "-c", program],
        env={**inherited, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def test_numpy_accepts_the_names_of_its_levels() -> None:
    """NumPy renames its levels from time to time, and ignores names that it does not know."""
    done = python("import iln_stream, numpy", **{VARIABLE: str(OURS)})
    assert done.returncode == 0, done.stderr
    unknown = python("import numpy", NPY_DISABLE_CPU_FEATURES="UNKNOWN")
    assert "not part of the dispatched optimizations" in unknown.stderr


def test_children_inherit_the_variables() -> None:
    """Processes that compile, or that a user starts, compute as their parent."""
    program = (
        "import iln_stream, subprocess, sys; subprocess.run([sys.executable, '-c', "
        "'import iln_stream.kernels.cpu as p; import os; p.check(); print(p.pinned(), "
        'os.environ["OPENBLAS_CORETYPE"])\'], check=True)'
    )
    done = python(program, **{VARIABLE: str(OURS)})
    assert done.stdout.split() == [OURS, BASELINES[str(OURS)].openblas], done.stderr


def test_numpy_is_loaded_already() -> None:
    """A baseline that comes too late is an error at the first compiled function, not a promise."""
    program = "import numpy\nfrom iln_stream.kernels.cpu import pinned\npinned()"
    done = python(program, **{VARIABLE: str(OURS)})
    assert done.returncode
    assert f"{VARIABLE}={OURS}: numpy can't be changed any more" in done.stderr
    assert "import iln_stream before" in done.stderr


def test_compiled_functions_refuse_a_baseline_that_is_not_set() -> None:
    """A program that learns gets the error, too."""
    program = (
        "import numpy\nfrom iln_stream.kernels.columns import n_broken\nn_broken(numpy.zeros(3))"
    )
    done = python(program, **{VARIABLE: "x86-64-v9"})
    assert f"{VARIABLE}=x86-64-v9: must be one of {', '.join(BASELINES)}" in done.stderr


def test_replaced_variables_are_warned_of() -> None:
    """Whoever chose a BLAS's kernels is told that the baseline's are used."""
    program = "import iln_stream.kernels.cpu as p; p.check(); p.check()"
    done = python(program, **{VARIABLE: str(OURS), "OPENBLAS_CORETYPE": "Nehalem"})
    assert done.returncode == 0
    assert done.stderr.count("OPENBLAS_CORETYPE is '") == 1
    assert f"by {VARIABLE}={OURS}, and no longer 'Nehalem'" in done.stderr


def test_a_cpu_of_another_architecture(tmp_path: Path) -> None:
    """The command ends with the reason, before anything is loaded that this CPU can't run."""
    done = iln("doctor", cwd=tmp_path, env={VARIABLE: FOREIGN})
    assert done.returncode == 2
    assert f"{VARIABLE}={FOREIGN}: this CPU is of architecture {platform.machine()}" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_cpu_that_lacks_a_feature() -> None:
    """An old CPU is refused by name of what it lacks, not by an illegal instruction."""
    baseline = BASELINES[str(OURS)]
    assert lacking(baseline) is None
    beyond = baseline._replace(numba_features=f"{baseline.numba_features},+warp-drive")
    assert lacking(beyond) == "lacks warp-drive"


def test_an_empty_variable_is_none() -> None:
    """Images and manifests can switch a baseline off."""
    program = "import iln_stream.kernels.cpu as p; print(p.pinned(), p.cpu_baseline())"
    done = python(program, **{VARIABLE: ""})
    name, native, *_ = done.stdout.split()
    assert (name, native) == ("None", "native")
