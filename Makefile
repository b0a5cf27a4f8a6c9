# Needs Python 3.11 or later, make and git; everything else goes into virtual environments in this folder.
#   .venv        the tests and the package as it stands here (editable)
#   .venv-wheel  the package as people get it: installed from the built wheel, and nothing beside it
#   .venv-peers  what the benchmarks compare it with

PYTHON ?= python3
WORKERS ?= 2
PYTEST_FLAGS ?=
ROUNDS ?= 15

SHELL := /bin/sh
MAKEFLAGS += --no-print-directory
export PIP_DISABLE_PIP_VERSION_CHECK = 1
export PIP_NO_INPUT = 1
export PIP_ROOT_USER_ACTION = ignore

BIN := .venv/bin
WHEEL_BIN := .venv-wheel/bin
PACKAGE_FILES := $(shell find gitlock templates docs/man -type f ! -name '*.pyc' 2>/dev/null)

.DEFAULT_GOAL := help

.PHONY: help demo test lint format docs soak bench wheel packages clean

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /\1	/p' Makefile | while IFS='	' read -r name what; do printf '  make %-10s %s\n' "$$name" "$$what"; done

demo: .venv-wheel/.stamp ## installs the package and shows it at work
	@PATH="$(CURDIR)/$(WHEEL_BIN):$$PATH" bash demo/demo.sh

test: lint ## ruff, mypy and every test that ends soon
	@$(BIN)/python -m pytest --no-header -n $(WORKERS) $(PYTEST_FLAGS)

lint: .venv/.stamp ## ruff and mypy alone
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy --no-error-summary

format: .venv/.stamp ## mends what ruff can mend by itself
	@$(BIN)/ruff check --quiet --fix .

docs: .venv/.stamp ## makes what is made: the manual page, docs/cli.md, docs/exit-codes.md, plugins and skills
	@$(BIN)/python docs/generate/man.py
	@$(BIN)/python docs/generate/reference.py
	@$(BIN)/python docs/generate/agents.py

soak: .venv/.stamp ## the long runs
	@GITLOCK_SOAK=1 $(BIN)/python -m pytest --no-header -n $(WORKERS) --timeout 7200 $(PYTEST_FLAGS)

bench: .venv-wheel/.stamp .venv-peers/.stamp ## every benchmark, against the installed wheel; draws docs/performance.svg
	@mkdir -p build/bench
	@for name in start store; do echo "== $$name"; \
		$(WHEEL_BIN)/python benchmarks/$$name.py --rounds $(ROUNDS) --json >build/bench/$$name.json || exit 1; done
	@for name in overlap waiting spawn presence ci agent; do echo "== $$name"; $(WHEEL_BIN)/python benchmarks/$$name.py || exit 1; done
	@for name in peers avoided; do echo "== $$name"; \
		$(WHEEL_BIN)/python benchmarks/$$name.py --rounds $(ROUNDS) --json >build/bench/$$name.json || exit 1; done
	@$(WHEEL_BIN)/python benchmarks/plot.py build/bench

wheel: .venv-wheel/.stamp ## builds dist/*.whl
	@ls dist/*.whl

packages: ## system packages that some tests want (needs apt-get and root)
	@bash .ci/packages

clean: ## takes away everything that was built
	@rm -rf .venv .venv-wheel .venv-peers build dist .coverage* .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A fresh environment each time: nothing that was once needed stays. Old versions of pip write a console script that
# starts twice as slowly, and setuptools brings a .pth file that every start reads.
define environment
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
		|| { echo "'$(PYTHON)' is not Python 3.11 or later; name one: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@echo "making $(1)"
	@$(PYTHON) -m venv --clear $(1)
	@$(1)/bin/python -m pip install --quiet --upgrade pip
	@$(1)/bin/python -m pip uninstall --quiet --yes setuptools
endef

.venv/.stamp: pyproject.toml
	$(call environment,.venv)
	@$(BIN)/python -m pip install --quiet --editable '.[test]'
	@touch $@

.venv-wheel/.stamp: pyproject.toml $(PACKAGE_FILES)
	$(call environment,.venv-wheel)
	@rm -rf dist
	@$(WHEEL_BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .
	@$(WHEEL_BIN)/python -m pip install --quiet dist/*.whl
	@touch $@

# One by one: what is not to be had is left out, and benchmarks/peers.py says so. (GitPython and redis are no peers; the
# benchmarks only import them, to show what that costs.)
PEERS := agent-file-claim agent-lease-mcp agent-collab-kit filelock fasteners portalocker pre-commit GitPython redis

.venv-peers/.stamp:
	$(call environment,.venv-peers)
	@for name in $(PEERS); do \
		.venv-peers/bin/python -m pip install --quiet "$$name" || echo "no $$name here: left out"; \
	done
	@touch $@
