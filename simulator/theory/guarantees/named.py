"""Families by name, and their text form. Only the family that a text names is loaded."""

from __future__ import annotations

from typing import Any

from simulator.foundations.errors import InvalidInput
from simulator.foundations.extensions import added, load_named
from simulator.foundations.wording import did_you_mean
from simulator.theory.guarantees.interface import Guarantee

FAMILIES = {
    "pure": "simulator.theory.guarantees.pure:PureDP",
    "approx": "simulator.theory.guarantees.pure:ApproxDP",
    "gaussian": "simulator.theory.guarantees.gaussian:GaussianDP",
    "zcdp": "simulator.theory.guarantees.renyi:ZCDP",
    "range": "simulator.theory.guarantees.bounded_range:BoundedRange",
    "renyi": "simulator.theory.guarantees.renyi:RenyiDP",
    "shuffled": "simulator.theory.guarantees.shuffled:ShuffledDP",
    "subsampled": "simulator.theory.guarantees.subsampled:SubsampledDP",
    "subsampled-gaussian": "simulator.theory.guarantees.subsampled:SubsampledGaussianDP",
    "discrete-gaussian": "simulator.theory.guarantees.discrete_gaussian:DiscreteGaussianDP",
    "dominated": "simulator.theory.guarantees.dominated:DominatedDP",
}
"""Where each family is, as ``module:Class``, by the name before the colon of its text."""

WRITTEN = {
    "pure": ("EPSILON", "0.1"),
    "approx": ("EPSILON,DELTA", "0.1,1e-6"),
    "gaussian": ("MU", "0.5"),
    "zcdp": ("RHO", "0.1"),
    "range": ("EPSILON", "0.3"),
    "renyi": ("ALPHA,EPSILON", "2,0.1"),
    "subsampled-gaussian": ("SIGMA,RATE", "1,0.01"),
    "discrete-gaussian": ("SIGMA,SENSITIVITY", "2,1"),
    "subsampled": ("EPSILON,DELTA,RATE", "1,0,0.1"),
    "shuffled": ("EPSILON,REPORTS", "1,10000"),
    "dominated": ("LAW", "JSON"),
}
"""The parameters after the colon in the text of each family, and an example."""

FORMS = ", ".join(f"{kind}:{parameters}" for kind, (parameters, _) in WRITTEN.items())
"""The text forms of all families."""


def family_names() -> list[str]:
    """The names that :func:`parse_guarantee` reads, with those of other packages."""
    return [*FAMILIES, *(name for name in added("families") if name not in FAMILIES)]


def family_class(name: str) -> type[Guarantee]:
    """The class of the family of that name, of this package or of another one.

    Other packages name theirs in the entry points ``dpcompose.families``. Raises InvalidInput for
    an unknown name, and for an entry point that is no subclass of Guarantee.
    """
    if name not in family_names():
        near = did_you_mean(name, family_names())
        raise InvalidInput(f"unknown family {name!r}{near or f'; write one of {FORMS}'}")
    kind: Any = load_named("families", FAMILIES, name)
    if not (isinstance(kind, type) and issubclass(kind, Guarantee)):
        raise InvalidInput(
            f"the entry point {name!r} must be a subclass of Guarantee, not {kind!r:.80}"
        )
    return kind


def parse_guarantee(text: str) -> Guarantee:
    """Read ``pure:0.2``, ``approx:0.1,1e-6``, ``gaussian:0.5``, ``zcdp:0.1``, ``range:0.3``.

    Also ``subsampled-gaussian:SIGMA,RATE``, ``discrete-gaussian:SIGMA,SENSITIVITY``,
    ``subsampled:EPSILON,DELTA,RATE``, ``shuffled:EPSILON,REPORTS``, and ``renyi:ALPHA,EPSILON``
    with as many pairs as there are orders, ``dominated:LAW``, the law as JSON, and the families of
    other packages and shelves. Inverse of ``str()``. Raises InvalidInput on anything else.
    """
    word, _, values = text.strip().partition(":")
    kind = family_class(word)
    if not values:
        parameters, example = WRITTEN.get(word, kind.written)
        raise InvalidInput(
            f"{word} needs {parameters}: write {word}:{parameters}, as {word}:{example}"
        )
    try:
        return kind.of_text(values)
    except InvalidInput as error:
        raise InvalidInput(f"family {text!r}: {error}") from None
