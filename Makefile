# Every target but clean makes .venv when it is missing and installs the project into it.
PYTHON ?= python3
VENV   := .venv
BIN     = $(VENV)/bin
READY  := $(VENV)/.ready
ALONE  := $(VENV)/.installed

# Libraries on trial have environments of their own: their requirements exclude each other.
CONFORM    := build/conform
SMARTNOISE := build/conform-smartnoise
# Two need Python 3.13.
PYTHON313  ?= python3.13
# So have the pipelines: two libraries exclude our numpy, and work with it.
PIPELINES  := build/pipelines
# So have auditors on trial.
AUDITORS   := build/auditors
# So have the accountants that the bench compares with.
PEERS      := build/peers
# So have the lowest versions of the requirements.
LOWEST     := build/lowest
# So has each newer Python that is here, with the newest versions.
PYTHONS    ?= python3.12 python3.13 python3.14
NEWEST      = $(foreach each,$(PYTHONS),$(if $(shell $(each) -c "print(1)" 2>/dev/null),build/newest-$(each)))
# So has the site's generator. The one file that renders formulas comes from npm, once.
SITE       := build/site/env
MATHJAX    := build/site/scripts/node_modules/mathjax/es5/tex-svg.js

# Results in results/ are made by one program, which records what each was made from.
MAKE_RESULTS = $(BIN)/python -m experiments.results make

# A worker of pytest takes neighbouring tests, which share what is compiled, and idle ones take over.
PARALLEL := -n auto --dist worksteal
# pytest rewrites the assertions of every test file: keep what it makes, whatever the shell says
unexport PYTHONDONTWRITEBYTECODE

MAKEFLAGS += --jobs=2

.DEFAULT_GOAL := help

.PHONY: help install plots status results quick test lowest newest nightly mutants mutants-by-chance check claims knobs \
        bench bench-change coverage suite faults worst \
        filters filter-trial conform accountants auditors one-run shuffled-ends pipelines truths notebooks site site-archive \
        site-check release lint clean

help:            ## list the targets
	@grep -hE '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## */  make \1	/'

COMMA := ,

define into_venv
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "error: Python 3.11 or newer is needed; name one with: make PYTHON=python3.12" >&2; exit 2; }
	@echo "installing into $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check --editable '$(1)'
	@touch $@
endef

$(READY): pyproject.toml
	$(call into_venv,.[dev])

$(ALONE): pyproject.toml
	$(call into_venv,.)

$(CONFORM)/.ready: VENV := $(CONFORM)
$(CONFORM)/.ready: pyproject.toml
	$(call into_venv,.[conform])

$(PIPELINES)/.ready: VENV := $(PIPELINES)
$(PIPELINES)/.ready: pyproject.toml
	$(call into_venv,.[pipelines])
	@$(PIPELINES)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps \
	  dpmm==0.1.9 disjoint-set==0.7.4 synthcity==0.2.12

$(AUDITORS)/.ready: VENV := $(AUDITORS)
$(AUDITORS)/.ready: PYTHON := $(shell $(PYTHON313) -c "print('$(PYTHON313)')" 2>/dev/null || echo $(PYTHON))
$(AUDITORS)/.ready: pyproject.toml
	$(call into_venv,.[auditors])

$(PEERS)/.ready: VENV := $(PEERS)
$(PEERS)/.ready: pyproject.toml
	$(call into_venv,.[dev$(COMMA)peers])

$(LOWEST)/.ready: pyproject.toml
	@echo "installing into $(LOWEST)"
	@$(PYTHON) -m venv $(LOWEST)
	@$(PYTHON) tests/helpers/lowest.py > $(LOWEST)/constraints.txt
	@$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check \
	  --constraint $(LOWEST)/constraints.txt --editable . pytest hypothesis
	@touch $@

build/newest-%/.ready: pyproject.toml
	@echo "installing into build/newest-$*"
	@$* -m venv build/newest-$*
	@build/newest-$*/bin/python -m pip install --quiet --disable-pip-version-check --upgrade --editable '.[dev]'
	@touch $@

$(SMARTNOISE)/.ready: VENV := $(SMARTNOISE)
$(SMARTNOISE)/.ready: pyproject.toml
	$(call into_venv,.[conform-smartnoise])

