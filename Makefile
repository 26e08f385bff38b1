# make run        the service on its embedded default, with the example benchmark scored   (ONCE=1: end after printing)
# make venv       the library, the command and the service in .venv
# make test       lint, types and the tests that are quick and need Python only; with make browser what CI runs
# make test-all   make test with the slow tests, many examples and the lines that all cover, the library once with all
#                 compiled and once with nothing (test-compiled, test-plain), also on PostgreSQL, the wheel in an empty
#                 environment, the workers on the lowest and the newest RQ, the contract under two linters (Node.js) and
#                 in a generated client, the services on hosts of their own (root, nginx, PostgreSQL), the image and the
#                 compose file's services in containers (root, podman, debootstrap), the library beside
#                 those that people use it with (spaCy, pandas, notebooks, ...), the site of the pages, all tests of the
#                 service's own pages in Chromium
# make browser    the service's own pages in Chromium (TREESCORE_CHROMIUM or chromium on the path), without which one
#                 line says that these tests were skipped; pictures of the pages in build/screenshots
# make docs       these pages as a site in build/docs; a warning or a link that leads nowhere is an error
# make bench      every benchmark beside its peers, into docs/benchmarks.md  (QUICK=1: small sizes, printed only;
#                 ONLY="jobs reading": the tables of some scripts)
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# hundreds of processes start from this checkout: each would compile all its modules where Python may not keep them
unexport PYTHONDONTWRITEBYTECODE

ANYWHERE := not packaging and not hosts and not containers and not libraries and not browser
CHOSEN := $(ANYWHERE) and not postgres and not slow and not faults
LOOKED_AT := browser and not slow

# of the modules in the packages few are imported, which Python then compiles: all take longer than the rest of the installing
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile

CONTRACT := tools/contract
NODE_BIN := $(CONTRACT)/node_modules/.bin
BENCH := build/bench
LIBRARIES := build/libraries
DOCS := build/docs-env

.PHONY: run venv dev docs test test-all test-compiled test-plain bench browser packaging libraries hosts containers contract-lint contract-client lint types \
  unit format clean
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
	@$(PIP) "pip>=25.1"
	@$(PIP) --constraint constraints.txt --editable . --group service
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	@$(PIP) --constraint constraints.txt --group dev
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
	$(BIN)/python -m pytest -m "$(CHOSEN)" -n auto --dist worksteal --ignore tests/browser $(MORE)

# tracing lines costs more than half of the time of the tests
test-all: MORE := --hypothesis-profile suite --cov --cov-report=term
test-all: CHOSEN := $(ANYWHERE)
test-all: LOOKED_AT := browser
test-all: SIDE_BY_SIDE := -n auto --dist worksteal
test-all: test test-compiled test-plain docs browser packaging libraries hosts containers contract-lint contract-client

# the figures of the library, where all that can be compiled is, and where nothing is
LIBRARY := $(addprefix tests/treescore/,core evaluation formats metrics significance transforms test_loading.py)

test-compiled: dev
	TREESCORE_COMPILE=always $(BIN)/python -m pytest -m "$(CHOSEN)" -n auto --dist worksteal $(LIBRARY)

test-plain: dev
	TREESCORE_COMPILE=never $(BIN)/python -m pytest -m "$(CHOSEN)" -n auto --dist worksteal $(LIBRARY)

# Playwright has an event loop, beside which other tests could not have theirs: a process of its own; a second one would
# score the site and start Chromium again, which only the slow tests outweigh
browser: dev
	$(BIN)/python -m pytest -m "$(LOOKED_AT)" $(SIDE_BY_SIDE) tests/browser

packaging: dev
	$(BIN)/python -m pytest -m packaging

# in an environment of their own: what the project needs itself stays known
libraries: $(LIBRARIES)/.installed
	$(LIBRARIES)/bin/python -m pytest -m libraries

$(LIBRARIES)/.installed: pyproject.toml constraints.txt
	@$(PYTHON) -m venv $(LIBRARIES)
	@$(LIBRARIES)/bin/python -m pip install --quiet --disable-pip-version-check "pip>=25.1"
	@$(LIBRARIES)/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable . \
	  --group dev --group libraries
	@touch $@

# --fresh-env reads all pages: one that has not changed may link to one that has
docs: $(DOCS)/.installed
	$(DOCS)/bin/python tools/reference.py --check
	$(DOCS)/bin/python -m sphinx --fresh-env --fail-on-warning --quiet --builder html --doctree-dir build/doctrees docs build/docs
	@echo "Open build/docs/index.html"

$(DOCS)/.installed: pyproject.toml constraints.txt
	@$(PYTHON) -m venv $(DOCS)
	@$(DOCS)/bin/python -m pip install --quiet --disable-pip-version-check "pip>=25.1"
	@$(DOCS)/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable . --group docs
	@touch $@

hosts: dev
	$(BIN)/python -m pytest -m hosts

containers: dev
	$(BIN)/python -m pytest -m containers tests/deployment

# peers, which ask for older libraries than the project and so have no place in constraints.txt, and the evaluation script of
# the CoNLL 2018 shared task, whose package is not installed: it has a package `tests`
bench: $(BENCH)/.installed
	TREESCORE_CONLL18=$${TREESCORE_CONLL18:-$(CURDIR)/$(BENCH)/conll18/stanfordnlp/utils/conll18_ud_eval.py} \
	  $(BENCH)/bin/python benchmarks/all.py \
	  $(if $(QUICK),--quick) $(if $(ONLY),--only $(ONLY)) $(if $(QUICK),,--into docs/benchmarks.md)

$(BENCH)/.installed: pyproject.toml constraints.txt
	@$(PYTHON) -m venv $(BENCH)
	@$(BENCH)/bin/python -m pip install --quiet --disable-pip-version-check "pip>=25.1"
	@$(BENCH)/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable . --group dev
	@$(BENCH)/bin/python -m pip install --quiet --disable-pip-version-check --group bench
	@$(BENCH)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --upgrade --target $(BENCH)/conll18 stanfordnlp==0.2.0
	@touch $@

contract-lint: $(CONTRACT)/node_modules/.installed
	REDOCLY_SUPPRESS_UPDATE_NOTICE=true $(NODE_BIN)/redocly lint --config $(CONTRACT)/redocly.yaml openapi.yaml
	$(NODE_BIN)/spectral lint --ruleset $(CONTRACT)/.spectral.yaml --fail-severity warn openapi.yaml

contract-client: $(VENV)/.installed-contract
	$(BIN)/python -m pytest tests/e2e/test_generated_client.py

$(CONTRACT)/node_modules/.installed: $(CONTRACT)/package.json $(CONTRACT)/package-lock.json
	@command -v npm >/dev/null || { echo "make test-all lints openapi.yaml with Node.js 20 or newer, but npm was not found." \
	  "Install Node.js, or run: make test"; exit 1; }
	@npm ci --prefix $(CONTRACT) --ignore-scripts --no-audit --no-fund --silent
	@touch $@

$(VENV)/.installed-contract: $(VENV)/.installed-dev
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --group contract
	@touch $@

format: dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) $(CONTRACT)/node_modules build .mypy_cache .ruff_cache .pytest_cache .coverage *.egg-info
