# Every target works on a fresh machine: Python 3.11 or later, pip and make. PYTHON picks the interpreter, and another
# one than python3 has an environment of its own: make test PYTHON=python3.13.
PYTHON ?= python3
# Tests start hundreds of processes; where bytecode is not kept, each of them compiles again all that it imports.
unexport PYTHONDONTWRITEBYTECODE
VENV ?= .venv$(if $(filter-out python3,$(PYTHON)),-$(notdir $(PYTHON)))
TORCH ?= torch==2.13.0
BIN = $(VENV)/bin
# All but the one that is compiled, which has tests and an environment of its own: make test-fast.
LIGHT_PLUGINS = $(filter-out plugins/rankgauge-fast,$(patsubst %/pyproject.toml,%,$(wildcard plugins/*/pyproject.toml)))

# $(call install,ENVIRONMENT,REQUIREMENTS), which have no comma: uv takes a tenth of pip's time; without it pip installs.
UV := $(shell command -v uv)
WITH_PIP = $(1)/bin/python -m pip install --quiet --disable-pip-version-check $(2)
install = $(if $(UV),$(UV) pip install --quiet --python $(1)/bin/python $(2) || )$(WITH_PIP)

.PHONY: help audit build check check-docs coverage demo demo-pipeline format fuzz mutants sbom test test-thorough test-newest test-lowest
.PHONY: record-tools hold-tools test-browser test-fast test-hosts test-libraries test-model test-plugins test-promptfoo test-spark test-systems docs docs-systems site bench clean findings passed

help:
	@echo "make demo     run the quickstart and print its scores"
	@echo "make demo-pipeline  run a pipeline of five stages, as a function and in engines, and show which stage loses what"
	@echo "make test     run the quick tests, with few drawn examples (WHEEL=1: against the built wheel, away from src;"
	@echo "              TESTS=tests/stats: some; PYTHON=python3.13: in another Python, in an environment of its own)"
	@echo "make test-plugins  run the tests of the plugins"
	@echo "make check-docs  run what the documentation shows, and check its claims, links and navigation"
	@echo "make test-thorough  run all of these with all drawn examples, and what takes long or starts processes (WHEEL=1 as above)"
	@echo "make test-newest  run what depends most on versions in the newest Python that is installed (TESTS=tests: all)"
	@echo "make test-lowest  run the same with the lowest versions that pyproject.toml allows (TESTS=tests: all)"
	@echo "make coverage  run every test, list how much of each room it covers, and fail below the floor"
	@echo "make mutants ROOM=stats  list the changes of a room that its tests do not see (MINUTES=25 SEED=1 TESTS=\"...\""
	@echo "              AGAIN=printed.txt: only what an earlier run printed)"
	@echo "make test-model  run rankgauge-semantic's default model (an environment of 1.5 GB or more; TORCH picks a build)"
	@echo "make test-hosts  test rankgauge inside each harness, in an environment each (HOSTS=\"haystack ragas\" for some;"
	@echo "                 TORCH picks a build of PyTorch)"
	@echo "make test-libraries  let each library write the records that presets read, in an environment each"
	@echo "make test-promptfoo  let promptfoo write those that its preset reads (npm)"
	@echo "make record-tools  run other tools on drawn data and keep their numbers (TOOLS=\"lightgbm rax\" for some; tens of minutes)"
	@echo "make hold-tools  hold profiles to tools on wider data of another seed, and keep nothing (SEED=7 TOOLS=\"lightgbm rax\")"
	@echo "make test-browser  drive HTML reports in a real browser (Debian's Chromium)"
	@echo "make test-fast  test the compiled kernel of rankgauge-fast as it is and with sanitizers (a C compiler)"
	@echo "make test-systems  test rankgauge-systems with every engine that runs without a server (an environment of 1 GB)"
	@echo "make test-spark  test rankgauge-spark on a local Spark (an environment of 700 MB; Debian's Java 17)"
	@echo "make passed   run the parts of CI whose inputs changed since they last passed (PARTS=\"test-spark test-fast\": these),"
	@echo "              and record those that pass in .ci/passed.toml"
	@echo "make findings  see whether other libraries still do what findings/ says of them (the package index)"
	@echo "make check    format and lint (ruff), types (mypy), layers (import-linter)"
	@echo "make format   let ruff format and fix"
	@echo "make build    build the distributions into dist, install each in a clean environment, and try it"
	@echo "make sbom     write what is installed along with rankgauge to build/sbom.cdx.json (CycloneDX)"
	@echo "make audit    look for known vulnerabilities of dependencies (pip-audit; says so where it cannot run)"
	@echo "make fuzz     feed mutated files to every command (SEED=1 CASES=2000); the last line has the figures"
	@echo "make docs     write the generated pages and the schemas in configs"
	@echo "make docs-systems  write what search engines do (docs/reference/engines.md; minutes, in that of test-systems)"
	@echo "make site     build the documentation as a site in build/site; open its index.html"
	@echo "make bench    measure speed against the peers"
	@echo "make clean    remove what the other targets made"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "rankgauge needs Python 3.11 or later; say make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(BIN)/python pyproject.toml
	$(call install,$(VENV),-e .)
	@touch $@

$(VENV)/.installed-dev: $(BIN)/python pyproject.toml $(wildcard plugins/*/pyproject.toml)
	$(call install,$(VENV),-e '.[dev]' $(addprefix -e ./,$(LIGHT_PLUGINS)))
	@touch $@ $(VENV)/.installed

demo: $(VENV)/.installed
	$(BIN)/rankgauge run configs/quickstart/rankgauge.yaml

demo-pipeline: $(VENV)/.installed
	$(BIN)/rankgauge run configs/pipeline/rankgauge.yaml --sut configs/pipeline/stages.py:answer -o build/pipeline --force
	$(BIN)/rankgauge funnel build/pipeline
	$(call install,$(VENV),-e ./plugins/rankgauge-systems)
	$(BIN)/rankgauge systems index configs/pipeline/engines.yaml configs/quickstart/corpus.jsonl
	$(BIN)/rankgauge run configs/pipeline/engines.yaml -o build/engines --force
	$(BIN)/rankgauge funnel build/engines

PYTEST = $(BIN)/python $(if $(WHEEL),tests/packaging/run_on_wheel.py,-m pytest) -n auto --dist worksteal

# The last line says what is not run; conftest.py decides that.
test: $(VENV)/.installed-dev
	$(PYTEST) $(or $(TESTS),tests --ignore=tests/docs)

test-plugins: $(VENV)/.installed-dev
	$(PYTEST) $(or $(TESTS),plugins/*/tests)

check-docs: $(VENV)/.installed-dev
	$(PYTEST) $(or $(TESTS),tests/docs) --hypothesis-profile=thorough

test-thorough: $(VENV)/.installed-dev
	$(PYTEST) $(TESTS) --hypothesis-profile=thorough

# What depends most on versions: numbers, files of every format, declarations, configs, the command line, digests.
SMOKE = $(addprefix tests/,cli/test_run.py cli/test_trec.py columns config io judging planning plugin report scoring stats)
SMOKE += $(addprefix tests/,packaging/test_ci_parts.py test_expression.py test_samples.py)
NEWEST = $(lastword $(foreach version,3.11 3.12 3.13 3.14,$(shell python$(version) -c pass 2>/dev/null && \
	echo python$(version)) $(wildcard $(HOME)/.pyenv/versions/$(version).*/bin/python$(version))))
