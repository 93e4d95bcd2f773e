"""The catalogue of experiments."""

import inspect
from importlib import import_module
from pathlib import Path

import pytest

from iln_stream.errors import IlnError
from iln_stream.research.experiments import catalogue
from iln_stream.research.experiments.catalogue import EXPERIMENTS, QUICK_SEEDS, run_experiment


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_runs_alike(name):
    """Each name is a module whose `run` takes what the command passes, and has a test."""
    parameters = inspect.signature(import_module(f"{catalogue.__package__}.{name}").run).parameters
    assert list(parameters)[:3] == ["full", "seeds", "progress"]
    assert (Path(__file__).parent / f"test_{name}.py").is_file()


def test_unknown_name():
    """The error lists the names."""
    with pytest.raises(IlnError, match=r"'figure9' must be one of .*pegasos"):
        run_experiment("figure9", False, None, print)


@pytest.mark.parametrize(
    ("full", "seeds", "used"),
    [(True, None, EXPERIMENTS["pegasos"].seeds), (False, None, QUICK_SEEDS), (True, 7, 7)],
)
def test_seeds(monkeypatch, full, seeds, used):
    """Without a number of seeds each mode has its own; a given number overrides it."""
    called = []
    module = import_module(f"{catalogue.__package__}.pegasos")
    monkeypatch.setattr(module, "run", lambda *arguments: called.append(arguments))
    run_experiment("pegasos", full, seeds, print)
    assert called == [(full, used, print)]
