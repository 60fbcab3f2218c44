# The two commands of the README: make demo, make test. `make check` is what a commit must pass.
VENV ?= .venv
PYTHON ?= python3
BIN := $(VENV)/bin
SECONDS ?= 90

SOURCES := $(shell git ls-files 'cli/*' 'controller/*' 'core/*' 'dashboard/*' 'models/*' 'native/*' 'proto/*' 'router/*' \
	'traces/*' 'worker/*' 2>/dev/null)

.PHONY: setup demo test check lint types imports proto format native sanitize fuzz wheels compose-check clean

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml native/CMakeLists.txt $(wildcard native/*.hpp native/*/*.[ch]pp native/*/*/*.[ch]pp)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Tidewise needs Python 3.11 or newer"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "setting up $(VENV): packages and the C++ parts, a minute or more"
	@$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -e '.[dev]'
	@$(BIN)/tidewise doctor --brief
	@touch $@

demo: setup
	$(BIN)/tidewise demo --seconds $(SECONDS)

test: setup
	$(BIN)/python -m pytest

check: setup lint types imports
	$(BIN)/python -m pytest

NATIVE = -DPython_EXECUTABLE=$(BIN)/python -Dpybind11_DIR=$$($(BIN)/python -m pybind11 --cmakedir)

# The data plane's C++ tests under AddressSanitizer and UndefinedBehaviorSanitizer, the worker's threads under ThreadSanitizer.
sanitize: setup
	cmake -S native -B build/tests -DTIDEWISE_TESTS=ON $(NATIVE)
	cmake --build build/tests --target router_tests tidewise-router
	build/tests/router/router_tests
	ROUTER_TESTS=build/tests/router/router_tests ROUTER_HISTORIES=2000 $(BIN)/python -m pytest tests/router/test_same_choice.py
	cmake -S native -B build/races -DTIDEWISE_RACES=ON $(NATIVE)
	cmake --build build/races --target worker_races
	build/races/worker/worker_races 10

# Ten minutes of each fuzz target; what reaches something new is added to the corpus (clang with libFuzzer).
FUZZ_SECONDS ?= 600
FUZZ_CXX ?= clang++-14
fuzz: setup
	CXX=$(FUZZ_CXX) cmake -S native -B build/fuzz -DTIDEWISE_FUZZ=ON $(NATIVE)
	cmake --build build/fuzz --target fuzz_head fuzz_http2 fuzz_request
	for target in head http2; do \
	    build/fuzz/router/fuzz_$$target -max_total_time=$(FUZZ_SECONDS) native/router/fuzz/corpus/$$target || exit 1; done
	build/fuzz/worker/fuzz_request -max_total_time=$(FUZZ_SECONDS) native/worker/fuzz/corpus/request

# For images that are built without a network. Once made, they are kept up to date; `rm -r wheels` to use the network again.
wheels: wheels/.ready

wheels/.dependencies: pyproject.toml
	rm -rf wheels
	$(PYTHON) -m pip wheel --quiet --wheel-dir wheels .
	@touch $@

wheels/.ready: wheels/.dependencies $(SOURCES)
	$(PYTHON) -m pip wheel --quiet --no-deps --wheel-dir wheels .
	@touch $@

# BASE=IMAGE for another base image than the Dockerfile's.
compose-check: setup $(if $(wildcard wheels),wheels)
	$(BIN)/python deploy/compose_check.py

lint:
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types:
	$(BIN)/mypy

# Without site (-S), so that the tree at hand is looked at and not whatever is installed in the environment.
imports:
	@PYTHONPATH=.:$$(echo $(BIN)/../lib/python3*/site-packages) $(BIN)/python -S \
	    -c 'from importlinter.cli import lint_imports_command; lint_imports_command()' --no-cache

format:
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

proto:
	$(BIN)/python proto/generate.py

clean:
	rm -rf build $(VENV)
