"""A few test files of each room and shelf: ``make quick`` runs them, and ``make mutants`` more.

``python -m tests.helpers.quick`` prints them all; with the names of rooms, those of these rooms.
"""

import sys

QUICK = {
    "simulator": ["test_import_direction.py", "test_house_style.py", "test_closures.py"],
    "foundations": ["foundations"],
    "theory": [
        "theory/test_bounds.py",
        "theory/test_certified.py",
        "theory/test_concentration.py",
        "theory/test_filters.py",
        "theory/test_guarantees.py",
        "theory/test_laws.py",
        "theory/test_natural_filter.py",
        "theory/test_odometers.py",
        "theory/test_outward.py",
        "theory/test_pld.py",
        "theory/test_smoke.py",
        "theory/test_trade_off_functions.py",
    ],
    "data": ["data"],
    "mechanisms": [
        "mechanisms/test_above_threshold.py",
        "mechanisms/test_by_hand.py",
        "mechanisms/test_mechanism_input.py",
    ],
    "adversaries": ["adversaries/test_library.py"],
    "identity": ["identity/test_fingerprint.py"],
    "engine": ["engine/test_engine_oracle.py", "engine/test_transcript.py"],
    "runner": [
        "runner/test_merging.py",
        "runner/test_fitting.py",
        "runner/store/test_frames.py",
        "runner/store/test_store.py",
    ],
    "analysis": [
        "analysis/estimation/test_checks.py",
        "analysis/estimation/test_differences.py",
        "analysis/estimation/test_estimates_and_intervals.py",
        "analysis/estimation/test_hockey_stick.py",
        "analysis/estimation/test_tails_and_band.py",
        "analysis/estimation/test_weighted.py",
        "analysis/rare/test_atoms.py",
    ],
    "doors": [
        "doors/cli/test_durations.py",
        "doors/cli/test_wording.py",
        "doors/cli/test_group.py",
    ],
    "worst": ["worst/test_known_values.py"],
    "training": ["training/test_balls_in_bins.py", "training/test_random_allocation_family.py"],
    "auditing": ["auditing/audits/test_spending.py", "auditing/conformance/test_report.py"],
    "teaching": [
        "teaching/games/test_games.py",
        "teaching/claims/test_framework.py",
        "teaching/claims/test_theorems_witnesses.py",
    ],
    "studies": ["studies/test_storing.py"],
    "experiments": ["experiments/test_stages.py"],
}
"""{room: files or folders within ``tests/``}."""


def files(rooms=QUICK):
    """The paths of the quick tests of some rooms, from the root of the project."""
    return [f"tests/{name}" for room in rooms for name in QUICK[room]]


if __name__ == "__main__":
    print(*files(sys.argv[1:] or QUICK))
