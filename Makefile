# Cyclescope: `make bench` and `make test` do everything, set-up included.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := build

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OUT ?= results
BENCH_FLAGS ?=

# Built firmware and the compiler's cache stay in the checkout; `make clean` drops them.
export CYCLESCOPE_CACHE ?= $(CURDIR)/.cache
export VIRTUAL_ENV := $(CURDIR)/$(VENV)
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_QUIET := 1
# Kept between processes, also where the user's are not: the tests start many.
export PYTHONDONTWRITEBYTECODE :=
# As pip does: whoever uses a proxy has its certificate in the system's store.
export UV_SYSTEM_CERTS ?= 1

ENGINE_SOURCES := Cargo.toml Cargo.lock pyproject.toml \
	$(shell find engine debugger bindings \( -name '*.rs' -o -name '*.toml' \) -not -path '*/tests/*' 2>/dev/null)

.PHONY: build bench sensitivity uncertainty results-in-docs test test-all test-engine test-package \
	differential fuzz speed speed-trend lint lint-rust lint-package deny format docs wheel try-wheel \
	sdist changelog release-notes hooks debian-packages lock clean

## build: set up .venv, build the engine and install the package into it
build: $(VENV)/.installed

## bench: repeat the published measurements, and write results/
#  (BENCH_FLAGS=--explain: all runs, each with its waits and a profile)
bench: build
	$(BIN)/cyclescope bench --out $(OUT) $(BENCH_FLAGS)

## sensitivity: measure how cells depend on each assumed value, into published/sensitivity.csv
sensitivity: build
	$(BIN)/cyclescope bench --sensitivity --out $(OUT)
	cp $(OUT)/sensitivity.csv published/sensitivity.csv

## uncertainty: measure the range of each cell, into published/uncertainty.csv
uncertainty: build
	$(BIN)/cyclescope bench --uncertainty --out $(OUT)
	cp $(OUT)/uncertainty.csv published/uncertainty.csv

## results-in-docs: renew the numbers in README.md and docs/ from the results of `make bench`
results-in-docs: build
	$(BIN)/python scripts/results $(OUT)/results.json

## test: all tests in their short form
test: build
	@+$(MAKE) --no-print-directory -j2 test-engine test-package

## test-all: all tests at full length; each night
test-all: build
	@+CYCLESCOPE_TESTS=all $(MAKE) --no-print-directory -j2 test-engine test-package \
		ENGINE_TEST_FLAGS="$(foreach crate,$(ENGINE_CRATES),--config 'profile.bench.package.$(crate).opt-level=1')"
	scripts/test-aarch64

# What is started may call make itself, and has no part in this one's jobs.
ALONE := env -u MAKEFLAGS -u MFLAGS

# With the bindings named, which have no tests of their own, all crates' features are those of the
# build, so nothing is compiled again: the debugger is tested with the very engine that was built.
CARGO_TEST := $(ALONE) cargo test --locked --quiet --package cyclescope-bindings

# The simulator, from what is hot to what puts boards together.
ENGINE_CRATES := cyclescope-engine cyclescope-devices cyclescope-machine

## test-engine: the tests of the Rust crates
test-engine: build
	$(CARGO_TEST) --profile bench $(ENGINE_CRATES:%=--package %) $(ENGINE_TEST_FLAGS)
	$(CARGO_TEST) --release --package cyclescope-debugger

## test-package: the tests of the Python package and the command line
test-package: build
	$(ALONE) $(BIN)/python -m pytest -n auto --dist worksteal

## differential: compare the cores with Unicorn over INSTRUCTIONS instructions
INSTRUCTIONS ?= 100000000
differential: build
	CYCLESCOPE_TESTS=all CYCLESCOPE_DIFFERENTIAL=$(INSTRUCTIONS) $(BIN)/python -m pytest tests/differential

## fuzz: run random inputs for MINUTES, or INPUTS of them; REPLAY=FILE repeats one
MINUTES ?= 3
FUZZ_FLAGS ?=
fuzz: build
	PYTHONPATH=tests:tests/support $(BIN)/python -m fuzz \
		$(if $(REPLAY),--replay $(REPLAY),$(if $(INPUTS),--inputs $(INPUTS),--minutes $(MINUTES))) $(FUZZ_FLAGS)

## speed: measure the speed of the simulator, beside QEMU if it is installed
SPEED_FLAGS ?=
speed: build
	$(BIN)/python bench/speed $(SPEED_FLAGS)

## speed-trend: a row of speeds for this commit, added to results/speed-trend.csv; each night
#  (TREND_FLAGS: options and parts of bench/speed, instead of those that run each night)
TREND_FLAGS ?= --pairs 3 qemu uncached waiting start-up
speed-trend: build
	mkdir -p $(OUT)
	$(BIN)/python bench/speed --out $(OUT)/speed.json $(TREND_FLAGS)
	$(BIN)/python scripts/speed-trend $(OUT)/speed.json $(OUT)/speed-trend.csv

