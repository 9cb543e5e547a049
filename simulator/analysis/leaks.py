"""Infinite losses: views that are possible in one experiment alone, and bounds on them.

Tilting makes large finite losses likely, but not infinite ones, which have no weight. A tilted
sample has no information on infinite losses that are too rare to be drawn, so an estimate adds a
bound on them that is known in advance.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache

from simulator.analysis.estimation import Estimate
from simulator.engine.compiled.menu import Menu
from simulator.engine.outcomes.log_mean import LARGEST_SHARE, MINIMUM_HITS
from simulator.engine.sampling import Covering
from simulator.engine.specification import Played, Specification
from simulator.foundations.wording import count_of


def covers(specification: Specification, b: int) -> bool:
    """Whether every view of the other experiment is possible in experiment ``b`` too.

    Only then can a sample of ``b`` serve both.
    """
    return leak_of(specification, 1 - b) == 0.0


def leak_of(specification: Specification, b: int) -> float:
    """A bound on the probability, in one round, of an answer possible in experiment ``b`` alone.

    From a program's menu; otherwise from the family, whose extremal pair leaks most.
    """
    s = specification
    if s.is_read:
        return leak_of_menu(Played.of(s), b)
    return s.family.leak


@lru_cache(maxsize=256)
def leak_of_menu(played: Played, b: int) -> float:
    """The largest leak of a menu's entries in experiment ``b``."""
    rule, family, relation, _ = played.terms
    menu = Menu.of(rule, family, relation, exchanged=bool(b))
    return max(leak_of_entry(menu, entry) for entry in range(len(rule.menu)))


def leak_of_entry(menu: Menu, entry: int) -> float:
    """One entry's leak: exact if its answers can be listed, else the bound of its guarantee."""
    kind, params = menu.kinds[menu.kind[entry]], menu.params[entry]
    outcomes, mass = kind.outcomes, kind.mass
    if outcomes is None or mass is None or menu.is_free(entry):
        return menu.guarantee(entry).leak
    return math.fsum(
        mass(params, 0, answer) for answer in outcomes(params) if mass(params, 1, answer) == 0.0
    )


def unsampled_leak(specification: Specification, b: int) -> float:
    """A bound on Pr[L = infinity] in experiment ``b``, for a sample that does not measure it.

    By the union bound over the rounds; 0 if views are drawn from the experiment itself.
    """
    sampling = specification.sampling
    if sampling is None or isinstance(sampling, Covering) or not sampling.levels.any():
        return 0.0
    return min(1.0, specification.rounds * leak_of(specification, b))


def outweighed(leak: float, value: float, seen: int) -> str:
    """Why infinite losses may be a large part of a probability ``value``; empty if they are not."""
    if not leak > LARGEST_SHARE * value:
        return ""
    return (
        f"infinite losses may have a probability of {leak:.3g} beside {value:.3g}, no tilting "
        f"makes them likelier, and {count_of(seen, 'trial has', 'trials have')} one "
        f"({MINIMUM_HITS} needed): try more trials, or plain play"
    )


def allowing_for(estimate: Estimate, leak: float, seen: int) -> Estimate:
    """The estimate of a probability, its upper end raised by the leak, and at most 1 throughout.

    It has ends alone if the leak may outweigh it.
    """
    why = outweighed(leak, estimate.value, seen)
    raised = replace(
        estimate,
        value=min(estimate.value, 1.0),  # a mean of weights may exceed 1; NaN stays
        lower=min(1.0, estimate.lower),
        upper=min(1.0, estimate.upper + leak),
    )
    return raised.without_value(why) if why else raised
