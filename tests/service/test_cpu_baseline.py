"""A run says what its bits depend on, and warns of a snapshot of another CPU baseline."""

import json
import platform
import subprocess
from pathlib import Path

import pytest
from support.command_line import iln
from support.embedded_log import append

from iln_stream.kernels.cpu import BASELINES, VARIABLE

OURS = next((n for n, each in BASELINES.items() if platform.machine() in each.machines), None)
OPTIONS = (
    *("--source", "sqlite:log.db", "--stop-at-end", "--snapshots", "state", "--snapshot-pickle"),
    *("--learner", "river.linear_model:LinearRegression", "--metrics-port", "0"),
)

pytestmark = pytest.mark.skipif(OURS is None, reason="no baseline is of this architecture")


def run(folder: Path, **variables: str) -> str:
    """Learn one more event, and return the log."""
    append(folder / "log.db", [json.dumps({"x": {"a": 0.5}, "y": 1.0}).encode()])
    done: subprocess.CompletedProcess[str] = iln("run", *OPTIONS, cwd=folder, env=variables)
    assert done.returncode == 0, done.stderr
    return done.stderr


def inspected(folder: Path) -> str:
    """Return the line of `iln-stream inspect` on the baseline."""
    shown = iln("inspect", "state", cwd=folder).stdout
    return next(line for line in shown.splitlines() if "CPU baseline" in line)


@pytest.mark.thorough
def test_a_run_resumes_under_another_baseline(tmp_path: Path) -> None:
    """Whoever moves a learner is told that its bits may differ, and how they would not."""
    log = run(tmp_path, **{VARIABLE: str(OURS), "ILN_LOG_LEVEL": "debug"})
    assert f"CPU baseline {OURS}: docs/guarantees.md says" in log
    assert str(OURS) in inspected(tmp_path)

    log = run(tmp_path, ILN_LOG_LEVEL="debug")
    assert f"was saved with CPU baseline {OURS}, and this run has native " in log
    assert f"Set {VARIABLE}={OURS} in the environment" in log
    assert "no CPU baseline: a replay on another CPU may differ in the last bits" in log
    assert "native " in inspected(tmp_path)

    log = run(tmp_path)
    assert "was saved with CPU baseline" not in log

    log = run(tmp_path, OPENBLAS_CORETYPE="Nehalem")  # as if on another CPU
    assert log.count("was saved with CPU baseline native ") == 1
    assert f"Set {VARIABLE} in the environment" in log

    log = run(tmp_path, **{VARIABLE: str(OURS)})
    assert "learn the log again: `iln-stream rebuild`" in log
