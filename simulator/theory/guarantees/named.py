"""Families by name, and their text. Only the family that a text names is loaded."""

from __future__ import annotations

from typing import Any

from simulator.foundations import grammar
from simulator.foundations.errors import InvalidInput
from simulator.foundations.extensions import added, load_named, refuse_file
from simulator.foundations.wording import did_you_mean
from simulator.theory.guarantees.interface import Guarantee

FAMILIES = {
    "pure": "simulator.theory.guarantees.pure:PureDP",
    "approx": "simulator.theory.guarantees.pure:ApproxDP",
    "gdp": "simulator.theory.guarantees.gaussian:GaussianDP",
    "gaussian": "simulator.theory.guarantees.gaussian:gaussian_noise",
    "zcdp": "simulator.theory.guarantees.renyi:ZCDP",
    "range": "simulator.theory.guarantees.bounded_range:BoundedRange",
    "renyi": "simulator.theory.guarantees.renyi:RenyiDP",
    "subsampled-gaussian": "simulator.theory.guarantees.subsampled:SubsampledGaussianDP",
    "discrete-gaussian": "simulator.theory.guarantees.discrete_gaussian:DiscreteGaussianDP",
    "subsampled": "simulator.theory.guarantees.subsampled:SubsampledDP",
    "shuffled": "simulator.theory.guarantees.shuffled:ShuffledDP",
    "dominated": "simulator.theory.guarantees.dominated:DominatedDP",
}
"""Where each family is, by the name before the colon of its text: the class, or a function that
makes it, as ``module:object``. Their parameters are those of the text."""

FORMS = (
    "pure:EPSILON, approx:EPSILON,DELTA, gdp:MU, gaussian:SIGMA, zcdp:RHO, range:EPSILON, "
    "renyi:ALPHA,EPSILON, subsampled-gaussian:SIGMA,RATE, discrete-gaussian:SIGMA,SENSITIVITY, "
    "subsampled:EPSILON,DELTA,RATE, shuffled:EPSILON,REPORTS, dominated:LAW"
)
"""How the families are written; here, as a list for help loads none of them."""


def family_names() -> list[str]:
    """The names that :func:`parse_guarantee` reads, with those of other packages."""
    return [*FAMILIES, *(name for name in added("families") if name not in FAMILIES)]


def parse_guarantee(text: str) -> Guarantee:
    """The guarantee of a text such as ``pure:0.2``, ``approx:0.1,1e-6`` or ``gdp:mu=0.5``.

    :data:`FORMS` lists the families; other packages add theirs by entry points
    ``dpcompose.families``. ``renyi`` takes as many pairs as there are orders, and ``dominated:LAW``
    the law as JSON. Inverse of ``str()``. Raises InvalidInput on anything else.

    >>> from simulator.theory import parse_guarantee
    >>> parse_guarantee("approx:0.1,1e-6"), parse_guarantee("gdp:mu=0.5")
    (ApproxDP(epsilon=0.1, delta=1e-06), GaussianDP(mu=0.5))
    """
    named = grammar.read_once(text)
    name = named.name
    if name not in family_names():
        refuse_file("families", name, "pass family= an object of your class")
        near = did_you_mean(name, family_names())
        raise InvalidInput(f"unknown family {text!r}{near or f'; write one of {FORMS}'}")
    make: Any = load_named("families", FAMILIES, name)
    if isinstance(make, type) and issubclass(make, Guarantee):
        return make.of_named(named)
    made = grammar.made(named, make) if callable(make) else make
    if not isinstance(made, Guarantee):
        raise InvalidInput(
            f"the entry point {name!r} must be a subclass of Guarantee, or a function that makes "
            f"a guarantee, not {make!r:.80}"
        )
    return made
