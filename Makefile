# The two commands of the README: make demo, make test. `make check` is what a commit must pass.
VENV ?= .venv
PYTHON ?= python3
BIN := $(VENV)/bin
SECONDS ?= 90

SOURCES := $(shell git ls-files 'cli/*' 'controller/*' 'core/*' 'dashboard/*' 'models/*' 'native/*' 'proto/*' 'router/*' \
	'traces/*' 'worker/*' 2>/dev/null)

.PHONY: setup demo test check lint types imports proto format native wheels compose-check clean

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml native/CMakeLists.txt $(wildcard native/*/*.cpp native/*/*.hpp)
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
