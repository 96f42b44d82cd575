# make demo: install into .venv and show what it does.   make test: install and run all tests.
# make test-fast: the tests of every day, about two minutes.   make lint: what CI checks first.
.PHONY: demo test test-fast lint format docs reproduce publish bench gallery clean
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# A stamp for each extra, and one for none, written after a complete install.
INPUTS := pyproject.toml constraints.txt
# Before anything else: a .venv that does not work is thrown away.
REPAIRED := $(shell [ ! -e $(VENV) ] || .ci/venv-works $(VENV) >/dev/null 2>&1 || rm -rf $(VENV))

ifneq ($(wildcard ../shared/data),)
export CORRESPONDENCE_DATA ?= $(abspath ../shared/data)
endif
export OPENBLAS_NUM_THREADS ?= 2
export OMP_NUM_THREADS ?= 2
export MPLBACKEND ?= Agg

demo: $(VENV)/.installed-core
	$(BIN)/correspondence demo

# Two workers with a thread each: more threads than cores would wait for each other.
test test-fast: export OPENBLAS_NUM_THREADS = 1
test test-fast: export OMP_NUM_THREADS = 1
test: $(VENV)/.installed-dev
	$(BIN)/python -m pytest $(PYTEST_ARGS)

# Neither tests that are marked slow nor the pages of docs/, which are run too.
test-fast: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -m "not slow" tests src README.md $(PYTEST_ARGS)

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -q -n0 tests/test_house.py

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# A warning is an error; each tutorial is run. After a name has gone: make clean, or its page is left over.
docs: $(VENV)/.installed-docs
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html
	@echo "Open $(CURDIR)/docs/_build/html/index.html"

reproduce: $(VENV)/.installed-studies
	$(BIN)/correspondence reproduce all

# Into docs/results, what make reproduce has left in results/.
publish:
	$(BIN)/python docs/publish_results.py results

# The pages of docs/gallery.md and their screenshots; the seed is the first one of the whole study.
gallery: $(VENV)/.installed-dev
	$(BIN)/correspondence demo
	$(BIN)/correspondence analyze tests/oracle/many/wg93_data.csv -o gallery/science
	$(BIN)/correspondence analyze tests/oracle/many/poison_data.csv --clusters -o gallery/poison
	$(BIN)/correspondence analyze tests/oracle/many/dune_data.csv --table --constraints tests/oracle/many/dune_env_data.csv -o gallery/dune
	$(BIN)/correspondence associations tests/oracle/many/decathlon_data.csv -o gallery/decathlon
	$(BIN)/correspondence reproduce cooking --seeds 1
	$(BIN)/correspondence reproduce wine --seeds 1
	$(BIN)/correspondence reproduce multiview-noisy-mnist
	$(BIN)/correspondence reproduce flickr
	$(BIN)/python docs/screenshots.py

bench: $(VENV)/.installed-bench
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/ca.py
	$(BIN)/python benchmarks/pice.py
	$(BIN)/python benchmarks/auto.py
	$(BIN)/python benchmarks/truth.py --jobs 2 --seeds 10000
	$(BIN)/python benchmarks/classifier.py
	$(BIN)/python benchmarks/retrieval.py
	$(BIN)/python benchmarks/explore.py
	$(BIN)/python benchmarks/scale.py
	$(BIN)/python benchmarks/many.py
	$(BIN)/python benchmarks/tables.py
	$(BIN)/python benchmarks/text.py
	$(BIN)/python benchmarks/imputing.py
	$(BIN)/python benchmarks/associations.py
	$(BIN)/python benchmarks/clusters.py
	$(BIN)/python benchmarks/ordered.py
	$(BIN)/python benchmarks/constraints.py

clean:
	rm -rf $(VENV) docs/_build docs/generated

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed-core: $(INPUTS) | $(BIN)/python
	$(PIP) install --quiet -c constraints.txt -e .
	@echo $(CURDIR) > $@

$(VENV)/.installed-%: $(INPUTS) | $(BIN)/python
	$(PIP) install --quiet -c constraints.txt -e ".[$*]"
	@echo $(CURDIR) > $@
