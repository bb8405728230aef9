# Every target works on a fresh machine: Python 3.11 or later, pip and make. PYTHON picks the interpreter.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
LIGHT_PLUGINS = $(patsubst %/pyproject.toml,%,$(wildcard plugins/*/pyproject.toml))

.PHONY: help demo test test-hosts check format docs bench clean

help:
	@echo "make demo     run the quickstart and print its scores"
	@echo "make test     run the whole test suite"
	@echo "make test-hosts  test rankgauge inside each harness, in an environment each (HOSTS=\"haystack ragas\" for some)"
	@echo "make check    format and lint (ruff), types (mypy), layers (import-linter)"
	@echo "make format   let ruff format and fix"
	@echo "make docs     write the generated pages and configs/schema.json"
	@echo "make bench    measure speed against the peers"
	@echo "make clean    remove what the other targets made"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "rankgauge needs Python 3.11 or later; say make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(VENV)/.installed-dev: $(BIN)/python pyproject.toml $(wildcard plugins/*/pyproject.toml)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]' $(addprefix -e ./,$(LIGHT_PLUGINS))
	@touch $@ $(VENV)/.installed

demo: $(VENV)/.installed
	$(BIN)/rankgauge run configs/quickstart/rankgauge.yaml

test: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -n auto

# Hosts cannot share an environment; each has one under $(VENV)/hosts.
test-hosts: $(BIN)/python
	$(BIN)/python plugins/rankgauge-hosts/run_tests.py --environments $(VENV)/hosts $(HOSTS)

check: $(VENV)/.installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.installed-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(VENV)/.installed-dev
	$(BIN)/python docs/generate.py
	$(BIN)/python docs/conventions.py

bench: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/jsonl.py
	$(BIN)/python benchmarks/matching.py

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build