test-newest:
	@echo "the newest Python here is $(or $(NEWEST),$(PYTHON))"
	$(MAKE) test PYTHON=$(or $(NEWEST),$(PYTHON)) TESTS='-m "not thorough" $(or $(TESTS),$(SMOKE))'

LOWEST = .venv-lowest
test-lowest:
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check uv
	$(LOWEST)/bin/uv pip install --quiet --python $(LOWEST)/bin/python --resolution lowest-direct -e '.[dev]' $(addprefix -e ./,$(LIGHT_PLUGINS))
	$(LOWEST)/bin/python -m pytest -p no:cacheprovider -n auto --dist worksteal -m "not thorough" $(or $(TESTS),$(SMOKE))

FLOOR = 97
# It looks for sqlite3, which coverage loads.
SEES_COVERAGE = plugins/rankgauge-semantic/tests/test_plugin.py::TestInstalled::test_a_catalog_that_is_only_listed_loads_neither_a_model_nor_the_cache
coverage: $(VENV)/.installed-dev
	mkdir -p build/coverage
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -n auto --dist worksteal --hypothesis-profile=thorough --deselect $(SEES_COVERAGE)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage json --quiet -o build/coverage.json
	$(BIN)/python .ci/coverage build/coverage.json $(FLOOR)

ROOM ?= stats
MINUTES ?= 25
mutants: $(VENV)/.installed-dev
	$(BIN)/python tests/mutants.py $(ROOM) $(TESTS) --minutes $(MINUTES) --seed $(SEED) $(if $(AGAIN),--again $(AGAIN))

# The default model's environment is its own: PyTorch weighs more than everything else together.
test-model:
	$(PYTHON) -m venv .venv-model
	$(call install,.venv-model,$(TORCH) -e . -e './plugins/rankgauge-semantic[minilm]' pytest)
	HF_HUB_OFFLINE=1 .venv-model/bin/python -m pytest -p no:cacheprovider plugins/rankgauge-semantic/model_tests

