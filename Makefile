# Everything a newcomer or CI runs. Needs Python 3.11 or newer and make; no root, no Java, no uv.
.POSIX:
.NOTPARALLEL:
.PHONY: help env demo java check lock-check audit test test-fast test-lowest test-sail docs wheel bench bench-load soak lock upgrade clean

# The Python to build environments with; found when empty (see tools/python.sh).
PYTHON ?=
# How many processes run the whole suite; found when empty: 2 where there are 2 cores or more.
JOBS ?=
# More options for pytest, e.g. make test-fast PYTEST_ARGS='-x -k ledger'
PYTEST_ARGS ?=
# Options for benchmarks/load.py, e.g. make bench-load BENCH_ARGS='--rows 100000 --repeat 1'
BENCH_ARGS ?=

SETUP = PYTHON='$(PYTHON)' sh tools/env.sh
STEP = sh tools/step.sh
BIN = .venv/bin
PYTEST = $(BIN)/python -m pytest $(PYTEST_ARGS)
# A file stays in one process, and files keep their order, so that each has one Spark session.
SHARED = $$(sh tools/jobs.sh '$(JOBS)')
# What the tests have shown, for docs/conformance.md.
PROOFS = .ematix-flow/proofs

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1	/p' Makefile | awk -F '	' '{ printf "  make %-12s %s\n", $$1, $$2 }'

demo: ## set up what a run needs and run the demo project
	@$(SETUP) .venv build spark+duckdb -e .
	@$(MAKE) -s java
	@$(BIN)/flow demo

env: ## build .venv for development, with `flow` in it
	@$(SETUP) .venv build dev -e . -e probe

# Installs a Java into .venv where the engine finds no other.
java:
	@$(BIN)/python -c 'from ematix_flow.engine.host.java import find_java; find_java()' 2>/dev/null \
		|| $(SETUP) .venv build java

check: env lock-check ## the static checks: format, lint, types, layers, pins
	@$(STEP) "ruff check" $(BIN)/ruff check --quiet .
	@$(STEP) "ruff format" $(BIN)/ruff format --quiet --diff .
	@$(STEP) "mypy" $(BIN)/mypy
	@$(STEP) "import contracts" $(BIN)/lint-imports

lock-check: env ## do the pins satisfy pyproject.toml? (offline)
	@$(STEP) "pins" $(BIN)/python tools/check_pins.py

audit: env ## ask the public vulnerability database about every pin (needs a network that reaches it)
	@$(BIN)/python -m venv .venv-audit && .venv-audit/bin/pip install --quiet pip-audit
	@for pins in base spark sail duckdb mysql postgres java; do \
		$(STEP) "audit $$pins" .venv-audit/bin/pip-audit --disable-pip --require-hashes -r requirements/$$pins.txt || exit 1; done

docs: env ## write the generated pages again
	@$(BIN)/python tools/generate_docs.py

test: check wheel test-lowest test-sail ## everything CI runs; ends with the result of pytest
	@$(SETUP) .venv build java
	-@$(BIN)/flow engine prepare
	@echo "all tests, with real services: the longest step"
	@$(PYTEST) $(SHARED) --proofs $(PROOFS)/spark.json --conformance docs/conformance.md

test-fast: env ## the unit tests: no JVM, no server, no other process
	@$(PYTEST) -q -n auto --dist worksteal -m "not slow" tests/unit probe/tests

test-lowest: ## the unit tests with the lowest versions that pyproject.toml allows
	@$(SETUP) .venv-lowest build lowest -e .
	@echo "unit tests with the lowest versions"
	@.venv-lowest/bin/python -m pytest -q -p no:cacheprovider tests/unit

test-sail: ## what must hold on every engine, on Sail: no Java, no JVM
	@$(SETUP) .venv-sail build sail+duckdb+mysql+postgres+unit+clients -e .
	@$(STEP) "every engine's tests, on sail" env EMATIX_FLOW_ENGINE=sail \
		.venv-sail/bin/python -m pytest -q -p no:cacheprovider -m every_engine \
		--proofs $(PROOFS)/sail.json \
		tests/backends tests/e2e tests/spark/engine/test_sail.py \
		tests/spark/test_udfs.py tests/spark/tpc

wheel: env ## build both distributions into dist/ and try the wheels in a clean environment
	@PYTHON='$(PYTHON)' sh tools/wheel.sh

bench: env java ## measure start-up: stock script, cold, warm server, sail (in .venv-sail)
	@$(SETUP) .venv-sail build sail+duckdb+mysql+postgres+unit+clients -e .
	@$(BIN)/python benchmarks/startup.py --sail-python .venv-sail/bin/python \
		--page docs/benchmarks/startup.md

bench-load: env java ## measure loads into databases: ours, Spark JDBC, ematix-flow 1.0, dlt
	@PINS=benchmarks/requirements $(SETUP) .venv-ematix-flow-1 ematix-flow-1
	@PINS=benchmarks/requirements $(SETUP) .venv-dlt dlt
	@$(BIN)/python benchmarks/load.py --memory --page $(BENCH_ARGS)

soak: env java ## the whole suite with fresh random seeds and long limits
	@seed=$$(date +%s); echo "soak: seed $$seed"; \
		EMATIX_FLOW_SOAK=1 EMATIX_FLOW_SEED=$$seed $(PYTEST) --timeout=3600 --hypothesis-seed=$$seed

lock: ## write requirements/*.txt again, keeping the pins that still fit
	@PYTHON='$(PYTHON)' sh tools/lock.sh

upgrade: ## write requirements/*.txt again, with the newest versions
	@PYTHON='$(PYTHON)' sh tools/lock.sh --upgrade

clean: ## remove environments, caches and build output
	rm -rf .venv .venv-lowest .venv-sail .venv-lock .venv-tpc .venv-wheel \
		.venv-airflow .venv-audit .venv-orchestrators .venv-dlt .venv-ematix-flow-1 dist .pytest_cache .mypy_cache .ruff_cache \
		.import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
