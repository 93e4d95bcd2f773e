# Two commands: `make demo` shows the learner at work, `make test` runs the tests.
# Both install what they need, except Python 3.11 or newer
# (and, for the tests, Java 17 with Maven, or a Docker engine with the Kafka image).

PYTHON ?= python3
VENV := .venv
SPARK_VENV := .venv-spark
BIN := $(VENV)/bin

# Processes that run the tests, for two cores: tests often wait for servers. Each process starts a
# broker of its own and needs 2 GiB.
JOBS ?= 3
PYTEST := $(BIN)/pytest --numprocesses $(JOBS) --dist loadfile --no-loadscope-reorder --durations 60

# Tests without servers, browsers and long streams.
QUICK := -m 'not long and not thorough' --hypothesis-profile quick tests/records tests/features tests/loop tests/research/test_algorithms.py tests/research/test_theory.py \
	tests/state tests/learners/estimators tests/learners/preprocessing \
	tests/learners/shrinking_gradient tests/learners/test_river_contract.py tests/service/test_settings.py \
	tests/test_architecture.py

# The port of `make kafka`.
PORT ?= 9092

# uv installs in a fifth of pip's time. Where only pip is configured for the package index, pip does.
define install
$(BIN)/uv pip install --quiet --python $(BIN)/python --constraint constraints.txt $(1) || \
	$(BIN)/pip install --quiet --no-compile --constraint constraints.txt $(1)
endef

# Python keeps its bytecode whatever the environment says: tests start many processes.
unexport PYTHONDONTWRITEBYTECODE

# The newest Kafka and Prometheus that tests can have, beside the usual ones.
NEWEST := ILN_TEST_KAFKA=4.3.0 ILN_TEST_PROMETHEUS=forky

.PHONY: demo test test-all test-thorough warm test-quick test-lowest test-highest test-newest test-spark test-stack test-arm64 lint docs words site screenshots kafka chaos bench bench-spark bench-api bench-page bench-stream bench-memory quality endurance damage release clean

demo: $(VENV)/demo
	$(BIN)/iln-stream demo $(if $(KEEP),--keep)

test:
	$(MAKE) --jobs 2 lint warm
	$(PYTEST) -m 'not thorough' --doctest-modules --pyargs tests iln_stream

# Everything: what `make test` leaves out has targets of its own.
test-all:
	$(MAKE) test test-thorough test-newest test-lowest test-highest test-spark test-stack

# The full size of what `make test` shows in short: more kills, more seeds, longer streams.
test-thorough: warm
	$(PYTEST) -m thorough tests

# Compiled loops, which all tests load. The tests use the built wheel.
warm: $(VENV)/wheel
	$(BIN)/iln-stream warm

# What a change of learners, features, decoding or settings breaks first.
test-quick: $(VENV)/dev
	$(PYTEST) $(QUICK)

# The same with the lowest versions that pyproject.toml allows, and with the newest, each in an
# environment of its own.
test-lowest:
	PYTHON=$(PYTHON) tests/dependencies.sh lowest-direct --numprocesses $(JOBS) --dist loadfile $(QUICK)

test-highest:
	PYTHON=$(PYTHON) tests/dependencies.sh highest --numprocesses $(JOBS) --dist loadfile $(QUICK)

# The quick tests on 64-bit ARM, which QEMU emulates, and those of bits (needs root on Debian). Hours;
# TESTS=tests/records runs some. Before a release, not in test-all.
test-arm64:
	tests/arm64.sh $(or $(TESTS),$(QUICK))
	$(if $(TESTS),,tests/arm64.sh tests/kernels/test_bits.py)

# All tests of Kafka and Prometheus with their newest releases, and River's own checks with the
# newest River.
test-newest: $(VENV)/dev
	$(NEWEST) $(BIN)/pytest tests/streams/kafka tests/services tests/chaos tests/cli tests/service tests/test_end_to_end.py tests/test_failures.py
	PYTHON=$(BIN)/python tests/newest_river.sh

# Tests of docker-compose.yml. Without a Docker engine it starts its own (needs root on Debian).
test-stack: $(VENV)/dev
	tests/stack/engine.sh run $(BIN)/pytest tests/stack

# Tests of the learner by key on Spark, in an environment of their own. Needs Java 17 and Maven.
test-spark: $(SPARK_VENV)/spark
	$(SPARK_VENV)/bin/pytest tests/spark

lint: $(VENV)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell *.md docs iln_stream services
	$(BIN)/mypy

# Files generated from code: JSON Schemas, the dashboard, and pages: settings, metrics, commands, changes, options.
docs: $(VENV)/dev
	$(BIN)/python docs/json_schemas.py
	$(BIN)/python services/grafana/dashboard
	$(BIN)/python docs/settings_table.py
	$(BIN)/python docs/forms_table.py
	$(BIN)/python docs/metrics_table.py
	$(BIN)/python docs/commands_table.py
	$(BIN)/python docs/changing_table.py
	$(BIN)/python docs/learner_options_table.py

# Words of each page, and their sums beside the limits.
words: $(VENV)/dev
	$(BIN)/python docs/words.py

# The documentation as a site, in out/site.
site: $(VENV)/dev
	$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet -b html docs out/site

