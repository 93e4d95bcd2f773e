"""The description of the API: valid, complete, and true."""

import math
import os
import subprocess
import sys

import jsonschema_rs
import pytest
from support.running_api import RunningApi, publish

from iln_stream.learners.infinite_layer.classifier import InfiniteLayerClassifier
from iln_stream.serving.metrics import ROUTES

EXAMPLES = 5
"""Of each operation."""


def test_every_route_is_described(api):
    """The description names all routes, and refers to no schema that it lacks."""
    described = api.http.get("/openapi.json").json()
    assert described["openapi"].startswith("3.1")
    assert described["paths"].keys() == ROUTES
    for operations in described["paths"].values():
        for operation in operations.values():
            assert {"operationId", "responses", "description"} <= operation.keys()
    names = described["components"]["schemas"]
    references = set(found(described, "$ref"))
    assert references == {f"#/components/schemas/{name}" for name in names}
    for schema in names.values():
        jsonschema_rs.meta.validate({**schema, "components": described["components"]})


def found(value, key):
    """Yield each value of a key, at any depth."""
    if isinstance(value, dict):
        yield from ([value[key]] if key in value else [])
        for each in value.values():
            yield from found(each, key)
    elif isinstance(value, list):
        for each in value:
            yield from found(each, key)


def test_labels_are_described_by_task(start, tmp_path, api):
    """Until the task is known, a label may be a class; a regressor's is a number."""
    before = start().http.get("/openapi.json").json()["components"]["schemas"]
    after = api.http.get("/openapi.json").json()["components"]["schemas"]
    assert {"ClassEvent", "ClassLabel"} <= before.keys()
    assert {"Event", "Label"} <= after.keys()
    assert "ClassEvent" not in after


REFUSALS = """
[checks.negative_data_rejection]
expected-statuses = [400, 401, 405, 411, 413, 415, 422]
"""
"""By default, a 413 for a batch longer than `maxItems` would not count as a refusal."""


@pytest.mark.parametrize(
    "kind",
    [
        "regression",
        pytest.param("classification", marks=pytest.mark.thorough),
        pytest.param("token", marks=pytest.mark.thorough),
    ],
)
def test_schemathesis(tmp_path, kind):
    """Generated requests, valid and not, get only answers that the description allows."""
    learner, label = None, math.cos
    if kind == "classification":
        learner, label = InfiniteLayerClassifier(seed=1), lambda t: "abc"[t % 3]
    publish(tmp_path, learner, label=label)
    (tmp_path / "schemathesis.toml").write_text(REFUSALS)
    options, header = {"rate": 1e6}, []
    if kind == "token":
        (tmp_path / "token").write_text("a-token-of-0123456789")
        options["token_file"] = tmp_path / "token"
        header = ["--header", "Authorization: Bearer a-token-of-0123456789"]
    with RunningApi(tmp_path, **options) as api:
        api.ready()
        done = subprocess.run(
            [
                *(sys.executable, "-m", "schemathesis.cli", "run", f"{api.url}/openapi.json"),
                *("--checks", "all", "--max-examples", str(EXAMPLES), "--seed", "1", *header),
                *("--continue-on-failure", "--no-color", "--suppress-health-check", "all"),
            ],
            cwd=tmp_path,
            env={**os.environ, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stdout + done.stderr
