# Two commands: `make demo` runs the main job, `make test` passes the tests.
# Both set up what they need; nothing has to be installed before but Python 3.11 or newer
# (and, for the tests, Java 17 with Maven, or a Docker engine that has the Kafka image).

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test test-stack lint docs kafka chaos bench bench-stream bench-memory quality clean

demo: $(VENV)/demo
	$(BIN)/iln-stream demo $(if $(KEEP),--keep)

test: lint $(VENV)/wheel
	$(BIN)/pytest --doctest-modules --pyargs tests iln_stream
	PYTHON=$(BIN)/python tests/newest_river.sh

# The whole docker-compose.yml, for real. Brings its own Docker engine where none runs (root on Debian).
test-stack: $(VENV)/dev
	tests/stack/engine.sh run $(BIN)/pytest tests/stack

lint: $(VENV)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# What is generated from the code: JSON Schemas, the settings table, the dashboard.
docs: $(VENV)/dev
	$(BIN)/python -m iln_stream.events.schemas
	$(BIN)/python docs/settings_table.py
	$(BIN)/python services/grafana/dashboard.py

# A real Kafka broker in the foreground, on 127.0.0.1:9092, until Ctrl-C.
kafka: $(VENV)/dev
	PYTHONPATH=tests $(BIN)/python -m support.kafka_broker

# 200 kills of the learner, 20 of its broker, a million payloads: the tests' full counts. A quarter of an hour.
chaos: $(VENV)/dev
	PYTHONPATH=tests $(BIN)/python -m chaos

# Speed: against the machine's limit, against other regressors, of the whole loop. Some six minutes.
bench: $(VENV)/bench
	$(BIN)/python -m benchmarks.speed --json out/bench/speed.json
	$(BIN)/python benchmarks/loop.py --json out/bench/loop.json

# What the loop adds to an event, and events a second from a real broker, by both clients. Two minutes.
bench-stream: $(VENV)/dev
	PYTHONPATH=tests:. $(BIN)/python benchmarks/streaming.py

# Memory over ten million events: a curve in out/bench.
bench-memory: $(VENV)/bench
	$(BIN)/python -m benchmarks.speed.memory --out out/bench

# Ours against what is stored, then what is not stored yet, then tables and picture: docs/quality.md.
quality: $(VENV)/quality
	$(BIN)/python -m benchmarks.quality check
	$(BIN)/python -m benchmarks.quality run
	$(BIN)/python -m benchmarks.quality report

clean:
	rm -rf .venv* build dist out .mypy_cache .pytest_cache .ruff_cache

$(VENV)/created:
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/demo: $(VENV)/created pyproject.toml constraints.txt
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[demo]'
	@touch $@

$(VENV)/dev: $(VENV)/created pyproject.toml constraints.txt
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $@

$(VENV)/bench: $(VENV)/created pyproject.toml constraints.txt
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[bench]'
	@touch $@

$(VENV)/quality: $(VENV)/dev
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[dev,quality]'
	@touch $@

# The tests run against the built wheel, as a user would install it.
$(VENV)/wheel: $(VENV)/dev FORCE
	rm -rf dist
	$(BIN)/pip wheel --quiet --no-deps --wheel-dir dist .
	$(BIN)/pip install --quiet --no-deps --force-reinstall dist/*.whl
	@rm -f $(VENV)/dev $(VENV)/demo $(VENV)/bench $(VENV)/quality
	@touch $@

FORCE:
