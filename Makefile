# make up · make test · make chaos · make race · make soak · make check · make console · make setup · make clean
# All that must be there is Python 3.11 or later; the rest goes into .venv, as pinned in requirements.lock. The console
# is built by Node.js; a Horae that was installed from its wheel has it inside.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PORT ?= 8420
# Where `make up` keeps its data; if empty, where `horae up` does.
DATA ?=
# What the tests need from the system besides Python and Node.js, as Debian packages. curl runs the examples of the docs.
TEST_PACKAGES := bubblewrap busybox-static chromium chromium-headless-shell curl gcc libc6-dev podman runc

CONSOLE := src/horae/console/static/index.html
MODULES := web/node_modules/.installed
WEB := $(shell find web -type f -not -path 'web/node_modules/*' 2>/dev/null)
# Vite wants this, or later.
NODE := process.exit(process.versions.node.localeCompare("20.19", "en", {numeric: true}) < 0 ? 1 : 0)
HAS_NODE = command -v npm >/dev/null && node -e '$(NODE)' 2>/dev/null
NO_NODE := Node.js 20.19 or later and npm are not here

.PHONY: up test chaos race soak check console setup clean
.DEFAULT_GOAL := up

up: setup
	@if $(HAS_NODE); then $(MAKE) --no-print-directory console; \
	else echo "$(NO_NODE): the console is not built, and Horae starts without."; fi
	@echo "Starting Horae with the example app (examples/demo.py) and a gentle stream of jobs (examples/stream.py)."
	@echo "In another terminal: $(BIN)/horae jobs --watch"
	@exec $(BIN)/horae up --port $(PORT) $(if $(DATA),--data $(DATA)) --app examples/demo.py:app --with examples/stream.py

# One more than the processors that it is meant for: a third of the time tests wait for a lease, a clock or a page.
TESTERS := 3
# Where all must be tested (CI=true), what is missing is an error; elsewhere it is said, and what needs it is skipped.
test: setup
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then apt-get install -qq -y $(TEST_PACKAGES) >/dev/null; \
	else echo "Not root on Debian, so nothing is installed by apt-get: tests that lack one of these are skipped:" \
		"$(TEST_PACKAGES)."; fi
	@if $(HAS_NODE); then $(MAKE) --no-print-directory console; \
	elif [ "$$CI" = true ]; then echo "$(NO_NODE)." >&2; exit 1; \
	else echo "$(NO_NODE): the console is not built, and its tests are skipped."; fi
	@if $(HAS_NODE); then cd web && npm test --silent; fi
	@$(BIN)/pytest -n $(TESTERS) --dist worksteal

# More than an hour, with the machine to itself: CHAOS="--seeds 2 --jobs 20000 --faults 200" is less, and
# `make chaos CHAOS=--resume` goes on with the report of a run that was broken off. Faults of the network need root for
# nftables; what cannot be done here is said, and with CI=true it is an error.
CHAOS ?= --seeds 20 --jobs 200000 --faults 2000
CHAOS_REPORT ?= chaos-report.md
chaos: setup
	@CHAOS=full $(BIN)/pytest -q tests/chaos/test_planted.py -k without_a_bug
	@$(BIN)/python -m tests.chaos $(CHAOS) --report $(CHAOS_REPORT)

# Some three quarters of an hour, with the machine to itself. RACE="--quick" is less, and does not go into docs/race.md.
# What could not be measured stands on the page, too, and makes this fail.
RACE ?=
RACE_FIGURES ?= race.jsonl
race: setup
	@export PYTHONPATH=bench/peers; $(BIN)/python -m race $(RACE) --json $(RACE_FIGURES); failed=$$?; \
	$(if $(RACE),true,$(BIN)/python -m race show $(RACE_FIGURES) --write docs/race.md --plot docs/race.svg) && exit $$failed

# How long, and the folder for the report; exit code 1 when something grows.
TIME ?= 1h
SOAK_REPORT ?= soak-report
soak: setup
	@$(BIN)/horae soak --time $(TIME) --report $(SOAK_REPORT)

check: setup
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@if $(HAS_NODE); then $(MAKE) --no-print-directory $(MODULES); \
	elif [ "$$CI" = true ]; then echo "$(NO_NODE)." >&2; exit 1; \
	else echo "$(NO_NODE): web/ is not checked."; fi
	@if $(HAS_NODE); then cd web && npm run --silent check; fi

console: $(CONSOLE)
	@:

$(CONSOLE): $(MODULES) $(WEB)
	@echo "Building the console …"
	@cd web && npm run --silent build

$(MODULES): web/package-lock.json
	@echo "Installing what web/package-lock.json names …"
	@cd web && npm ci --silent --no-audit --no-fund
	@touch $(MODULES)

setup: $(STAMP)

$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Horae needs Python 3.11 or later")'
	@test -e $(BIN)/activate || { echo "Making $(VENV) …"; $(PYTHON) -m venv $(VENV); }
	@echo "Installing what requirements.lock names; the first time takes a minute …"
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(BIN)/python -m ensurepip --upgrade >/dev/null
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $(STAMP)

clean:
	@rm -rf $(VENV) dist .mypy_cache .ruff_cache .hypothesis .import_linter_cache web/node_modules src/horae/console
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
