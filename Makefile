# Everything runs in .venv, which the first target makes; a fresh machine needs Python 3 and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
READY := $(VENV)/.ready
PEERS := $(VENV)/.peers

.DEFAULT_GOAL := help
.PHONY: help demo test lint types docs pictures bench conformance results clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

demo: $(READY) ## a model's account on the terminal, then a picture explained for each of its classes
	@$(BIN)/python examples/account.py
	@$(BIN)/python examples/mosaic.py

test: lint types docs ## style, types, documents and all tests
	@$(BIN)/python -m pytest

lint: $(READY) ## style: ruff's rules and format
	@$(BIN)/python -m ruff check .
	@$(BIN)/python -m ruff format --check .

types: $(READY) ## types: mypy, strict
	@$(BIN)/python -m mypy

docs: $(READY) ## the documents as a site in site/; a broken link is an error
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

pictures: $(READY) ## the pictures of the documents, drawn anew by the library
	@$(BIN)/python -m docs.pictures
	@$(BIN)/python -m docs.figures

bench: $(PEERS) ## time and memory beside other libraries, written to docs/performance.md
	@$(BIN)/python -m benchmarks

conformance: $(READY) ## the completeness of every model we can build, written to docs/conformance.md
	@$(BIN)/python -m conformance
	@$(BIN)/python -m docs.tables

results: $(READY) ## the built-in model and all methods on its pictures, written to docs/results.md
	@$(BIN)/python -m docs.results

clean: ## remove the virtual environment and what the tools leave behind
	rm -rf $(VENV) build dist out site .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# PyTorch first and alone: left to the other packages, pip may choose a far larger build of it.
$(READY): pyproject.toml constraints.txt
	@echo "Installing into $(VENV) (once; a few minutes)"
	@$(PYTHON) -m venv $(VENV)
	@$(INSTALL) torch
	@$(INSTALL) --editable '.[test]'
	@touch $@

$(PEERS): $(READY)
	@$(INSTALL) --editable '.[bench]'
	@touch $@
