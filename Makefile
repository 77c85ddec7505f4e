# Every target works from a fresh clone: it makes its own environment in .venv, with uv where that is on PATH, else with pip.
#
#   make test ARGS="tests/core -x"         ARGS are handed on to the program behind a target
#   make test PYTHON=python3.13            another interpreter (for a new .venv: `make clean` first)
#   make demo UV=                          pip, though uv is there

PYTHON ?=
UV     ?= $(shell command -v uv 2>/dev/null)
VENV   ?= .venv
ARGS   ?=
DATA   ?=

bin     := $(VENV)/bin
install  = $(if $(UV),"$(UV)" pip install --quiet --python $(bin)/python,$(bin)/python -m pip install --quiet --disable-pip-version-check)

# PYTHON where it is given, else python3 where it is new enough, else a newer one beside it.
pythons     = $(or $(PYTHON),python3 python3.13 python3.12 python3.11)
find-python = for python in $(pythons); do \
    if $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then echo $$python; exit; fi; \
  done; \
  echo "tiered-context needs Python 3.11 or newer; $(firstword $(pythons)) is: $$($(firstword $(pythons)) -V 2>&1)." >&2; \
  echo "Install one, or name one: make $(MAKECMDGOALS) PYTHON=path/to/python3.12" >&2; exit 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test lint lint-style lint-types lint-imports bench notebook clean python

help:
	@echo "make demo         a data analyst's conversation inside a small token budget, offline"
	@echo "make test         the tests (ARGS='-m slow' for the slow ones)"
	@echo "make lint         ruff, mypy and the import contracts"
	@echo "make bench DATA=  the benchmarks, on the data in that folder"
	@echo "make notebook     runs the notebooks of cookbook/ (ARGS=--inplace keeps their output)"
	@echo "make clean        removes the environment, builds and caches"

demo: $(VENV)/.demo
	@$(bin)/python cookbook/data_analyst.py $(ARGS)

test: $(VENV)/.dev
	$(bin)/python -m pytest $(ARGS)

# Three targets, so that `make --keep-going lint` shows all there is to mend.
lint: lint-style lint-types lint-imports

lint-style: $(VENV)/.dev
	$(bin)/ruff check .
	$(bin)/ruff format --check .

lint-types: $(VENV)/.dev
	$(bin)/mypy

lint-imports: $(VENV)/.dev
	$(bin)/lint-imports

bench: $(VENV)/.dev $(VENV)/.demo
	@test -n "$(DATA)" || { echo "Say where the data is: make bench DATA=path/to/data" >&2; exit 2; }
	$(bin)/python -m tests.benchmarks --data "$(DATA)" $(ARGS)

notebook: $(VENV)/.notebook
	$(bin)/jupyter-execute $(ARGS) cookbook/*.ipynb

clean:
	rm -rf .venv build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Prints the interpreter that environments are made with.
python:
	@$(find-python)

$(bin)/python:
	@python=$$($(find-python)) && \
	$(if $(UV),"$(UV)" venv --quiet --clear --python "$$python" $(VENV),"$$python" -m venv --clear $(VENV))

# One stamp per set of extras, so that a second call installs nothing.
$(VENV)/.%: pyproject.toml | $(bin)/python
	$(install) --editable ".[$*]"
	@touch $@
