# Every target makes .venv by itself. Needs python3 (3.11 or newer) and a pip that can install packages.
PYTHON ?= python3
BIN := .venv/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test test-gpu lint docs bench bench-gpu test-oldest dist lock audit torture coverage mutation clean

demo: .venv/.plot
	$(BIN)/python -m gramless demo --force

# One process per core, with one thread each for BLAS: more would wait for one another.
test: .venv/.dev
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -q -n auto

test-gpu: .venv/.dev .venv/.gpu
	$(BIN)/python -m pytest -q -m gpu tests

lint: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict
	$(BIN)/lint-imports

# Hostile inputs, faults and noise for about SECONDS; SEED= repeats a run that failed.
SECONDS ?= 300
torture: .venv/.dev
	$(BIN)/python tests/torture --seconds $(SECONDS) $(if $(SEED),--seed $(SEED))

coverage: .venv/.dev
	$(BIN)/python -m coverage run -m pytest -q
	$(BIN)/python -m coverage report

mutation: .venv/.dev
	$(BIN)/python tests/mutation --seconds $(SECONDS) $(if $(SEED),--seed $(SEED))

docs: .venv/.docs
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

bench: .venv/.dev
	$(BIN)/python -m benchmarks

bench-gpu: .venv/.dev .venv/.gpu
	$(BIN)/python -m benchmarks.gpu

# The oldest versions that pyproject.toml allows, in an environment of their own; TESTS=tests/data for a part.
TESTS ?= tests
test-oldest: .venv-oldest/.ready
	.venv-oldest/bin/python -m pytest -q -p no:cacheprovider $(TESTS)

.venv-oldest/.ready: pyproject.toml tools/lower_bounds.py
	$(PYTHON) -m venv --clear .venv-oldest
	.venv-oldest/bin/python -m pip install -q $$($(PYTHON) tools/lower_bounds.py plot io dask explorer) \
		pytest hypothesis mpmath pandas playwright polars safetensors
	.venv-oldest/bin/python -m pip install -q --no-deps -e .
	@touch $@

# A wheel and a source distribution, each tried in an empty environment without a compiler.
dist: | $(BIN)/python
	$(BIN)/python -m pip install -q "build>=1.2"
	rm -rf dist
	$(BIN)/python -m build -q --outdir dist .
	$(BIN)/python tools/try_dist.py dist

lock: | $(BIN)/python
	$(BIN)/python tools/lock.py dev,docs > requirements-dev.lock.new
	mv requirements-dev.lock.new requirements-dev.lock

# Known vulnerabilities of what development is done with; asks the package index, then the OSV database.
audit: | $(BIN)/python
	$(BIN)/python -m pip install -q "pip-audit>=2.7"
	$(BIN)/python tools/audit.py requirements-dev.lock

clean:
	rm -rf .venv .venv-oldest .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache demo dist
	rm -rf docs/_build docs/gallery docs/generated docs/tutorials docs/sg_execution_times.rst
	find src tests benchmarks examples docs -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

$(BIN)/python:
	$(PYTHON) -m venv .venv

# One stamp per extra: .venv/.dev stands for "installed with [dev]", and is renewed when pyproject.toml changes.
.venv/.%: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install -q -e ".[$*]"
	@touch $@