# Pictures of the page in docs/images, taken of real runs in a headless Chromium. Two minutes.
screenshots: $(VENV)/dev
	PYTHONPATH=tests $(BIN)/python docs/screenshots.py

# A Kafka broker in the foreground, on 127.0.0.1:9092 (`make kafka PORT=9192`: another port), until
# Ctrl-C. It needs only the package.
kafka: $(VENV)/package
	PYTHONPATH=tests $(BIN)/python -m support.kafka_broker --port $(PORT)

# Chaos tests at full size: 500 kills of the learner on each kind of log, 50 of an appender, 20 of the
# broker, a million payloads, an hour under load. Three hours, by sections with python -m chaos --only.
chaos: $(VENV)/dev
	PYTHONPATH=tests $(BIN)/python -m chaos

# Speed: compared with the machine's limit and other regressors, and of the whole loop. A quarter of an hour.
bench: $(VENV)/bench
	$(BIN)/python -m benchmarks.speed --json out/bench/speed.json
	$(BIN)/python benchmarks/loop.py --json out/bench/loop.json

# Overhead of the loop, whole runs from a file and from a broker with both clients, and the embedded
# log. Seven minutes.
bench-stream: $(VENV)/dev
	$(BIN)/python benchmarks/streaming.py
	PYTHONPATH=tests:. $(BIN)/python -m benchmarks.end_to_end
	$(BIN)/python -m benchmarks.embedded_log

# Learning by key on Spark beside counting by key, and as the state grows. Ten minutes.
bench-spark: $(SPARK_VENV)/spark
	PYTHONPATH=tests:. $(SPARK_VENV)/bin/python -m benchmarks.spark --json benchmarks/results/spark.json

# Latency of predictions over HTTP while a learner learns, and how much that slows it. Two minutes.
bench-api: $(VENV)/dev
	$(BIN)/python -m benchmarks.api --json out/bench/api.json

# What a page and ten browsers take from a learner; first paint and size. Three minutes.
bench-page: $(VENV)/dev
	PYTHONPATH=tests:. $(BIN)/python -m benchmarks.page --json out/bench/page.json

# Memory over ten million events: draws a curve in out/bench.
bench-memory: $(VENV)/bench
	$(BIN)/python -m benchmarks.speed.memory --out out/bench

# Quality: checks our stored results, runs missing ones, writes tables and picture (docs/accuracy.md).
quality: $(VENV)/quality
	$(BIN)/python -m benchmarks.quality check
	$(BIN)/python -m benchmarks.quality run
	$(BIN)/python -m benchmarks.quality report

# Endurance: every public learner over a million events of eight kinds of streams. An hour and a
# quarter on two idle cores; an interrupted run resumes (docs/endurance.md).
endurance: $(VENV)/dev
	$(BIN)/python -m benchmarks.endurance run
	$(BIN)/python -m benchmarks.endurance report
	$(BIN)/python -m benchmarks.endurance check

# Each kind of damage to each stored file, compared with a run that was never damaged:
# docs/guarantees.md. Hours with EVERY=1, which flips a bit of each byte.
damage: $(VENV)/dev
	$(BIN)/python -m benchmarks.damage --every $(or $(EVERY),100)

# What a release has: wheel and source archive, the same bytes each time, checked, in dist/, and a
# list of all that it depends on (SBOM, without download addresses) in out/.
release: $(VENV)/release
	rm -rf dist
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(BIN)/python -m build
	$(BIN)/twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl
	@mkdir -p out
	$(BIN)/cyclonedx-py requirements constraints.txt --index-url= --pyproject pyproject.toml --output-reproducible --output-file out/sbom.json

clean:
	rm -rf .venv* build dist out .mypy_cache .pytest_cache .ruff_cache

$(VENV)/created:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt uv
	@touch $@

$(VENV)/package: $(VENV)/created pyproject.toml constraints.txt
	$(call install,--editable .)
	@touch $@

$(VENV)/demo: $(VENV)/created pyproject.toml constraints.txt
	$(call install,--editable '.[demo]')
	@touch $@

$(VENV)/dev: $(VENV)/created pyproject.toml constraints.txt
	$(call install,--editable '.[dev]')
	@touch $@

# Its own environment: pyspark with its jars is large, and none of the other tests need it.
$(SPARK_VENV)/spark: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(SPARK_VENV)
	$(SPARK_VENV)/bin/pip install --quiet --constraint constraints.txt --editable '.[spark]' pytest pytest-timeout hypothesis
	@touch $@

$(VENV)/bench: $(VENV)/created pyproject.toml constraints.txt
	$(call install,--editable '.[bench]')
	@touch $@

$(VENV)/quality: $(VENV)/dev
	$(call install,--editable '.[quality]')
	@touch $@

$(VENV)/release: $(VENV)/dev
	$(call install,--editable '.[release]')
	@touch $@

# The tests use the built wheel, as a user would install it.
$(VENV)/wheel: $(VENV)/dev FORCE
	rm -rf dist
	$(BIN)/pip wheel --quiet --no-deps --wheel-dir dist .
	$(BIN)/pip install --quiet --no-deps --force-reinstall dist/*.whl
	@rm -f $(VENV)/dev $(VENV)/package $(VENV)/demo $(VENV)/bench $(VENV)/quality $(VENV)/release
	@touch $@

FORCE:
