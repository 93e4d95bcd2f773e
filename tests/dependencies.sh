#!/usr/bin/env bash
# Runs tests with the lowest or the newest dependencies that pyproject.toml allows.
#
#   dependencies.sh lowest-direct|highest PYTEST_ARGUMENTS...
#
# What pyproject.toml does not name, and the tools of the tests, are the newest that fit.
set -euo pipefail
cd "$(dirname "$0")/.."

resolution=$1
shift
venv=.venv-$resolution
rm -rf "$venv"
"${PYTHON:-python3}" -m venv "$venv"
"$venv/bin/pip" install --quiet uv
uv() { "$venv/bin/uv" pip "$@" --quiet --python "$venv/bin/python"; }
uv install --resolution "$resolution" \
    '.[api,client,compression,confluent,demo,experiments,onnx,parquet,registry]'
uv install hypothesis pandas polars pytest pytest-timeout pytest-xdist pyyaml scikit-learn scipy
"$venv/bin/pip" list --format freeze
"$venv/bin/pytest" "$@"