$(CONFORM)-opake/.ready: VENV := $(CONFORM)-opake
$(CONFORM)-opake/.ready: PYTHON := $(PYTHON313)
$(CONFORM)-opake/.ready: pyproject.toml
	$(call into_venv,.[conform-opake])

$(CONFORM)-tmlt/.ready: VENV := $(CONFORM)-tmlt
$(CONFORM)-tmlt/.ready: PYTHON := $(PYTHON313)
$(CONFORM)-tmlt/.ready: pyproject.toml
	$(call into_venv,.[conform-tmlt])

$(SITE)/.ready: VENV := $(SITE)
$(SITE)/.ready: pyproject.toml
	$(call into_venv,.[dev$(COMMA)site])

$(MATHJAX):
	@command -v npm >/dev/null || \
	  { echo "error: npm is needed: it brings MathJax, which renders the formulas" >&2; exit 2; }
	@npm install --silent --no-save --ignore-scripts --prefix build/site/scripts mathjax@3.2.2

install: $(ALONE)   ## install dpcompose alone, without the tools that the other targets need

plots: $(READY)   ## simulate and draw every figure that is out of date, into results/
	$(MAKE_RESULTS) figures
	@echo "figures: results/figures/, their data: results/data/"

status: $(READY)   ## which results are of today's code, and which files have changed since the others were made
	@$(BIN)/python -m experiments.results status $(STRICT)

results: $(READY)   ## make every result that is not of today's code, two at a time; begun again it goes on (all: some four hours)
	$(MAKE_RESULTS)

quick: $(READY)   ## after every edit: a few test files of each room, within 90 seconds
	$(BIN)/python -m pytest $(PARALLEL) $$($(BIN)/python -m tests.helpers.quick)

test: $(READY)   ## before every commit: all tests but the slow ones, some five minutes
	$(BIN)/python -m pytest $(PARALLEL)

lowest: $(LOWEST)/.ready   ## a short part of the tests with the lowest versions that pyproject.toml declares
	$(LOWEST)/bin/python -m pytest tests/engine/test_without_numba.py \
	  tests/runner/store/test_assembly.py tests/runner/store/test_store.py \
	  tests/runner/store/test_strangers_folders.py

newest: $(READY) $(NEWEST:%=%/.ready)   ## the quick tests on each newer Python that is on the path, with the newest versions
	@test -n "$(NEWEST)" || { echo "error: none of $(PYTHONS) is on the path" >&2; exit 2; }
	@set -e; for each in $(NEWEST); do \
	  $$each/bin/python -c 'import sys, numpy, scipy; print(sys.version.split()[0], numpy.__version__, scipy.__version__)'; \
	  $$each/bin/python -m pytest $(PARALLEL) $$($(BIN)/python -m tests.helpers.quick); done

# each by its path: a name on the path may be a shim
RELEASED ?= $(foreach each,python3.11 $(PYTHONS),$(shell $(each) -c "import sys; print(sys.executable)" 2>/dev/null))

release: $(READY)   ## build wheel and source archive into dist/, and try both without a network in fresh environments of each Python that is on the path (WHOLE=--whole: with all tests)
	@$(BIN)/python -m tests.helpers.release $(WHOLE) $(RELEASED)

nightly: $(READY)   ## before a release: the slow tests, hypothesis's properties on a hundred times as many new examples, and the site
	$(BIN)/python -m pytest $(PARALLEL) -m nightly
	$(BIN)/python -m pytest $(PARALLEL) -m "hypothesis and not nightly" --hypothesis-profile nightly
	$(MAKE) site-check

mutants: $(READY)   ## after a change of the tests: plant 60 defects one at a time and count those the tests catch, into results/mutations.md (some five minutes)
	$(MAKE_RESULTS) --always mutations

mutants-by-chance: $(READY)   ## after a change of the tests: plant 500 changes of the core that are drawn by chance, into results/mutants_by_chance.md (an hour; what has not changed is kept)
	$(MAKE_RESULTS) --always mutants-by-chance

check: $(READY)   ## hold the bounds against every adversary of the library
	$(BIN)/dpcompose verify

claims: $(READY)   ## check every claim of the sources, into results/claims.md and .json
	$(MAKE_RESULTS) --always claims

