"""The public names: one list. Whoever changes the surface changes it here, and the changelog.

The modules below are public, everything else is not; see "The public surface" in CONTRIBUTING.md.
"""

import ast
import importlib
import inspect
import itertools
import subprocess
import sys
from pathlib import Path

import pytest

import simulator
from experiments import stages

SURFACE = {
    "simulator": [
        "ADD_REMOVE",
        "AboveThreshold",
        "ApproxDP",
        "Ask",
        "AuditResult",
        "BlackBox",
        "BoundOnComposition",
        "BoundedRange",
        "Breach",
        "Cells",
        "Challenge",
        "Check",
        "ClusterLost",
        "Composition",
        "Covering",
        "Database",
        "DiscreteGaussian",
        "DiscreteGaussianDP",
        "DominatedDP",
        "DpcomposeError",
        "Estimate",
        "Exponential",
        "Filter",
        "FiniteMechanism",
        "Free",
        "Gaussian",
        "GaussianDP",
        "Geometric",
        "GradientStep",
        "Guarantee",
        "Guarded",
        "Handle",
        "Interactive",
        "InvalidInput",
        "JustAFew",
        "Laplace",
        "LeakyRandomizedResponse",
        "LloydStep",
        "LocalSensitivityMedian",
        "LogisticGradient",
        "Mechanism",
        "Merged",
        "NameAndShame",
        "NaturalFilter",
        "NotApplicable",
        "PoissonSubsampled",
        "PostProcessed",
        "PureDP",
        "REPLACE_ONE",
        "Raised",
        "RandomizedResponse",
        "RareEvent",
        "Recoded",
        "Refusal",
        "Relation",
        "RenyiDP",
        "RenyiFilter",
        "Replay",
        "ReportNoisyMax",
        "Result",
        "RogersFilter",
        "Rule",
        "SampleAndAggregate",
        "SampledWithoutReplacement",
        "ScalarMechanism",
        "Scalars",
        "ShuffledDP",
        "SubsampledDP",
        "SmoothSensitivityMedian",
        "Staircase",
        "Steered",
        "StoredPart",
        "SubsampledGaussianDP",
        "SumFilter",
        "Table",
        "Tilted",
        "TruncatedNoise",
        "TwoPartyCount",
        "View",
        "WhitehouseFilter",
        "WorkerLost",
        "WorstCase",
        "ZCDP",
        "ZCDPFilter",
        "audit",
        "audit_answers",
        "audit_composition",
        "audit_views",
        "bound",
        "bounds_for",
        "clipped_mean",
        "clipped_sum",
        "counting_query",
        "counting_scores",
        "estimate_rare",
        "function_query",
        "histogram_query",
        "merge_folders",
        "parse_filter",
        "parse_guarantee",
        "replay",
        "rule",
        "score_query",
        "simulate",
        "simulate_part",
        "verify",
        "worst_case",
        "worst_odometer",
    ],
    "simulator.adversaries": [
        "Challenge",
        "Rule",
        "entries",
        "make",
        "rule",
    ],
    "simulator.analysis.estimation": [
        "BoundOutcome",
        "BoundVerdict",
        "DeltaBand",
        "EmpiricalTradeOff",
        "Estimate",
        "Estimates",
        "MomentBand",
        "TailBand",
        "betting_interval",
        "betting_lower",
        "betting_upper",
        "clopper_pearson",
        "delta",
        "delta_band",
        "delta_log_bound",
        "difference",
        "empirical_bernstein",
        "empirical_trade_off",
        "epsilon",
        "exchanged_log_weights",
        "moment_band",
        "proportion_lower",
        "proportion_upper",
        "splitting_product",
        "splitting_runs",
        "tail",
        "tail_band",
        "tail_log_bound",
        "tail_violation",
        "violation",
        "weighted_delta",
        "weighted_epsilon",
        "weighted_lower_limit",
        "weighted_tail",
        "weighted_violation",
    ],
    "simulator.mechanisms": [
        "AboveThreshold",
        "AdditiveNoise",
        "Ask",
        "BlackBox",
        "Cells",
        "DiscreteGaussian",
        "Exponential",
        "FiniteMechanism",
        "Free",
        "Gaussian",
        "Geometric",
        "GradientStep",
        "Handle",
        "Interactive",
        "JustAFew",
        "Laplace",
        "LeakyRandomizedResponse",
        "LloydStep",
        "LocalSensitivityMedian",
        "Mechanism",
        "NameAndShame",
        "Pair",
        "PoissonSubsampled",
        "PostProcessed",
        "Raised",
        "RandomizedResponse",
        "Recoded",
        "ReportNoisyMax",
        "SampleAndAggregate",
        "SampledWithoutReplacement",
        "ScalarMechanism",
        "Scalars",
        "SmoothSensitivityMedian",
        "Staircase",
        "Table",
        "TruncatedNoise",
        "TwoPartyCount",
        "lloyd_centres",
    ],
    "simulator.data.queries": [
        "Answer",
        "ClippedSum",
        "Column",
        "CountingQuery",
        "FunctionQuery",
        "HistogramQuery",
        "LogisticGradient",
        "MeanOfBoundedSize",
        "MeanOfPublicSize",
        "PredicateQuery",
        "Query",
        "ScalarQuery",
        "ScoreQuery",
        "Sensitivity",
        "check_pair",
        "clipped_mean",
        "clipped_sum",
        "counting_query",
        "counting_scores",
        "exceeded",
        "function_query",
        "histogram_query",
        "score_query",
    ],
    "simulator.trials.testing": [
        "PrivacyViolation",
        "assert_accountant",
        "assert_composition",
        "assert_private",
    ],
    "simulator.theory": [
        "Answer",
        "ApproxDP",
        "Bound",
        "BoundOnComposition",
        "BoundedRange",
        "Bracket",
        "Calibrated",
        "Composition",
        "DiscreteGaussianDP",
        "DominatedDP",
        "FILTERS",
        "Filter",
        "FiniteLaw",
        "GaussianDP",
        "GaussianLaw",
        "GaussianMixtureLaw",
        "GaussianTradeOff",
        "Guarantee",
        "KINDS",
        "LaplaceLaw",
        "MixedLaw",
        "MixtureOdometer",
        "NaturalFilter",
        "PLD",
        "ParameterScale",
        "PiecewiseTradeOff",
        "PoissonSubsampledLaw",
        "PrivacyLossLaw",
        "PureDP",
        "RenyiDP",
        "RenyiFilter",
        "RogersFilter",
        "Rung",
        "RunningFilter",
        "RunningOdometer",
        "SampledWithoutReplacementLaw",
        "ShuffledDP",
        "SubsampledDP",
        "SubsampledGaussianDP",
        "SumFilter",
        "TRANSFORMS",
        "TradeOff",
        "Transform",
        "TruncatedNoiseLaw",
        "WhitehouseFilter",
        "ZCDP",
        "ZCDPFilter",
        "all_bounds",
        "azuma_absolute_tail",
        "azuma_deviation",
        "azuma_tail",
        "bernstein_tail",
        "bound",
        "bounded_range_law",
        "bounds_for",
        "calibrate",
        "calibrate_certified",
        "compose_laws",
        "corollary_3_21",
        "discrete_gaussian",
        "discrete_laplace",
        "discretise",
        "freedman_deviation",
        "freedman_tail",
        "group",
        "hoeffding_tail",
        "parallel",
        "parse_filter",
        "parse_guarantee",
        "randomized_response",
        "rounded_gaussian",
        "rounded_laplace",
        "sampled_with_replacement",
        "shuffled",
        "shuffled_law",
        "staircase",
        "subsampled",
        "tail_bounds",
    ],
    "simulator.theory.events": [
        "AboveThresholdEvent",
        "Account",
        "ComposedEvent",
        "DiscreteEvent",
        "DiscreteGaussianEvent",
        "DiscreteLaplaceEvent",
        "EventRounds",
        "EventTree",
        "GaussianEvent",
        "GaussianMixtureEvent",
        "LaplaceEvent",
        "NothingEvent",
        "PromiseEvent",
        "RandomizedResponseEvent",
        "RepeatedEvent",
        "SelectedEvent",
        "StaircaseEvent",
        "SubsampledEvent",
        "TreeAggregationEvent",
        "above_threshold",
        "compose",
        "discrete",
        "discrete_gaussian",
        "discrete_laplace",
        "from_dp_accounting",
        "from_opacus",
        "gaussian",
        "gaussian_mixture",
        "laplace",
        "nothing",
        "promise",
        "randomized_response",
        "read_account",
        "select",
        "self_compose",
        "staircase",
        "subsampled",
        "tree_aggregation",
    ],
}
"""Each public module, and its public names."""

