# Two commands are enough: `make demo` and `make test`. For everyday work there is `make check`. All of them make .venv first.

PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
# With EXTRAS=dev,photos,deep the rival networks are installed and tested too: PyTorch, close to a gigabyte. What the extra
# photos needs is there in any case, without the half gigabyte that ogm-vision asks for: only its file of weights is used.
# The small extra postgres is there too; its tests use PostgreSQL's programs where they are installed, or LIGHTPROOF_POSTGRES.
EXTRAS ?= dev
# pip compiles to bytecode on one core, which takes longer than to install; afterwards it is done on all of them. It must be
# done: what a compiler has to say of other people's code would count as a mistake of ours in the tests.
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --constraint constraints.txt
# Tests wait for servers and browsers, too: a few more processes than cores do no harm. Files keep their order, because those
# of few tests take longest: put last they would leave most processes idle.
JOBS ?= auto

PYTEST = OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses $(JOBS) --dist loadfile --no-loadscope-reorder

.PHONY: setup demo check test test-long lint bench clean

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) --editable '.[$(EXTRAS),postgres]' ai-edge-litert
	$(PIP) --no-deps ogm-vision
	@$(BIN)/python -W ignore -m compileall -qq -j 0 $(VENV)/lib || true # some packages bring files that are no Python
	touch $@

demo: setup
	$(BIN)/lightproof demo

# A minute: the linters and the fast tests.
check: lint
	$(PYTEST) -m "not slow and not long and not data" tests

# All that any machine can run in some minutes; properties are tried with few examples.
test: setup
	$(PYTEST) -m "not long and not data"

# What takes longer: kills, the browser, clusters, all hostile files, real data; and properties with all examples.
test-long: setup
	$(PYTEST) -m "long or data or hypothesis" --hypothesis-profile full

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: setup
	$(BIN)/python -m benchmarks.run

clean:
	rm -rf $(VENV) build dist src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis lightproof-demo lightproof-reproduce lightproof-sweep benchmarks/results.json
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
