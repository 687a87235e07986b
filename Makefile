# One-word commands for a person and for CI alike. Nothing has to be installed first but make, git and Python:
# tools/setup.py fetches the installer, makes .venv, and does nothing when the locks did not change.

PY ?= python3
# Two workers a core, for some of them always wait; eight at most, for each has a browser and a database.
JOBS ?= $(shell cores=$$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2); [ $$cores -gt 4 ] && echo 8 || echo $$((2 * cores)))
ARGS ?=
PYTHON := .venv/bin/python
COVERAGE ?=
# How a test run starts, decided here and nowhere else. Files of the pure rooms start no process and need no browser: they
# run in one process, with a quarter of the examples that the suite tries. Everything else runs in a pool.
PURE := tests/protocol% tests/engine% tests/flows% tests/house%
NAMED = $(filter tests/%,$(ARGS))
IS_PURE = $(and $(NAMED),$(if $(filter-out $(PURE),$(NAMED)),,yes))
POOL = --jobs $(JOBS)
EXAMPLES ?= $(if $(IS_PURE),0.05,0.2)
PYTEST = export ASSENT_EXAMPLES=$(EXAMPLES); $(if $(IS_PURE),,$(WITH_BROWSER)) $(PYTHON) $(MEASURED) -m pytest -q $(if $(IS_PURE),,$(POOL))
MEASURED = $(if $(COVERAGE),-m coverage run)
COVERAGE_DATA := $(CURDIR)/.coverage
# Where there is no browser and none can be had, one sentence says why, and nothing is run.
WITH_BROWSER = browser=$$($(PYTHON) -m tools.browser) && ASSENT_BROWSER="$$browser"

export UV_PYTHON_DOWNLOADS := never
export UV_COMPILE_BYTECODE := 1
# Tests start hundreds of short processes; without bytecode each pays for compiling the package again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run test pure wheels oldest test-hosts setup check docs shots bench ledger torture fresh lock clean python core

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s%s\n", $$1, $$2 }' Makefile

run: core ## try it: a server with agents that ask and run; it prints a link for your browser
	@.venv/bin/assent serve --demo $(if $(ASSENT_STORE),,--throwaway) $(ARGS)

test: setup ## run all tests and count what they prove; ARGS=tests/engine narrows them, JOBS=2 makes the pool smaller
ifeq ($(COVERAGE),)
	@$(PYTEST) $(ARGS)
else
	@rm -rf $(COVERAGE_DATA) && mkdir $(COVERAGE_DATA)
	@export COVERAGE=$(COVERAGE) COVERAGE_FILE=$(COVERAGE_DATA)/data; $(PYTEST) $(ARGS)
	@$(PYTHON) -m tools.coverage_table $(if $(filter propose,$(COVERAGE)),--propose)
endif

pure: setup ## import and test the pure rooms with msgspec and nothing else
	@$(PYTHON) -m tools.pure_rooms

wheels: setup ## build the package, install it with each extra into empty environments, and try it there
	@$(PYTHON) -m tools.wheel_smoke $(ARGS)

oldest: setup ## try the package with the oldest versions of its dependencies that it allows
	@$(PYTHON) -m tools.wheel_smoke --oldest $(ARGS)

test-hosts: setup ## run the tests with the real agent programs, fetched by npm; ARGS=host_tests/test_codex.py narrows them
	@$(PYTHON) -m pytest -q -rA --timeout 300 $(or $(ARGS),host_tests)

setup: python ## make .venv with the package and every extra
	@$(PY) -m tools.setup full

check: setup ## format, lint, types and house rules
	@$(PYTHON) -m ruff format --check --quiet .
	@$(PYTHON) -m ruff check --quiet .
	@$(PYTHON) -m mypy $(wildcard src tests tools bench torture host_tests)
	@$(PYTHON) -m pytest -q tests/house

docs: setup ## write the reference pages, and capture anew the terminals that are no longer true
	@$(PYTHON) -m tools.reference
	@$(PYTHON) -m tools.play --write

shots: setup ## take the pictures of the page anew; ARGS="approval runs" takes these
	@$(WITH_BROWSER) $(PYTHON) -m tools.shots $(ARGS)

bench: setup ## measure, each figure beside its raw floor
	@$(WITH_BROWSER) $(PYTHON) -m bench $(ARGS)

ledger: setup ## say which requirements the last make test proved; ARGS=--list names the tests
	@$(PYTHON) -m tools.ledger $(ARGS)

torture: setup ## the fault tests at full count, then every property and the HTTP fuzz with 25 times the examples of make test
	@$(WITH_BROWSER) $(PYTHON) -m torture $(ARGS)
	@$(if $(ARGS),,ASSENT_EXAMPLES=5 $(PYTHON) -m pytest -q --jobs $(JOBS) --properties)
	@$(if $(ARGS),,ASSENT_FUZZ_EXAMPLES=120 $(PYTHON) -m pytest -q tests/surfaces/http/test_fuzz.py)

fresh: ## clone HEAD into an empty root (or home) and do run and test there; ONLY=run does one, ARGS narrows the tests
	@bash tools/fresh.sh

lock: python ## write requirements/*.txt anew; ARGS=--upgrade takes newer versions
	@$(PY) -m tools.setup lock $(ARGS)

clean: ## remove what make made
	@rm -rf .venv .boot .boot-* .setup.lock .mypy_cache .pytest_cache .ruff_cache .hypothesis .bench .browser .coverage .programs build dist
	@find src tests tools bench torture host_tests -name __pycache__ -type d -prune -exec rm -rf {} +

core: python
	@$(PY) -m tools.setup core

python:
	@$(PY) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "Assent needs Python 3.11 or newer, and $(PY) is $$($(PY) --version 2>/dev/null || echo not there); name another with PY=python3.12." >&2; \
	  exit 1; }
