"""A number about an adversary that a task measures, named by a short text."""

from __future__ import annotations

import re
from dataclasses import dataclass

from simulator.analysis.rare.methods import METHODS
from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import finite, nonnegative, numeral, open_probability, text_of
from simulator.foundations.wording import did_you_mean
from simulator.theory.bounds.comparison import TRUTH
from simulator.theory.bounds.registry import bound

AT = {"tail": "epsilon", "delta": "epsilon", "epsilon": "delta", "mean": "", "variance": ""}
"""The kinds of quantities, and the name of the number that each is a function of, if any."""
SOURCES = ("simulated", "rare", "exact", "worst", "bound")
"""Where a number comes from. ``bound:NAME`` is one bound, ``rare:METHOD`` one method."""

_TEXT = re.compile(
    r"(?:(?P<source>[a-z]+)(?::(?P<name>[a-z0-9.-]+))?\s+)?"
    r"(?P<kind>[a-z]+)\s*\(\s*(?:(?:(?P<at>[a-z]+)\s*=\s*)?(?P<value>[-+.0-9a-z]+)\s*)?\)"
)


@dataclass(frozen=True)
class Quantity:
    """A number about an adversary, as ``epsilon(delta=1e-6)``.

    Attributes
    ----------
    kind : ``tail`` (Pr[L > epsilon]), ``delta`` (the hockey-stick divergence at an epsilon) or
        ``epsilon`` (the least one at a delta); or ``mean`` or ``variance`` of the loss, -L in
        experiment 1.
    at : the epsilon or the delta that it is a function of; 0 for a moment.
    source : ``simulated`` from plain plays; ``rare`` from plays under a measure that makes large
        losses frequent (``estimate_rare``); ``exact`` by recursion over the states of a rule;
        ``worst`` for the worst adversary of the family, by search; ``bound`` by a theorem on the
        family.
    name : of a ``bound``, empty for each that applies; the method of ``rare``, empty for ``auto``.

    >>> from simulator.studies import Quantity
    >>> Quantity.parse("bound:basic epsilon(delta=1e-6)")
    Quantity(kind='epsilon', at=1e-06, source='bound', name='basic')
    """

    kind: str
    at: float = 0.0
    source: str = "simulated"
    name: str = ""

    def __post_init__(self) -> None:
        for name in ("kind", "source", "name"):
            text_of(f"the {name} of a quantity", getattr(self, name))
        if self.kind not in AT:
            raise InvalidInput(
                f"no quantity {self.kind!r}{did_you_mean(self.kind, AT)}; there are "
                "tail(epsilon=), delta(epsilon=), epsilon(delta=), mean() and variance()"
            )
        if self.source not in SOURCES:
            raise InvalidInput(
                f"no source {self.source!r}{did_you_mean(self.source, SOURCES)}; there are "
                f"{', '.join(SOURCES)}"
            )
        names = {"bound": (self.name,), "rare": ("", *METHODS)}.get(self.source, ("",))
        if self.name not in names:
            raise InvalidInput(
                f"no {self.source}:{self.name}{did_you_mean(self.name, names)}; write "
                f"bound:NAME, or rare: with one of {', '.join(METHODS)}"
            )
        if self.source == "bound" and self.name not in ("", TRUTH):
            bound(self.name)
        if not AT[self.kind]:
            if self.source != "simulated" or self.at:
                raise InvalidInput(f"write {self.kind}(): a moment of the simulated loss")
        elif self.kind == "epsilon":
            open_probability("delta", self.at)
        elif self.source == "simulated":
            finite("epsilon", self.at)
        else:
            nonnegative("epsilon", finite("epsilon", self.at))
        if self.of_family and self.kind == "tail":
            raise InvalidInput(f"a {self.source} quantity is delta(epsilon=) or epsilon(delta=)")

    @classmethod
    def parse(cls, text: str) -> Quantity:
        """The quantity of a text such as ``epsilon(delta=1e-6)`` or ``rare tail(epsilon=2)``.

        Raises InvalidInput for another text.
        """
        found = _TEXT.fullmatch(text.strip())
        if found is None:
            raise InvalidInput(
                f"{text!r} is not a quantity; write epsilon(delta=1e-6), delta(epsilon=1) or "
                f"tail(epsilon=1), with one of {', '.join(SOURCES)} before it"
            )
        kind, at = found["kind"], found["at"]
        wanted = AT.get(kind)
        if wanted and at not in (None, wanted):
            raise InvalidInput(f"{text!r}: {kind} is a function of {wanted}, not of {at}")
        if wanted == "" and found["value"] is None:
            return cls(kind, 0.0, found["source"] or "simulated", found["name"] or "")
        if found["value"] is None or wanted == "":
            there = f"{kind}()" if wanted == "" else f"{kind}({wanted or 'epsilon'}=1e-2)"
            raise InvalidInput(f"{text!r} is not a quantity; write {there}")
        try:
            value = numeral(found["value"])
        except ValueError:
            raise InvalidInput(f"{text!r}: {found['value']!r} is not a number") from None
        return cls(kind, value, found["source"] or "simulated", found["name"] or "")

    def __str__(self) -> str:
        place = f"{self.kind}({AT[self.kind]}={self.at!r})" if AT[self.kind] else f"{self.kind}()"
        if self.source == "simulated":
            return place
        return f"{self.source}{':' + self.name if self.name else ''} {place}"

    @property
    def of_family(self) -> bool:
        """Whether it is about the family alone, not about an adversary."""
        return self.source in ("worst", "bound")

    @property
    def epsilon(self) -> float | None:
        """The epsilon that it is a function of, if it is."""
        return self.at if AT[self.kind] == "epsilon" else None

    @property
    def delta(self) -> float | None:
        """The delta that it is a function of, if it is."""
        return self.at if AT[self.kind] == "delta" else None