NAMES = [(module, name) for module, names in SURFACE.items() for name in names]
STUB = Path(simulator.__file__).with_suffix(".pyi")


def constants_with_docstrings(module):
    """Names that a file of the module assigns, with a string right below that says what it is."""
    found = set()
    for path in Path(module.__file__).parent.rglob("*.py"):
        body = ast.parse(path.read_text(encoding="utf-8")).body
        for node, below in itertools.pairwise(body):
            if not (isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)):
                continue
            targets = node.targets if isinstance(node, ast.Assign) else [node]
            found |= {getattr(getattr(t, "target", t), "id", None) for t in targets}
    return found


def imported_by(stub):
    """The public names that a stub imports, and those in its ``__all__``."""
    tree = ast.parse(stub)
    imported = [
        alias.asname or alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]
    (listed,) = (
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and node.targets[0].id == "__all__"
    )
    return imported, listed


@pytest.mark.parametrize("module", SURFACE)
def test_a_public_module_has_the_names_listed_here(module):
    names = importlib.import_module(module).__all__
    assert len(set(names)) == len(names)
    assert set(names) - {"__version__"} == set(SURFACE[module])


@pytest.mark.parametrize(("module", "name"), NAMES, ids=str)
def test_a_public_name_can_be_imported_and_is_documented(module, name):
    home = importlib.import_module(module)
    public = getattr(home, name)
    if not (inspect.isclass(public) or inspect.isroutine(public)):
        if name in constants_with_docstrings(home):
            return
        public = type(public)
        assert public.__module__.startswith("simulator."), f"write below {name} what it is"
    text = inspect.getdoc(public)
    assert text
    assert not text.startswith(f"{name}("), "dataclass has made this up"


def test_the_stub_imports_what_it_lists():
    imported, listed = imported_by(STUB.read_text(encoding="utf-8"))
    assert sorted([*imported, "__version__"]) == sorted(listed)
    assert sorted(imported) == sorted(simulator.__all__)
    assert set(dir(simulator)) >= set(imported)


def test_a_star_import_gives_every_name():
    given = {}
    exec("from simulator import *", given)
    assert set(given) >= set(SURFACE["simulator"])


def test_importing_the_package_loads_nothing_heavy():
    loaded = subprocess.run(
        [sys.executable, "-c", "import simulator, sys; print(*sys.modules)"],
        cwd=stages.ROOT, capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    assert "simulator" in loaded
    assert not {"numpy", "scipy", "numba", "matplotlib", "joblib", "click"} & set(loaded)


def test_contributing_names_the_public_modules():
    text = (stages.ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.split("\n## The public surface\n")[1].split("\n## ")[0]
    assert [module for module in SURFACE if f"`{module}`" not in section] == []