# Debian's Chromium, driven through Playwright; what a test that fails saw is left in build/browser.
test-browser: $(VENV)/.installed-dev
	$(BIN)/python tests/browser/install.py
	$(call install,$(VENV),'playwright>=1.48' axe-playwright-python pypdf)
	RANKGAUGE_BROWSER=1 $(BIN)/python -m pytest -p no:cacheprovider tests/browser

# Hosts cannot share an environment; each has one under $(VENV)/hosts.
test-hosts: $(BIN)/python
	TORCH='$(TORCH)' $(BIN)/python plugins/rankgauge-hosts/run_tests.py --environments $(VENV)/hosts $(HOSTS)

# What presets read is written by the libraries themselves, in an environment each. CI has no npm, which promptfoo needs.
# Each target has its tests only; the others of their files are in the suite.
BY_LIBRARIES = tests/presets/test_presets.py::TestLibraries plugins/rankgauge-traces/tests/test_recorded.py::TestLibraries
PROMPTFOO = tests/presets/test_presets.py::TestLibraries::test_what_promptfoo_writes_is_read
WITH_LIBRARIES = RANKGAUGE_LIBRARIES=$(VENV)/libraries $(BIN)/python -m pytest -p no:cacheprovider --hypothesis-profile=thorough
test-libraries: $(VENV)/.installed-dev
	$(WITH_LIBRARIES) -n 2 $(BY_LIBRARIES) --deselect $(PROMPTFOO)

test-promptfoo: $(VENV)/.installed-dev
	$(WITH_LIBRARIES) $(PROMPTFOO)

# What tools compute on drawn data, which profiles are held to: an environment each, in the versions that
# docs/tools/record.py has. TOOLS="lightgbm ranx" for some.
record-tools: $(BIN)/python
	$(BIN)/python docs/tools/record.py --environments $(VENV)/tools $(TOOLS)

# The same on data of another seed, in build.
hold-tools: export RANKGAUGE_TOOLS = build/tools-$(or $(SEED),1)
hold-tools: $(VENV)/.installed-dev
	$(BIN)/python docs/tools/drawn.py $(or $(SEED),1)
	$(BIN)/python docs/tools/record.py --environments $(VENV)/tools $(TOOLS)
	$(BIN)/python -m pytest -q --hypothesis-profile=thorough tests/test_tool_numbers.py -k computed

# pyspark has 400 MB, so that its environment is its own.
SPARK = $(VENV)/spark
SPARK_TESTS = plugins/rankgauge-spark
test-spark: $(BIN)/python
	$(BIN)/python $(SPARK_TESTS)/install_java.py
	$(BIN)/python -m venv $(SPARK)
	$(call install,$(SPARK),-e . -e './$(SPARK_TESTS)[spark]' -e './$(SPARK_TESTS)[test]')
	$(SPARK)/bin/python -m pytest -p no:cacheprovider -c $(SPARK_TESTS)/pyproject.toml $(SPARK_TESTS)/tests

# Vector databases and PostgreSQL weigh 1 GB together.
# Words of DuckDB are tried in an older one, because its extension is no package for 2.x yet.
SYSTEMS = $(VENV)/systems
SYSTEMS_WORDS = $(VENV)/systems-words
test-systems: $(BIN)/python
	$(BIN)/python -m venv $(SYSTEMS)
	$(call install,$(SYSTEMS),-e . -e './plugins/rankgauge-systems[test]')
	RANKGAUGE_SYSTEMS=all $(SYSTEMS)/bin/python -m pytest -p no:cacheprovider -n 2 plugins/rankgauge-systems/tests
	$(BIN)/python -m venv $(SYSTEMS_WORDS)
	$(call install,$(SYSTEMS_WORDS),-e . -e './plugins/rankgauge-systems[duckdb-words]' hypothesis pytest pytest-xdist)
	RANKGAUGE_SYSTEMS=duckdb $(SYSTEMS_WORDS)/bin/python -m pytest -p no:cacheprovider plugins/rankgauge-systems/tests -k duckdb

docs-systems: $(BIN)/python
	$(BIN)/python -m venv $(SYSTEMS)
	$(call install,$(SYSTEMS),-e . -e './plugins/rankgauge-systems[test]')
	$(SYSTEMS)/bin/python plugins/rankgauge-systems/tests/engines_page.py

