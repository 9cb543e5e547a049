"""The mechanisms on which StatDP, DP-Finder and DP-Sniper were evaluated, with their exact epsilon.

Ding, Wang, Wang, Zhang and Kifer 2018; Bichsel, Gehr, Drachsler-Cohen, Tsankov and Vechev 2018;
Bichsel, Steffen, Bogunovic and Vechev 2021. Some keep what they claim, others were published
broken. Floats are cut off at a grid of 2^-20, so that the exact values hold; what plain floats give
away is an entry of its own.
"""

from experiments.suite.mechanisms import (
    laplace,
    noisy_histogram,
    noisy_max,
    prefix_sum,
    rappor,
    snapping,
    sparse_parallel,
    sparse_values,
    sparse_vector,
    truncated_geometric,
)
from experiments.suite.mechanisms.entry import AnswerLaw, StandardMechanism
from simulator.auditing.audits.patterns import Input, patterns

STANDARD: dict[str, StandardMechanism] = {
    each.name: each
    for module in (
        laplace,
        snapping,
        truncated_geometric,
        noisy_histogram,
        noisy_max,
        sparse_vector,
        rappor,
        sparse_parallel,
        prefix_sum,
        sparse_values,
    )
    for each in module.MECHANISMS
}
"""Every mechanism by name."""

__all__ = ["STANDARD", "AnswerLaw", "Input", "StandardMechanism", "patterns"]
