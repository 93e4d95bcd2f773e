#!/usr/bin/env bash
# Runs River's contract checks on the newest River, when that is not the one we pin.
set -euo pipefail
cd "$(dirname "$0")/.."

python=${PYTHON:-python3}
pinned=$(sed -n 's/^river==//p' constraints.txt)
newest=$("$python" -m pip index versions river 2>/dev/null | sed -n 's/^river (\(.*\))$/\1/p')
if [ -z "$newest" ]; then
    echo "newest River: the package index does not answer" >&2
    exit 1
fi
if [ "$newest" = "$pinned" ]; then
    echo "newest River: $newest, the pinned one, which the tests have just run on"
    exit 0
fi

venv=.venv-newest-river
"$python" -m venv "$venv"
grep -v '^river==' constraints.txt > "$venv/constraints.txt"
"$venv/bin/pip" install --quiet --constraint "$venv/constraints.txt" \
    "river==$newest" dist/*.whl pytest pytest-timeout scikit-learn
"$venv/bin/pytest" tests/learners/test_river_contract.py
