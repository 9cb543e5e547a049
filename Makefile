# Every target but clean makes .venv when it is missing and installs the project into it.
PYTHON ?= python3
VENV   := .venv
BIN     = $(VENV)/bin
READY  := $(VENV)/.ready
ALONE  := $(VENV)/.installed

# Libraries on trial have environments of their own: their requirements exclude each other.
CONFORM    := build/conform
SMARTNOISE := build/conform-smartnoise
# Two need Python 3.13; without one they are absent.
PYTHON313  ?= python3.13
WITH313    := $(if $(shell $(PYTHON313) -c "print(1)" 2>/dev/null),opake tmlt)
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

# A figure is a script in experiments/figures/: its data depend on the code that the simulation
# used (listed in build/depends/; all of it before the first run), its pictures on data and style.
SOURCES := $(shell find simulator experiments -name '*.py' -o -name '*.csv' -o -name '*.mplstyle')
FIGURES := $(filter-out __init__,$(basename $(notdir $(wildcard experiments/figures/*.py))))
DATA    := $(FIGURES:%=results/data/%.json)
PICTURES := $(FIGURES:%=results/figures/%.svg) $(FIGURES:%=results/figures/%.png)
STYLE   := $(wildcard simulator/analysis/plots/*.py simulator/analysis/plots/*.mplstyle experiments/drawing/*.py)
UNKNOWN := $(filter-out $(basename $(notdir $(wildcard build/depends/*.d))),$(FIGURES))

# A worker of pytest takes neighbouring tests, which share what is compiled, and idle ones take over.
PARALLEL := -n auto --dist worksteal
# pytest rewrites the assertions of every test file: keep what it makes, whatever the shell says
unexport PYTHONDONTWRITEBYTECODE

# two figures at a time: compiling a rule keeps one core busy
MAKEFLAGS += --jobs=2

.DEFAULT_GOAL := help

.PHONY: help install plots quick test lowest newest release nightly mutants check claims knobs bench coverage suite faults worst \
        filters filter-trial conform accountants auditors one-run pipelines truths notebooks site site-archive site-check lint clean
.SECONDARY: $(DATA)

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
$(AUDITORS)/.ready: PYTHON := $(if $(WITH313),$(PYTHON313),$(PYTHON))
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

plots: $(PICTURES)   ## simulate and draw every figure that is out of date, into results/
	@echo "figures: results/figures/, their data: results/data/"

$(DATA): results/data/%.json: experiments/figures/%.py $(READY)
	@$(BIN)/python -m experiments simulate $*

$(UNKNOWN:%=results/data/%.json): $(SOURCES)

-include $(wildcard build/depends/*.d)

results/figures/%.svg results/figures/%.png: results/data/%.json experiments/figures/%.py $(STYLE)
	@$(BIN)/python -m experiments draw $*

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
	$(BIN)/python -m tests.helpers.mutations

check: $(READY)   ## hold the bounds against every adversary of the library
	$(BIN)/dpcompose verify

claims: $(READY)   ## check every claim of the sources, into results/claims.md and .json
	$(BIN)/python -m experiments.ledger

knobs: $(READY)   ## play the claims at other values of their knobs, where something has changed, into results/knobs.json
	@$(BIN)/python -m experiments.site.played

bench: $(PEERS)/.ready   ## measure speed and accuracy beside other libraries, into results/benchmarks.json
	$(PEERS)/bin/python -m experiments.benchmarks

coverage: $(READY)   ## count how often intervals of rare events miss, into results/coverage.json and .md
	$(BIN)/python -m experiments.coverage

faults: $(READY)   ## kill, damage and starve runs on purpose, into results/faults.json and .md (some fifteen minutes)
	$(BIN)/python -m experiments.faults

suite: $(READY)   ## audit the standard mechanisms, into results/suite.json and .md (some twenty minutes)
	$(BIN)/python -m experiments.suite

worst: plots   ## write down what the search for worst adversaries has found, into results/worst/
	$(BIN)/python -m experiments.worst_texts

attacks: $(READY)   ## search for adversaries that break known claims, and keep the strongest as programs in results/worst/ (some fifteen minutes)
	$(BIN)/python -m experiments.attacks

filters: $(READY)   ## how many rounds certified and published filters admit, into results/filters/ (some twenty minutes)
	$(BIN)/python -m experiments.filters

filter-trial: $(READY)   ## filters of recent papers and odometers against the worst adversaries, into results/filters/ (some five minutes)
	$(BIN)/python -m experiments.filter_trial

ELSEWHERE = --python smartnoise-sql=$(SMARTNOISE)/bin/python \
            $(foreach name,$(WITH313),--python $(subst tmlt,tmlt-core,$(name))=$(CONFORM)-$(name)/bin/python)
READY_TO_TRY = $(CONFORM)/.ready $(SMARTNOISE)/.ready $(WITH313:%=$(CONFORM)-%/.ready)

conform: $(READY_TO_TRY)   ## try other libraries' accountants, filters and odometers, into results/conformance.md and accountants.md
	$(CONFORM)/bin/python -m experiments.conformance $(ELSEWHERE)
	$(CONFORM)/bin/python -m experiments.accountants $(ELSEWHERE)

accountants: $(READY_TO_TRY)   ## a table of the libraries' accountants: error, refusals, time, into results/accountants.md (some ten minutes)
	$(CONFORM)/bin/python -m experiments.accountants $(ELSEWHERE)

pipelines: $(PIPELINES)/.ready   ## try pipelines of other libraries, into results/pipelines.md and .json
	$(PIPELINES)/bin/python -m experiments.pipelines

auditors: $(AUDITORS)/.ready   ## let other libraries' auditors judge mechanisms of known epsilon, and how good one can be, into results/auditors.md and auditing_limits.md (some eight minutes)
	$(AUDITORS)/bin/python -m experiments.auditors
	$(AUDITORS)/bin/python -m experiments.auditing_limits

one-run: $(READY)   ## play the audit of one run 2,000 times in each game, into results/one_run.md and .json (some ten minutes)
	$(BIN)/python -m experiments.one_run

truths: $(READY)   ## answer some 2,000 compositions and 200 games with certified ends, into results/truths/ (some three minutes)
	$(BIN)/python -m experiments.truths

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
	$(BIN)/mypy

# .hypothesis stays: it holds the examples that failed by night
clean:           ## remove what make has built, but no committed result
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache
	find simulator tests experiments -name __pycache__ -type d -prune -exec rm -rf {} +
