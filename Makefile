# make run    the service on its embedded default, with the example benchmark scored   (ONCE=1: end after printing)
# make venv   the library, the command and the service in .venv
# make test   everything that CI runs
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: run venv dev test lint types unit format clean
.DEFAULT_GOAL := run

run: venv
	@$(BIN)/treescore demo $(if $(ONCE),--once)

venv: $(VENV)/.installed
dev: $(VENV)/.installed-dev

$(VENV)/.installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	  { echo "Treescore needs Python 3.11 or newer with venv; '$(PYTHON)' is not. Try: make PYTHON=python3.12"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Building $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable . --group service
	@echo "Compiling the scoring kernels (once) ..."
	@$(BIN)/python -m treescore.warm
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --group dev
	@touch $@

test: lint types unit

lint: dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python tools/plain_words.py
	$(BIN)/lint-imports --no-logo

types: dev
	$(BIN)/mypy

unit: dev
	$(BIN)/python -m pytest -m "not packaging" -n auto --dist loadfile --cov --cov-report=term

format: dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) build .mypy_cache .ruff_cache .pytest_cache .coverage *.egg-info
