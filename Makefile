# Everything that is done with this tree. Each target does the set-up that it needs; that takes
# no time when nothing has changed. PYTHON=/path/to/python3 chooses the interpreter.

SHELL := /bin/bash
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
unexport VIRTUAL_ENV PYTHONHOME PYTHONPATH MAKELEVEL

PYTHON ?=
export PYTHON

setup := deploy/setup
bin := .venv/bin
# Further arguments: make test ARGS='-k tiles', make run ARGS='--port 7001'
ARGS ?=
# The game of make run, by its name in: tableturn games
GAME ?= eastern-wonders
# How many processes pytest uses: make test JOBS=0 runs all in one.
JOBS ?= auto

# The panel whose firmware is meant: its buttons (2 to 6), and yes or no: has it WS2812 pixels?
BUTTONS ?= 4
PIXELS ?=
# Where the board is (make flash PORT=/dev/ttyUSB0), and the speed of its boot loader if not found.
PORT ?=
BAUD ?=

.PHONY: help setup run test lint format typecheck protolint unit nightly bench protos \
	clauses rules-docs pictures protos-release lock upgrade clean distclean \
	firmware flash emulator install-pi uninstall-pi

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' Makefile

setup: ## Make .venv with everything for development
	@$(setup)/system-packages test
	@$(setup)/environment development

run: ## Serve a table on this machine; GAME=spice-road for another game
	@$(setup)/environment run
	$(bin)/tableturn serve --data .data/ --open $(GAME) $(ARGS)

test: lint ## Lint, then all tests but the nightly ones
	@$(setup)/environment protos
	$(bin)/python -m pytest -n $(JOBS) $(ARGS)

unit: setup ## The tests that start no other parts, without lint
	$(bin)/python -m pytest -m 'not nightly and not e2e' $(ARGS)

lint: setup protolint ## Style, types, protos and the direction of imports
	$(bin)/ruff check --quiet .
	$(bin)/ruff format --quiet --check .
	$(bin)/mypy
	$(bin)/lint-imports --no-logo
	@git ls-files -z --cached --others --exclude-standard '*.c' '*.h' \
	  | xargs -0 --no-run-if-empty $(bin)/clang-format --dry-run --Werror

# Compared with the last release, if protos/released.binpb (make protos-release) is there.
protolint: setup
	$(bin)/buf lint
	@if [ -f protos/released.binpb ]; then \
	  echo '$(bin)/buf breaking --against protos/released.binpb'; \
	  $(bin)/buf breaking --against protos/released.binpb; \
	fi

format: setup ## Format the Python and C code, and sort imports
	$(bin)/ruff check --quiet --fix-only .
	$(bin)/ruff format .
	@git ls-files -z --cached --others --exclude-standard '*.c' '*.h' \
	  | xargs -0 --no-run-if-empty $(bin)/clang-format -i

nightly: setup ## The long tests
	@$(setup)/environment protos
	HYPOTHESIS_PROFILE=nightly $(bin)/python -m pytest -n $(JOBS) -m nightly --timeout 3600 $(ARGS) \
	  || [ $$? -eq 5 ] # there may be none

bench: setup ## Measure what benchmarks/ measures
	$(bin)/python -m benchmarks $(ARGS)

protos: ## Generate the Python code of protos/
	$(setup)/generate-protos

firmware: ## Compile the firmware of a panel; BUTTONS=2..6, PIXELS=yes
	@$(setup)/environment run
	@$(setup)/system-packages firmware
	@$(bin)/python deploy/panel/firmware.py --buttons '$(BUTTONS)' --pixels '$(PIXELS)'

flash: ## Write it into a board: PORT=/dev/ttyUSB0, BUTTONS and PIXELS as above
	@$(setup)/environment run
	@$(setup)/system-packages flash
	@$(bin)/python deploy/panel/flash.py --port '$(PORT)' --baud '$(BAUD)' \
	  --buttons '$(BUTTONS)' --pixels '$(PIXELS)'

emulator: ## Compile the emulated board of: tableturn panel --simulate
	@$(setup)/environment run
	@$(setup)/system-packages firmware
	@$(setup)/system-packages emulator
	@$(bin)/python deploy/panel/emulator.py

install-pi: ## Install service and panel on this machine, so that it boots into a table
	@deploy/pi/install

uninstall-pi: ## Take that away again; the tables stay
	@deploy/pi/install --remove

clauses: setup ## Which test proves which clause of the rules
	@$(bin)/python -m tests.clause_report

rules-docs: setup ## Write docs/rules/ from the rules' own texts
	$(bin)/python -m tableturn_server.rules.texts docs/rules

pictures: setup ## Draw the pictures of the docs
	$(bin)/python docs/pictures/make.py

protos-release: setup ## Remember the protos as released: later ones must stay compatible
	$(bin)/buf build --output protos/released.binpb

lock: ## Write the lock files after a change of dependencies
	$(setup)/lock

upgrade: ## Write the lock files with the newest versions
	$(setup)/lock --upgrade

clean: ## Remove what builds and tests leave
	rm -rf build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -not -path './.venv/*' -not -path './.tools/*' -prune -exec rm -rf {} +

distclean: clean ## Remove the environments too, but never the tables in .data
	rm -rf .venv .tools