## lint: formatting and lints of both languages, types, prose, spelling
lint: lint-rust lint-package

## lint-rust: formatting and lints of the Rust crates
#  (.ci/run lints while it compiles: scripts/rustc-with-clippy)
lint-rust:
	cargo fmt --all --check
	cargo clippy --release --workspace --all-targets --locked --quiet -- -D warnings

## lint-package: formatting, lints, types, prose and spelling of everything else
lint-package: $(VENV)/.requirements
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/python scripts/prose
	$(BIN)/typos

## deny: licences, advisories and sources of all crates, by cargo-deny (cargo install cargo-deny)
#  (without a network: make deny DENY_CHECKS="bans licenses sources")
DENY_CHECKS ?= advisories bans licenses sources
deny:
	@cargo deny --version >/dev/null 2>&1 || \
		{ echo "make: cargo-deny is not installed: cargo install --locked cargo-deny" >&2; exit 1; }
	cargo deny --locked check $(DENY_CHECKS)

## format: format both languages
format: build
	cargo fmt --all
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

## docs: build the documentation site in site/; broken links are errors
docs: $(VENV)/.docs-requirements
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --clean

## wheel: build a wheel in dist/
wheel: build
	rm -f dist/*.whl
	$(BIN)/maturin build --release --locked --quiet --out dist

## try-wheel: install the wheel into a fresh environment, and use its boards, firmware and tables
try-wheel: build
	scripts/try-wheel dist/*.whl

## sdist: build the source archive in dist/
sdist: $(VENV)/.requirements
	rm -f dist/*.tar.gz
	$(BIN)/maturin sdist --out dist

## changelog: move the fragments of changelog/ into CHANGELOG.md, as the section of Cargo.toml's version
changelog:
	$(PYTHON) scripts/changelog assemble

## release-notes: the section of CHANGELOG.md for TAG, checked against the version, into dist/
release-notes:
	mkdir -p dist
	$(PYTHON) scripts/changelog notes "$${TAG:-}" dist/release-notes.md

## hooks: have git check the subjects of commits
hooks:
	@scripts/commit-subject/install

## debian-packages: the optional tools that some tests use, on Debian and Ubuntu
debian-packages:
	scripts/install-debian-packages

## lock: pin what requirements/*.in and pyproject.toml ask for, with hashes
lock: $(VENV)/.requirements
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
		--no-annotate --custom-compile-command "make lock" \
		--output-file requirements/dev.txt pyproject.toml requirements/dev.in
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
		--no-annotate --custom-compile-command "make lock" --constraint requirements/dev.txt \
		--output-file requirements/docs.txt requirements/docs.in

## clean: delete everything that was built
clean:
	rm -rf $(VENV) .cache target dist results site cyclescope/_engine*.so

# uv takes a tenth of pip's processor time; where only pip is set up for the user's index, pip does it.
INSTALL := install() { $(BIN)/uv pip install --quiet --require-hashes -r "$$1" || \
	$(BIN)/python -m pip install --require-hashes -r "$$1"; }; install

# The engine's last part is one unit on one processor: the other has time for Python's bytecode.
$(VENV)/.installed: $(VENV)/.requirements $(ENGINE_SOURCES)
	@+$(MAKE) --no-print-directory -j2 $(VENV)/.engine $(VENV)/.bytecode
	@$(BIN)/python -m compileall -q cyclescope
	@touch $@

# Only maturin compiles the bindings: what it sets for them would have them compiled again after a
# plain `cargo build`.
$(VENV)/.engine: $(VENV)/.requirements $(ENGINE_SOURCES)
	@command -v cargo >/dev/null || \
		{ echo "make: cargo is not installed: see https://rustup.rs" >&2; exit 1; }
	@echo "make: the engine is compiled: some minutes, once" >&2
	@$(BIN)/maturin develop --release --locked --quiet
	@touch $@

# Else each of the first processes would compile what it imports.
$(VENV)/.bytecode: $(VENV)/.requirements
	@nice -n 19 $(BIN)/python -m compileall -qq -x '/tests?/' $(VENV)/lib || true
	@touch $@

$(VENV)/.requirements: requirements/dev.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "make: $(PYTHON) is older than 3.11: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@echo "make: Python's packages go into $(VENV)" >&2
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --require-hashes --no-deps \
		-r <(awk '/^uv==/ { found = 1 } found { print } found && !/\\$$/ { exit }' $<)
	@$(INSTALL) $<
	@touch $@

$(VENV)/.docs-requirements: requirements/docs.txt $(VENV)/.requirements
	@$(INSTALL) $<
	@touch $@
