"""The suites are no installed package, so their doctests are run from here."""

import doctest
import importlib
import pkgutil

import pytest

import benchmarks.endurance
import benchmarks.quality

MODULES = [
    module.name
    for suite in (benchmarks.endurance, benchmarks.quality)
    for module in pkgutil.walk_packages(suite.__path__, f"{suite.__name__}.")
    if not module.name.endswith("__main__")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    """Every example in the suites gives what it says."""
    assert doctest.testmod(importlib.import_module(name)).failed == 0