knobs: $(READY)   ## play the claims at other values of their knobs, where something has changed, into results/knobs.json
	$(MAKE_RESULTS) --always knobs

bench: $(READY)   ## measure speed and accuracy beside other libraries, into results/benchmarks.json
	$(MAKE_RESULTS) --always benchmarks

bench-change: $(READY)   ## whether this checkout is slower than the revision before it, or than REVISION=..., in some two minutes
	$(BIN)/python -m experiments.benchmarks.against $(REVISION)

coverage: $(READY)   ## count how often intervals of rare events miss, into results/coverage.json and .md
	$(MAKE_RESULTS) --always coverage

faults: $(READY)   ## kill, damage and starve runs on purpose, into results/faults.json and .md (some fifteen minutes)
	$(MAKE_RESULTS) --always faults

suite: $(READY)   ## audit the standard mechanisms, into results/suite.json and .md (some twenty minutes)
	$(MAKE_RESULTS) --always suite

worst: $(READY)   ## write down what the search for worst adversaries has found, into results/worst/
	$(MAKE_RESULTS) figures worst

attacks: $(READY)   ## search for adversaries that break known claims, and keep the strongest as programs in results/worst/ (some fifteen minutes)
	$(MAKE_RESULTS) --always attacks

filters: $(READY)   ## how many rounds certified and published filters admit, into results/filters/ (some twenty minutes)
	$(MAKE_RESULTS) --always filters

filter-trial: $(READY)   ## filters of recent papers and odometers against the worst adversaries, into results/filters/ (some five minutes)
	$(MAKE_RESULTS) --always filter-trial

conform: $(READY)   ## try other libraries' accountants, filters and odometers, into results/conformance.md and accountants.md
	$(MAKE_RESULTS) --always conformance accountants

accountants: $(READY)   ## a table of the libraries' accountants: error, refusals, time, into results/accountants.md (some ten minutes)
	$(MAKE_RESULTS) --always accountants

pipelines: $(READY)   ## try pipelines of other libraries, into results/pipelines.md and .json
	$(MAKE_RESULTS) --always pipelines

auditors: $(READY)   ## let other libraries' auditors judge mechanisms of known epsilon, and how good one can be, into results/auditors.md and auditing_limits.md (some eight minutes)
	$(MAKE_RESULTS) --always auditors auditing-limits

shuffled-ends: $(READY)   ## how far both ends of shuffled reports are apart, into results/shuffled_ends.md and .json (some ten minutes)
	$(MAKE_RESULTS) --always shuffled-ends

one-run: $(READY)   ## play the audit of one run 2,000 times in each game, into results/one_run.md and .json (some ten minutes)
	$(MAKE_RESULTS) --always one-run

truths: $(READY)   ## answer some 2,000 compositions and 200 games with certified ends, into results/truths/ (some three minutes)
	$(MAKE_RESULTS) --always truths

notebooks: $(SITE)/.ready   ## execute the notebooks of the classes, and keep their outputs
	$(SITE)/bin/python -m experiments.notebooks

site: $(SITE)/.ready $(MATHJAX)   ## build the site into build/site/html, in some two minutes: classes, how-to, ledger, gallery, reference
	@$(SITE)/bin/python -m experiments.site

# equal pages make equal bytes: no times, owners or modes of this machine
site-archive: site   ## the built site as an archive, into dist/
	@mkdir -p dist
	@tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX \
	  --exclude=.buildinfo --exclude=.doctrees --create --directory=build/site html \
	  | gzip -9 --no-name > dist/site.tar.gz
	@echo "dist/site.tar.gz"

site-check: site   ## try the built site: links, pictures, formulas, search, on a phone; the page of a study; and every number of the notebooks
	$(SITE)/bin/python -m experiments.notebooks --check
	$(SITE)/bin/python -m pytest -rs tests/experiments/test_site_built.py tests/studies/test_report.py

lint: $(READY)   ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy || { test $$? -eq 2 && $(BIN)/mypy --num-workers 0; }   # workers may start too late on a busy machine

# .hypothesis stays: it holds the examples that failed by night
clean:           ## remove what make has built, but no committed result
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache
	find simulator tests experiments -name __pycache__ -type d -prune -exec rm -rf {} +
