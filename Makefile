# Two commands do everything: `make dev` serves the sample, `make test` runs every test. Both set up what they need.
.DEFAULT_GOAL := help
UV_VERSION := 0.13.9
PYTHON ?= python3
UV := .tools/bin/uv
RUN := $(UV) run --no-sync

export UV_PROJECT_ENVIRONMENT := .venv
# Some images forbid Python to keep what it has compiled; then each of hundreds of processes compiles everything again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help dev setup setup-all wheel test test-fast soak lint types contracts unit real integration integration-shared conformance browser lighthouse infra bench bench-hive bench-retrieval bench-memory bench-lessons bench-pii bench-reference acceptance synth docs snapshot requirements cdk deploy format clean

help: ## Show the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-16s %s\n", $$1, $$2}'

$(UV):
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed, this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	@$(PYTHON) -m venv .tools
	@.tools/bin/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)

setup: $(UV) ## Install what `commonplace` needs into .venv, and extras: make setup EXTRAS="wallets redaction"
	@$(UV) sync --locked --quiet --inexact $(addprefix --extra ,$(EXTRAS))

setup-all: $(UV) ## Install everything the tests need as well
	@$(UV) sync --locked --quiet --all-groups --all-extras

wheel: $(UV) ## Build the wheel into dist/
	@$(UV) build --quiet

dev: setup ## Serve the sample knowledge base on this machine
	@$(RUN) commonplace dev $(ARGS)

test: setup-all lint types contracts unit real browser ## Run every test, the very ones CI runs

test-fast: setup-all lint types contracts unit ## Run what needs no server: the inner loop

soak: export COMMONPLACE_TEST_SOAK := 1
soak: export PYTEST_TIMEOUT := 14400
soak: export PYTEST_ADDOPTS := -o faulthandler_timeout=15000
soak: setup-all unit integration conformance ## Run the long versions: many more examples, large imports, series of kills

lint: ## Check style and formatting
	$(RUN) ruff check .
	$(RUN) ruff format --check .

types: ## Check types
	$(RUN) mypy

contracts: ## Check which room may import which
	$(RUN) lint-imports

unit: ## Run the unit tests
	$(RUN) pytest tests/unit tests/contracts -m "not real" -n 2 -q

SHARED := $(addprefix tests/integration/test_,push_to_answer.py change_feed.py catalogue_sync.py faults.py)

# At once: no worker waits for the last test of each kind, and all of them use the same OpenSearch and DynamoDB Local.
real: ## Run integration, conformance and infra at once
	$(RUN) pytest tests/integration tests/contracts tests/conformance tests/infra -m real -q -n 3 --dist loadfile
	COMMONPLACE_TEST_SHARED=1 $(RUN) pytest $(SHARED) -q -n 2 --dist loadfile

integration-shared: export COMMONPLACE_TEST_SHARED := 1
integration-shared: ## Run the tests on the laptop cloud with the processes that `commonplace dev` shares
	$(RUN) pytest tests/integration -m "real and not opensearch" -q -n 2 --dist loadfile $(ARGS)

integration: ## Run the tests on the laptop cloud, OpenSearch, DynamoDB Local and a chain
	$(RUN) pytest tests/integration tests/contracts -m real -q -n 3 --dist loadfile

conformance: ## Run the tests against published contracts, and clients of others on Node.js
	$(RUN) pytest tests/conformance -q -n 2 --dist loadfile

browser: ## Run the tests of every page in a real browser
	$(RUN) pytest tests/browser -q -n 2 --dist loadfile

lighthouse: setup-all ## Judge home, search and a document with Lighthouse: make lighthouse ARGS=CLONE
	@$(RUN) python -m tests.browser.lighthouse $(ARGS)

infra: ## Synthesize and check the AWS template
	$(RUN) pytest tests/infra -q -n 2 --dist loadfile

format: setup-all ## Rewrite the code in the house format
	$(RUN) ruff check --fix .
	$(RUN) ruff format .

bench: setup-all ## Run every benchmark on this machine
	$(RUN) python -m bench

bench-retrieval: setup-all ## Measure how well a search finds: make bench-retrieval ARGS=--final
	@$(RUN) python -m bench.retrieval $(ARGS)

bench-memory: setup-all ## Measure how well a team's memory is searched, and the tokens of an answer
	@$(RUN) python -m bench.memory_quality $(ARGS)

bench-lessons: setup-all ## Hold the parsers of lessons against a count by hand: make bench-lessons FOLDER=PATH ARGS=--lines
	@$(RUN) python -m tests.acceptance.lessons $(FOLDER) $(ARGS)

bench-pii: setup-all ## Measure what the redaction of contributions finds: make bench-pii ARGS=--misses
	@$(RUN) python -m bench.pii $(ARGS)

bench-hive: setup-all ## Measure the hive: a search beside one of documents, and a queue of 5,000
	@$(RUN) python -m bench hive hive_queue

bench-reference: setup-all ## Measure how well, how fast and at what cost the product reference answers
	@$(RUN) python -m bench.reference $(ARGS)

acceptance: setup ## Sync and check any clone: make acceptance REPOSITORY=PATH
	@$(RUN) python -m tests.acceptance $(REPOSITORY) $(ARGS)

synth: setup-all ## Write the AWS template to cdk.out: make synth ARGS="-c stage=prod -c repository=owner/name -c branch=main"
	@$(RUN) python app.py $(ARGS)

docs: setup-all ## Rewrite the tables of docs/operate/configuration.md from the settings
	@$(RUN) python -m infra.docs

snapshot: setup-all ## Rewrite packages/commonplace_local/template.json, from which the laptop cloud is built
	@$(RUN) python -m infra.snapshot

requirements: setup-all ## Rewrite what each function's bundle holds from the lock
	@$(RUN) python -m infra.requirements

cdk: setup-all
	@$(RUN) python -m infra.node npm install --no-package-lock --no-audit --no-fund --silent

deploy: cdk ## Deploy to the AWS account of your credentials: make deploy ARGS="-c ..."
	@$(RUN) python -m infra.node npx cdk deploy --all --outputs-file outputs.json $(ARGS)

clean: ## Remove everything that was built or installed
	rm -rf .venv .tools .data dist cdk.out node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis
