# make demo: install into .venv and show what it does.   make test: install and run the tests.   make lint: what CI checks first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# A stamp for each extra, written after a complete install.
INPUTS := pyproject.toml constraints.txt
# Before anything else: a .venv is thrown away whose pip does not run, that was made in another folder (scripts in it know
# their path), or whose stamps promise packages that are not there.
CHECK_core := click, matplotlib, scipy, sklearn
CHECK_dev := hypothesis, mypy, polars, pytest, xdist
CHECK_bench := pandas, prince
REPAIRED := $(shell [ ! -e $(VENV) ] || { $(BIN)/python -m pip --version && \
  for stamp in $(VENV)/.installed-*; do [ ! -e $$stamp ] || { grep -qx "$(CURDIR)" $$stamp && case $$stamp in \
    *-core) $(BIN)/python -c "import $(CHECK_core); from importlib.util import find_spec as f; assert f('correspondence')";; *-dev) $(BIN)/python -c "import $(CHECK_dev)";; \
    *-bench) $(BIN)/python -c "import $(CHECK_bench)";; esac; } || exit 1; done; } >/dev/null 2>&1 || rm -rf $(VENV))

ifneq ($(wildcard ../shared/data),)
export CORRESPONDENCE_DATA ?= $(abspath ../shared/data)
endif
export OPENBLAS_NUM_THREADS ?= 2
export OMP_NUM_THREADS ?= 2
export MPLBACKEND ?= Agg

.PHONY: demo test lint format bench clean

demo: $(VENV)/.installed-core
	$(BIN)/correspondence demo

test: $(VENV)/.installed-dev
	$(BIN)/python -m pytest $(PYTEST_ARGS)

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.installed-bench
	$(BIN)/python benchmarks/ca.py

clean:
	rm -rf $(VENV)

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed-core: $(INPUTS) | $(BIN)/python
	$(PIP) install --quiet -c constraints.txt -e .
	@echo $(CURDIR) > $@

$(VENV)/.installed-%: $(INPUTS) | $(BIN)/python
	$(PIP) install --quiet -c constraints.txt -e ".[$*]"
	@echo $(CURDIR) > $@
