"""The registry of composition bounds."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache

from simulator.foundations.errors import InvalidInput
from simulator.foundations.extensions import added, load_added
from simulator.foundations.validation import instance, text_of
from simulator.theory.bounds.advanced import Advanced, AdvancedTightMean, KairouzOhViswanath
from simulator.theory.bounds.base import Bound, BoundOnComposition
from simulator.theory.bounds.basic import Basic
from simulator.theory.bounds.bounded_range import (
    BoundedRangeAdaptive,
    BoundedRangeAzuma,
    BoundedRangeNonAdaptive,
)
from simulator.theory.bounds.composition import Composition
from simulator.theory.bounds.concentrated import ZCDPBunSteinke, ZCDPCanonneKamathSteinke
from simulator.theory.bounds.dominating import (
    AnyDirection,
    BothDirections,
    DominatingPairs,
    OneDirection,
)
from simulator.theory.bounds.freedman import Freedman
from simulator.theory.bounds.gaussian import (
    AnalyticGaussian,
    CentralLimit,
    GaussianDominates,
    GaussianInZCDP,
)
from simulator.theory.bounds.optimal import (
    OptimalHeterogeneous,
    OptimalHomogeneous,
    RoundedHeterogeneous,
)
from simulator.theory.bounds.renyi import RDPCanonneKamathSteinke, RDPMironov
from simulator.theory.bounds.shuffling import ClonesClosedForm, ClonesNumerical, ShuffledResponses
from simulator.theory.bounds.subsampling import AmplifiedBySampling

_BOUNDS: tuple[Bound, ...] = (
    Basic(),
    Advanced(),
    AdvancedTightMean(),
    Freedman(),
    KairouzOhViswanath(),
    OptimalHomogeneous(),
    OptimalHeterogeneous(),
    RoundedHeterogeneous(),
    ZCDPBunSteinke(),
    ZCDPCanonneKamathSteinke(),
    GaussianInZCDP(),
    RDPMironov(),
    RDPCanonneKamathSteinke(),
    AnalyticGaussian(),
    GaussianDominates(),
    CentralLimit(),
    BoundedRangeAzuma(),
    BoundedRangeNonAdaptive(),
    BoundedRangeAdaptive(),
    DominatingPairs(),
    BothDirections(),
    OneDirection(),
    AnyDirection(),
    AmplifiedBySampling(),
    ClonesClosedForm(),
    ClonesNumerical(),
    ShuffledResponses(),
)


def all_bounds() -> tuple[Bound, ...]:
    """Every registered bound: of this package, and of the entry points ``dpcompose.bounds``.

    Raises InvalidInput for an entry point that is no subclass of Bound.

    >>> from simulator.theory import all_bounds
    >>> [bound.name for bound in all_bounds() if bound.name in ("basic", "advanced")]
    ['basic', 'advanced']
    """
    return _BOUNDS + tuple(_added(name) for name in added("bounds"))


@cache
def _added(name: str) -> Bound:
    """The bound of an entry point."""
    kind = load_added("bounds", name)
    if not (isinstance(kind, type) and issubclass(kind, Bound)):
        raise InvalidInput(
            f"the entry point {name!r} must be a subclass of Bound, not {kind!r:.80}"
        )
    return kind()


def bound(name: str) -> Bound:
    """The bound of that name. Raises InvalidInput with the nearest names otherwise.

    >>> from simulator.theory import bound
    >>> bound("basic").kind, bound("basic").source
    ('upper', 'Roth 2011, Lecture 4, Theorem 1; Dwork and Roth 2014, Theorem 3.16')
    """
    name = text_of("the name of a bound", name)
    by_name = {entry.name: entry for entry in reversed(all_bounds())}  # own names win
    if name not in by_name:
        near = get_close_matches(name, by_name, n=3, cutoff=0.3) or list(by_name)
        raise InvalidInput(f"unknown bound {name!r}; did you mean {', '.join(near)}?")
    return by_name[name]


def bounds_for(composition: Composition) -> list[BoundOnComposition]:
    """Every bound whose conditions the composition meets, applied to it. Raises InvalidInput.

    >>> from simulator import Composition, PureDP, bounds_for
    >>> bounds = {each.name: each for each in bounds_for(Composition.repeat(PureDP(0.1), 100))}
    >>> [(name, round(bounds[name].epsilon(1e-6).value, 4)) for name in ("basic", "advanced")]
    [('basic', 10.0), ('advanced', 6.3082)]
    """
    instance("composition", composition, Composition)
    return [entry.on(composition) for entry in all_bounds() if entry.why_not(composition) is None]


def tail_bounds(composition: Composition) -> list[BoundOnComposition]:
    """The bounds whose ``delta(t)`` is at least the tail Pr[L > t] of the composed loss.

    This holds in either experiment, for every adaptive adversary. Empty where a round has a delta:
    an (epsilon, delta) guarantee bounds the divergence, not the tail.

    >>> from simulator import Composition, PureDP
    >>> from simulator.theory import tail_bounds
    >>> names = [bound.name for bound in tail_bounds(Composition.repeat(PureDP(0.1), 100))]
    >>> "advanced" in names, "privacy-loss-distribution" in names
    (True, False)
    """
    if instance("composition", composition, Composition).leaks > 0.0:
        return []
    return [ready for ready in bounds_for(composition) if ready.bound.of_tail]


__all__ = ["Bound", "BoundOnComposition", "all_bounds", "bound", "bounds_for", "tail_bounds"]
