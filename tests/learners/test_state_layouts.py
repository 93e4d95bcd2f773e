"""No layout of a state changes without a new version: an older state would be misread."""

import hashlib
import runpy
from pathlib import Path

import numpy as np
import pytest

from iln_stream.learners import state_of

MAKE = runpy.run_path(str(Path(__file__).parents[1] / "snapshots" / "golden" / "make.py"))

N_EVENTS = 128
"""The first number of events at which every learner that redraws units trains a candidate."""

LAYOUTS = {
    "iln_stream.AveragedIterate": (1, "cc6164a5271c466e"),
    "iln_stream.ChangeOfTarget": (1, "904670e955a8e508"),
    "iln_stream.Columns": (1, "1bd1882f7ac6194c"),
    "iln_stream.ContestClassifier": (1, "83ed304882d8924a"),
    "iln_stream.ContestRegressor": (1, "e2fb7fad0a662b10"),
    "iln_stream.GrowingPool": (1, "e791ec6c1c57426d"),
    "iln_stream.GrowingPoolIterate": (1, "9da8eaf80496655a"),
    "iln_stream.InfiniteLayerClassifier": (6, "54dea79840608f93"),
    "iln_stream.InfiniteLayerRegressor": (6, "01ae23d33d760524"),
    "iln_stream.KeyedRegressor": (1, "2de88641895f71db"),
    "iln_stream.KeysInMemory": (1, "83cd612fe8134b08"),
    "iln_stream.KeysShared": (3, "a64a76292e44e189"),
    "iln_stream.Moments": (2, "310f862cb254c4ef"),
    "iln_stream.Pool": (1, "05d25d63e4f53d2d"),
    "iln_stream.PoolIterate": (1, "f2872e514d2c9900"),
    "iln_stream.QuantileRegressor": (1, "1886ace748e811e9"),
    "iln_stream.RandomFeatureRidge": (3, "8bd3f721dc894496"),
    "iln_stream.RatioToLevel": (2, "82531d49c2239c8a"),
    "iln_stream.ScaledTarget": (2, "3f2a18b87f59ef5c"),
    "iln_stream.ShrinkingGradient": (1, "8829849938730f1e"),
    "iln_stream.Support": (1, "bde221a982676845"),
    "iln_stream.Supported": (1, "46cd7a520576265a"),
    "iln_stream.Watch": (1, "973dc7abb5cfa5a1"),
    "iln_stream.WinsorisedScaler": (3, "c593c19fa9a022dc"),
    "river.compose.Pipeline": (1, "0179d0ca26b243af"),
}
"""By class: the version of its states, and a digest of their layouts in the learners of make.py. A
learner added there changes the digests of its classes without a new version."""


def layout(state, found):
    """Names, types and shapes in a state; those of states with a version are put into `found`."""
    if isinstance(state, np.ndarray):
        return f"{state.dtype}{list(state.shape)}"
    if isinstance(state, list):
        return [layout(each, found) for each in state]
    if not isinstance(state, dict):
        return type(state).__name__
    fields = [(name, layout(value, found)) for name, value in state.items()]
    if "class" not in state:
        return fields
    found.setdefault(state["class"], (state["version"], set()))[1].add(repr(fields))
    return state["class"]


@pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")
def test_a_changed_layout_has_a_new_version():
    """When this fails, raise the class's `state_version`, write a migration from the version
    before, and only then store the new version and digest here."""
    found = {}
    for learner in MAKE["learners"]().values():
        MAKE["learn"](learner, range(N_EVENTS))
        layout(state_of(learner), found)
    digests = {
        name: (version, hashlib.sha256("\n".join(sorted(layouts)).encode()).hexdigest()[:16])
        for name, (version, layouts) in found.items()
    }
    assert digests == LAYOUTS
