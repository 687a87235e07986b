# One-word commands for a person and for CI alike. Nothing has to be installed first but make and Python:
# tools/setup.py fetches the installer, makes .venv, and does nothing when the locks did not change.

PY ?= python3
JOBS ?= 3
ARGS ?=
PYTHON := .venv/bin/python
# Where there is no browser and none can be had, this says why, and the tests that need one fail.
WITH_BROWSER = ASSENT_BROWSER="$$($(PYTHON) -m tools.browser)"

export UV_PYTHON_DOWNLOADS := never
export UV_COMPILE_BYTECODE := 1
# Tests start hundreds of short processes; without bytecode each pays for compiling the package again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run test test-hosts setup check docs shots bench ledger torture fresh lock clean python core

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s%s\n", $$1, $$2 }' Makefile

run: core ## try it: a server with agents that ask and run; it prints a link for your browser
	@.venv/bin/assent serve --demo $(if $(ASSENT_STORE),,--throwaway) $(ARGS)

test: setup ## run all tests; ARGS="-k ask" narrows them, JOBS=4 widens the pool
	@$(WITH_BROWSER) $(PYTHON) -m pytest -q -n $(JOBS) --dist worksteal $(ARGS)

test-hosts: setup ## run the tests with the real agent programs, fetched by npm; ARGS=host_tests/test_codex.py narrows them
	@$(PYTHON) -m pytest -q -rA --timeout 300 $(or $(ARGS),host_tests)

setup: python ## make .venv with the package and every extra
	@$(PY) tools/setup.py full

check: setup ## format, lint and types
	@$(PYTHON) -m ruff format --check --quiet .
	@$(PYTHON) -m ruff check --quiet .
	@$(PYTHON) -m mypy $(wildcard src tests tools bench torture host_tests)

docs: setup ## write the reference pages, and capture anew the terminals that are no longer true
	@$(PYTHON) -m tools.reference
	@$(PYTHON) -m tools.play --write

shots: setup ## take the pictures of the page anew; ARGS="approval runs" takes these
	@$(WITH_BROWSER) $(PYTHON) -m tools.shots $(ARGS)

bench: setup ## measure, each figure beside its raw floor
	@$(WITH_BROWSER) $(PYTHON) -m bench $(ARGS)

ledger: setup ## count the requirements that passing tests prove; ARGS=--list names the tests
	@$(WITH_BROWSER) $(PYTHON) -m tools.ledger $(ARGS)

torture: setup ## the fault tests at full count
	@$(WITH_BROWSER) $(PYTHON) -m torture $(ARGS)

fresh: ## clone HEAD into an empty home and do run and test there; KEEP=1 keeps the folder
	@bash tools/fresh.sh

lock: python ## write requirements/*.txt anew; ARGS=--upgrade takes newer versions
	@$(PY) tools/setup.py lock $(ARGS)

clean: ## remove what make made
	@rm -rf .venv .boot .boot-* .setup.lock .mypy_cache .pytest_cache .ruff_cache .hypothesis .bench .browser .programs build dist
	@find src tests tools bench torture host_tests -name __pycache__ -type d -prune -exec rm -rf {} +

core: python
	@$(PY) tools/setup.py core

python:
	@$(PY) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "Assent needs Python 3.11 or newer, and $(PY) is $$($(PY) --version 2>/dev/null || echo not there); name another with PY=python3.12." >&2; \
	  exit 1; }
