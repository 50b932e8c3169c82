# Everything a developer or a newcomer runs. `make help` lists it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Bytecode is written whatever the environment says: else each service that a test starts compiles all anew.
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest --numprocesses auto
PEER := $(VENV)/peer
PEER_STAMP := $(PEER)/.installed

.DEFAULT_GOAL := help
.PHONY: help setup demo serve test torture check format bench rehearse lock

help:  ## list the commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 12

setup: $(STAMP)  ## build .venv from the lock file

$(STAMP): requirements-dev.lock pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/uv pip install --quiet --compile-bytecode --require-hashes -r requirements-dev.lock
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/uv pip install --quiet --no-deps --no-build-isolation -e .
	$(BIN)/python -m compileall -q service
	touch $(STAMP)

demo: setup  ## build a context package from the worked example and print it
	$(BIN)/muniment demo

serve: setup  ## start the service on 127.0.0.1:8080
	$(BIN)/muniment serve

test: setup  ## run every test, PostgreSQL included
	$(PYTEST) --dist loadfile --no-loadscope-reorder

torture: setup  ## kill the service and its agents everywhere, on both databases
	$(PYTEST) -m "" tests/test_recovery_*.py tests/test_canary_*.py tests/test_policies_oracle.py $(TORTURE)

check: setup  ## formatting, lint, types, import contracts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: setup  ## rewrite files to the house format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: setup $(PEER_STAMP)  ## measure ingest, packages and long runs beside bare parts and a peer
	$(BIN)/python -m benchmarks --peer $(PEER)/bin/python

$(PEER_STAMP): requirements-bench.lock | $(STAMP)
	$(BIN)/python -m venv $(PEER)
	VIRTUAL_ENV=$(CURDIR)/$(PEER) $(BIN)/uv pip install --quiet --compile-bytecode --require-hashes -r requirements-bench.lock
	touch $(PEER_STAMP)

rehearse: setup  ## kill the careful example agent wherever it can be killed; about 100 trials
	$(BIN)/muniment rehearse --manifest examples/agents/shop.yaml --workers 2 -- $(BIN)/python examples/agents/careful.py

lock: setup  ## resolve the dependencies anew
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --custom-compile-command "make lock" pyproject.toml -o requirements.lock
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --custom-compile-command "make lock" --extra dev build-requirements.in pyproject.toml -o requirements-dev.lock
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --custom-compile-command "make lock" bench-requirements.in -o requirements-bench.lock
