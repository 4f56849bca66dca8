# Everything a person does here is a target. `make` lists them.
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(BIN)/uv
REPO ?= .
QUERY ?= how is a failed message retried and moved to the dead letters
N ?= 20

##@ Set up
.PHONY: help
help: ## List the targets
	@awk 'BEGIN {FS = ":.*##"} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z-]+:.*##/ {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: setup
setup: $(VENV)/.run ## Install Prism into .venv (no torch, no Docker, no account)

.PHONY: setup-dev
setup-dev: $(VENV)/.dev ## Install what the checks and tests need as well

$(UV): requirements/uv.txt
	@$(PYTHON) -c 'import sys; sys.exit("Prism needs Python 3.11 or newer; set PYTHON=/path/to/python3.11" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements/uv.txt
	@touch $@

$(VENV)/.run: $(UV) requirements/base.txt requirements/build.txt pyproject.toml
	$(UV) pip install -q --python $(BIN)/python --require-hashes -r requirements/base.txt -r requirements/build.txt
	$(UV) pip install -q --python $(BIN)/python --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.run requirements/dev.txt
	$(UV) pip install -q --python $(BIN)/python --require-hashes -r requirements/dev.txt
	@touch $@

.PHONY: lock
lock: $(UV) ## Compile the hashed requirements from pyproject.toml
	$(UV) pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate pyproject.toml -o requirements/base.txt
	$(UV) pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --extra dev pyproject.toml -o requirements/dev.txt
	$(UV) pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate requirements/build.in -o requirements/build.txt

##@ Run
.PHONY: demo
demo: setup ## Start everything, index REPO, ask QUERY over MCP, print the answer, stop
	@$(BIN)/prism demo --repo '$(subst ','\'',$(REPO))' --query '$(subst ','\'',$(QUERY))'

##@ Check
.PHONY: check
check: setup-dev ## Lint, format, types, imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy libs services cli
	$(BIN)/lint-imports

.PHONY: test
test: setup-dev ## Unit, contract and system tests
	$(BIN)/pytest -m "not models"

.PHONY: format
format: setup-dev ## Format and fix what can be fixed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