# The roads, the lines of trec_eval and the cases of broken files with the compiled kernel, as it is and with sanitizers
# (gcc or clang), for which Python's allocator stands aside; what pytrec_eval frees in a way of its own is left alone.
FAST = $(VENV)/fast
FAST_TESTS = plugins/rankgauge-fast/tests $(addprefix tests/,roads trec io/trec faults/test_cases.py oracle)
FAST_PIP = $(FAST)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall $(FAST)/source
SANITIZED = ASAN_OPTIONS=detect_leaks=0:alloc_dealloc_mismatch=0 PYTHONMALLOC=malloc
test-fast: $(BIN)/python
	@if ! command -v cc >/dev/null; then echo "there is no C compiler (cc), so rankgauge-fast was not tested"; exit 0; fi; set -ex; \
	$(PYTHON) -m venv --clear $(FAST); \
	$(call install,$(FAST),-e '.[dev]' $(addprefix -e ./,$(LIGHT_PLUGINS))); \
	cp -R plugins/rankgauge-fast $(FAST)/source; \
	$(FAST_PIP); \
	$(FAST)/bin/python -c 'import rankgauge_fast._kernel'; \
	$(FAST)/bin/python -m pytest -p no:cacheprovider -n auto --dist worksteal -m "not thorough" $(or $(TESTS),$(FAST_TESTS) tests/judging); \
	RANKGAUGE_FAST_FLAGS="-g -O1 -fsanitize=address,undefined -fno-sanitize-recover" $(FAST_PIP); \
	LD_PRELOAD=$$(cc -print-file-name=libasan.so) $(SANITIZED) \
	$(FAST)/bin/python -m pytest -p no:cacheprovider -n auto --dist worksteal -m "not thorough" $(or $(TESTS),$(FAST_TESTS))

# Commit .ci/passed.toml along with the change that passed; .ci/run leaves out what it records until inputs change.
passed: $(VENV)/.installed-dev
	$(BIN)/python .ci/parts.py run $(or $(PARTS),$$($(BIN)/python .ci/parts.py due))

check: $(VENV)/.installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.installed-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Each makes a folder of its own and installs into it what it asks.
findings:
	@code=0; for each in findings/*.sh; do [ -e "$$each" ] || continue; echo "==== $$each"; bash "$$each" || code=1; done; exit $$code

# An environment of its own, because pip-audit brings dozens of distributions along.
audit: $(BIN)/python
	$(PYTHON) -m venv .venv-audit
	$(call install,.venv-audit,.) || true
	.venv-audit/bin/python .ci/audit

build: $(VENV)/.installed-dev
	$(BIN)/python tests/packaging/build.py

# Two environments: what is listed, and what lists it.
sbom: $(BIN)/python
	$(PYTHON) -m venv .venv-sbom
	$(call install,.venv-sbom,.)
	.venv-sbom/bin/python -m pip uninstall --quiet --yes setuptools pip
	$(PYTHON) -m venv .venv-sbom-tool
	$(call install,.venv-sbom-tool,cyclonedx-bom)
	mkdir -p build
	.venv-sbom-tool/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible -o build/sbom.cdx.json .venv-sbom/bin/python

SEED ?= 1
CASES ?= 2000
fuzz: $(VENV)/.installed-dev
	cd tests && $(abspath $(BIN))/python -m faults.campaign $(SEED) $(CASES)

docs: $(VENV)/.installed-dev
	$(BIN)/python docs/generate.py
	$(BIN)/python docs/conventions.py

# The reports of the gallery are written first. MkDocs has an environment of its own, which imports no rankgauge. Not --quiet: MkDocs counts no warning then.
DOCS_GROUP = import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["docs"])
site: $(VENV)/.installed
	$(BIN)/python docs/gallery.py build/gallery
	$(PYTHON) -m venv .venv-site
	$(call install,.venv-site,$$($(PYTHON) -c '$(DOCS_GROUP)'))
	NO_MKDOCS_2_WARNING=1 .venv-site/bin/mkdocs build --strict

bench: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/jsonl.py
	$(BIN)/python benchmarks/ids.py
	$(BIN)/python benchmarks/matching.py
	$(BIN)/python benchmarks/texts.py
	$(BIN)/python benchmarks/gold.py
	$(BIN)/python benchmarks/workers.py
	$(BIN)/python benchmarks/trec.py
	$(BIN)/python benchmarks/compare.py
	$(BIN)/python benchmarks/intervals.py
	$(BIN)/python benchmarks/human_judged.py
	$(BIN)/python benchmarks/registry.py
	$(BIN)/python benchmarks/growth.py
	$(BIN)/python benchmarks/rankings.py
	$(BIN)/python benchmarks/shortcuts.py
	$(BIN)/python benchmarks/histories.py
	$(BIN)/python benchmarks/report.py
	$(BIN)/python benchmarks/gold.py

clean:
	rm -rf $(VENV) .venv-* .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build
