"""The suite is no installed package, so its doctests are run from here."""

import doctest
import importlib
import pkgutil

import pytest

import benchmarks.quality

MODULES = [
    module.name
    for module in pkgutil.walk_packages(benchmarks.quality.__path__, "benchmarks.quality.")
    if not module.name.endswith("__main__")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    """Every example in the suite gives what it says."""
    assert doctest.testmod(importlib.import_module(name)).failed == 0
