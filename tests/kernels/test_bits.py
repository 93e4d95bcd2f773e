"""Under a CPU baseline the same bits are learned, whatever the libraries would choose."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from support import learns_on_a_cpu
from support.command_line import environment

from iln_stream.kernels.cpu import BASELINES, VARIABLE

BASELINE = next((n for n, each in BASELINES.items() if platform.machine() in each.machines), "")
OTHERS = {
    "x86-64-v3": {
        "OPENBLAS_CORETYPE": "Prescott",
        "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4",
        "NUMBA_CPU_NAME": "generic",
    },
    "armv8-a": {
        "OPENBLAS_CORETYPE": "NEOVERSEN1",
        "NPY_DISABLE_CPU_FEATURES": "",
        "NUMBA_CPU_NAME": "neoverse-n1",
        "QEMU_CPU": "cortex-a53",  # where QEMU runs us: an old CPU instead of one with everything
    },
}
"""What else the libraries may be asked for."""
PROGRAM = [sys.executable, learns_on_a_cpu.__file__]

Learn = Callable[..., dict[str, Any]]

pytestmark = pytest.mark.skipif(not BASELINE, reason="no baseline is of this architecture")
x86 = pytest.mark.skipif(BASELINE != "x86-64-v3", reason="looks at instructions of x86-64")


@pytest.fixture(scope="module")
def learn(tmp_path_factory: pytest.TempPathFactory) -> Learn:
    """Learn in a process of its own, with more variables; all share one cache of compiled code."""
    cache = tmp_path_factory.mktemp("compiled")

    def run(*arguments: str, command: list[str] = PROGRAM, **variables: str) -> dict[str, Any]:
        pinned = BASELINES[BASELINE].variables
        inherited = {k: v for k, v in environment().items() if k not in pinned}
        done = subprocess.run(
            [*command, *arguments],
            env={**inherited, "NUMBA_CACHE_DIR": str(cache), **variables},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    return run


@pytest.fixture(scope="module")
def cold(learn: Learn) -> dict[str, Any]:
    """The first process with the baseline, which compiles."""
    return learn("asm", **{VARIABLE: BASELINE})


@x86
@pytest.mark.thorough
def test_no_512_bit_registers(cold: dict[str, Any]) -> None:
    """Protects CPUs with AVX2 only from code that they can't run, wherever it was compiled."""
    assert cold["hits"] == 0
    assert cold["misses"] > 0
    assert cold["assembly"]["ymm"] > 100, "there is no vectorised assembly to look at"
    assert cold["assembly"]["zmm"] == 0


@pytest.mark.thorough
def test_the_blas_is_that_of_the_baseline(cold: dict[str, Any]) -> None:
    """OpenBLAS has read the variables, so iln_stream set them early enough."""
    ((blas, threads),) = cold["blas"]
    assert (blas.upper(), threads) == (BASELINES[BASELINE].openblas.upper(), 1)
    assert cold["cpu_baseline"] == BASELINE


@pytest.mark.thorough
def test_other_choices_of_the_libraries_give_the_same_bits(
    learn: Learn, cold: dict[str, Any]
) -> None:
    """State and predictions don't depend on the kernels of BLAS and NumPy that are asked for."""
    other = {"OPENBLAS_NUM_THREADS": "2", "NUMBA_CPU_FEATURES": "", **OTHERS[BASELINE]}
    again = learn(**{VARIABLE: BASELINE}, **other)
    assert again["bits"] == cold["bits"]
    assert (again["hits"], again["misses"]) == (cold["misses"], 0)


@x86
@pytest.mark.thorough
def test_no_instructions_whose_result_is_the_makers_choice(cold: dict[str, Any]) -> None:
    """CPUs of AMD and Intel have estimates of 1 / sqrt(x) of their own, so none is used."""
    assert cold["assembly"]["estimates"] == 0


@pytest.mark.thorough
def test_without_a_baseline_all_that_differs(learn: Learn, cold: dict[str, Any]) -> None:
    """The tests above see the differences that they are to exclude."""
    variables = {
        **BASELINES[BASELINE].variables,
        "OPENBLAS_CORETYPE": OTHERS[BASELINE]["OPENBLAS_CORETYPE"],
    }
    other = learn("asm", "exact", **variables)
    assert other["bits"]["exact"] != cold["bits"]["exact"]
    assert other["assembly"]["estimates"] > 0 or BASELINE == "armv8-a"
    assert other["cpu_baseline"].startswith("native ")


@pytest.mark.thorough
def test_compiled_code_is_found_under_another_host_name(learn: Learn, cold: dict[str, Any]) -> None:
    """A container, whose host name is new at each start, loads the image's compiled code."""
    renamed = ["unshare", "--map-root-user", "--uts", "sh", "-c", 'hostname elsewhere; exec "$@"']
    try:
        subprocess.run([*renamed, "sh", "true"], check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this system lets no process have a host name of its own")
    assert platform.node() != "elsewhere"
    there = learn(command=[*renamed, "sh", *PROGRAM], **{VARIABLE: BASELINE})
    assert there["node"] == "elsewhere"
    assert (there["hits"], there["misses"]) == (cold["misses"], 0)
    assert there["bits"] == cold["bits"]
