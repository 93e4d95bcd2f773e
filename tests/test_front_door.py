"""What `import iln_stream` offers, and what it loads."""

import importlib

import pytest
from support.command_line import python

import iln_stream


def loaded_by(program: str) -> set[str]:
    """The modules that a fresh interpreter has loaded after this program."""
    done = python(f"import sys\n{program}\nprint(*sys.modules)")
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_every_name_can_be_imported():
    """Each listed name exists, those loaded on first use too; a misspelt one is named."""
    for name in iln_stream.__all__:
        assert getattr(iln_stream, name) is not None
    assert set(iln_stream.__all__) <= set(dir(iln_stream))
    with pytest.raises(AttributeError, match="'iln_stream' has no attribute 'ShrinkingGradent'"):
        iln_stream.ShrinkingGradent  # noqa: B018


def test_import_paths_of_an_earlier_release():
    """The import paths that the documents of release 0.2 print go on working."""
    names = {
        "client": "Client",
        "contest": "ContestRegressor",
        "events": "read_prediction",
        "explaining": "explain_one",
        "frozen": "freeze_learner",
        "keyed": "KeyedRegressor",
        "paper": "est_scalar_prod",
        "related": "KitchenSinksRegressor",
        "theory": "regret_bound",
    }
    for old, name in names.items():
        assert getattr(importlib.import_module(f"iln_stream.{old}"), name) is not None


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
    """A learner's class loads no compiler, broker client or schema library, nor a stream; the
    folder of learners needs no import of its own."""
    loaded = loaded_by("import iln_stream; iln_stream.learners; iln_stream.InfiniteLayerRegressor")
    assert of_ours(loaded).isdisjoint({"records", "loop", "snapshots", "streams", "service"})
    assert not loaded & HEAVY


def test_the_client_is_light():
    """The client loads neither learners nor streams, and nothing that these need."""
    loaded = loaded_by("import iln_stream.client")
    assert of_ours(loaded) == {"_version", "client", "errors", "kernels", "lazy", "serving"}
    assert not loaded & (HEAVY | {"numpy", "river"})
