"""What `import iln_stream` offers, and what it loads."""

import importlib
import subprocess
import sys

import pytest
from support.command_line import environment

import iln_stream

PUBLIC = [
    "Averaged",
    "Block",
    "ChangeOfTarget",
    "ContestClassifier",
    "ContestRegressor",
    "Event",
    "Exact",
    "FrozenNetwork",
    "Full",
    "GrowingPool",
    "IlnError",
    "IlnWarning",
    "InfiniteLayerClassifier",
    "InfiniteLayerRegressor",
    "KeyedRegressor",
    "Listener",
    "Pool",
    "PrequentialLoop",
    "RandomFeatureRidge",
    "Record",
    "RecordInputs",
    "Sampled",
    "ScaledTarget",
    "ShrinkingGradient",
    "Sink",
    "Source",
    "WinsorisedScaler",
    "__version__",
    "features",
    "features_wanted",
    "freeze",
    "load",
    "plot_predictions",
    "plot_relevance",
    "plot_weights",
    "restorable",
    "save",
]

LOADED_LATER = {
    **dict.fromkeys(set(PUBLIC) - {"IlnError", "IlnWarning", "__version__"}, "learners"),
    "ContestClassifier": "learners.contest",
    "ContestRegressor": "learners.contest",
    "Event": "records",
    "FrozenNetwork": "learners.frozen",
    "KeyedRegressor": "learners.keyed",
    "Listener": "loop",
    "PrequentialLoop": "loop",
    "Record": "streams",
    "RecordInputs": "records.record_inputs",
    "Sink": "streams",
    "Source": "streams",
    "freeze": "learners.frozen",
    "load": "snapshots",
    "save": "snapshots",
    "plot_predictions": "plotting",
    "plot_relevance": "plotting",
    "plot_weights": "plotting",
}
del LOADED_LATER["features"]  # a folder itself


def loaded_by(program: str) -> set[str]:
    """The modules that a fresh interpreter has loaded after this program."""
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{program}\nprint(*sys.modules)"],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return set(done.stdout.split())


def test_public_names():
    """The names for users are listed here again, so none comes or goes by accident."""
    assert iln_stream.__all__ == PUBLIC
    assert set(PUBLIC) <= set(dir(iln_stream))


@pytest.mark.parametrize("name", PUBLIC)
def test_every_name_can_be_imported(name):
    """Each listed name exists, those loaded on first use too."""
    assert getattr(iln_stream, name) is not None


@pytest.mark.parametrize(("name", "folder"), sorted(LOADED_LATER.items()))
def test_a_name_loaded_later_is_its_modules_own(name, folder):
    """A name loaded on first use is the very object of its folder: isinstance agrees."""
    assert getattr(iln_stream, name) is getattr(
        importlib.import_module(f"iln_stream.{folder}"), name
    )


@pytest.mark.parametrize(
    ("old", "name"),
    [
        ("client", "Client"),
        ("contest", "ContestRegressor"),
        ("events", "read_prediction"),
        ("explaining", "explain_one"),
        ("frozen", "freeze_learner"),
        ("keyed", "KeyedRegressor"),
        ("paper", "est_scalar_prod"),
        ("related", "KitchenSinksRegressor"),
        ("theory", "regret_bound"),
    ],
)
def test_import_paths_of_an_earlier_release(old, name):
    """The import paths that the documents of release 0.2 print go on working."""
    assert getattr(importlib.import_module(f"iln_stream.{old}"), name) is not None


def test_folders_that_need_no_import():
    """`iln_stream.learners` is there without an import of its own."""
    assert "iln_stream.learners" in loaded_by("import iln_stream; iln_stream.learners.restorable")


def test_an_unknown_name():
    """A misspelt name is an AttributeError that names it."""
    with pytest.raises(AttributeError, match="'iln_stream' has no attribute 'ShrinkingGradent'"):
        iln_stream.ShrinkingGradent  # noqa: B018


HEAVY = {"numba", "llvmlite", "kafka", "confluent_kafka", "pydantic", "prometheus_client"}


def of_ours(loaded: set[str]) -> set[str]:
    """The folders and modules at the top of the package."""
    return {name.split(".")[1] for name in loaded if name.startswith("iln_stream.")}


def test_import_is_light():
    """`import iln_stream` alone loads no learner, and none of numpy and River."""
    loaded = loaded_by("import iln_stream")
    assert of_ours(loaded) == {"_version", "errors", "kernels", "lazy"}
    assert not loaded & (HEAVY | {"numpy", "river"})


def test_a_learner_is_light():
    """A learner's class loads no compiler, broker client or schema library, nor a stream."""
    loaded = loaded_by("from iln_stream import InfiniteLayerRegressor")
    assert of_ours(loaded).isdisjoint({"records", "loop", "snapshots", "streams", "service"})
    assert not loaded & HEAVY


def test_the_client_is_light():
    """The client loads neither learners nor streams, and nothing that these need."""
    loaded = loaded_by("import iln_stream.client")
    assert of_ours(loaded) == {"_version", "client", "errors", "kernels", "lazy", "serving"}
    assert not loaded & (HEAVY | {"numpy", "river"})
