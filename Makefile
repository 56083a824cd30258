# make up · make test · make check · make setup · make clean
# All that must be there is Python 3.11 or later; the rest goes into .venv, as pinned in requirements.lock.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PORT ?= 8420
# Where `make up` keeps its data; if empty, where `horae up` does.
DATA ?=
# What the tests need from the system besides Python, as Debian packages. curl runs the examples of the docs.
TEST_PACKAGES := bubblewrap busybox-static curl libfaketime podman runc

.PHONY: up test check setup clean
.DEFAULT_GOAL := up

up: setup
	@echo "Starting Horae with the example app (examples/demo.py) and a gentle stream of jobs (examples/stream.py)."
	@echo "In another terminal: $(BIN)/horae jobs --watch"
	@exec $(BIN)/horae up --port $(PORT) $(if $(DATA),--data $(DATA)) --app examples/demo.py:app --with examples/stream.py

test: setup
	@$(if $(TEST_PACKAGES),if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get install -qq -y $(TEST_PACKAGES) >/dev/null; fi,:)
	@$(BIN)/pytest -n 2

check: setup
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

setup: $(STAMP)

$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Horae needs Python 3.11 or later")'
	@test -x $(BIN)/python || { echo "Making $(VENV) …"; $(PYTHON) -m venv $(VENV); }
	@echo "Installing what requirements.lock names; the first time takes a minute …"
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(BIN)/python -m ensurepip --upgrade >/dev/null
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $(STAMP)

clean:
	@rm -rf $(VENV) dist .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
