"""Accountants, filters and odometers that are broken on purpose: the trial must catch each.

A worker imports this module by name, as it does the adapter of a library.
"""

import math

from simulator.auditing.conformance.events import APPROX, GAUSSIAN, PURE, merged
from simulator.auditing.conformance.protocol import Library, Reading, Subject
from simulator.auditing.conformance.truth import Truth
from simulator.foundations.errors import NotApplicable

KINDS = (GAUSSIAN, PURE, APPROX)


class Changed:
    """The truth, changed by a function."""

    def __init__(self, change):
        self.change = change

    def epsilon(self, events, delta):
        return self.change(Truth(events).epsilon(delta).upper)

    def delta(self, events, epsilon):
        return self.change(Truth(events).delta(epsilon).upper)


class IgnoresCounts(Changed):
    def epsilon(self, events, delta):
        once = [type(e)(e.kind, e.parameter, 1, e.delta) for e in events]
        return super().epsilon(merged(once), delta)

    def delta(self, events, epsilon):
        raise NotApplicable("epsilon only")


def raises(value):
    raise ZeroDivisionError("as it happens")


class Sums:
    """A filter by basic composition, sound; the broken ones change one thing."""

    def __init__(self, epsilon, delta):
        self.limit, self.spent, self.ran = Reading(epsilon, delta), [0.0, 0.0], 0

    def fits(self, spend):
        sane = 0.0 <= spend.epsilon < math.inf and 0.0 <= spend.delta < 1.0
        return sane and all(
            a + b <= c for a, b, c in zip(self.spent, spend, self.limit, strict=True)
        )

    def ask(self, spend):
        if not self.fits(spend):
            return False
        self.spent = [a + b for a, b in zip(self.spent, spend, strict=True)]
        self.ran += 1
        return True

    def charged(self):
        return Reading(*self.spent)

    def runs(self):
        return self.ran


class ChargesRefused(Sums):
    def ask(self, spend):
        admitted = super().ask(spend)
        if not admitted and math.isfinite(spend.epsilon):
            self.spent[0] += abs(spend.epsilon)
        return admitted


class HalfPrice(Sums):
    def fits(self, spend):
        return super().fits(spend._replace(epsilon=spend.epsilon / 2.0))

    def ask(self, spend):
        admitted = super().ask(spend)
        self.spent[0] -= spend.epsilon / 2.0 if admitted else 0.0
        return admitted


class RunsRefused(Sums):
    def ask(self, spend):
        admitted = super().ask(spend)
        self.ran += not admitted
        return admitted


class OneTooMany(Sums):
    """Asks before it adds: the round that passes the limit is admitted."""

    def fits(self, spend):
        return self.spent[0] < self.limit.epsilon and spend.delta == 0.0 and spend.epsilon >= 0.0


class RootOfSquares(Sums):
    """As if epsilons added up like the standard deviations of noise."""

    def __init__(self, epsilon, delta):
        super().__init__(epsilon, delta)
        self.squares = 0.0

    def fits(self, spend):
        sane = 0.0 <= spend.epsilon < math.inf and spend.delta == 0.0
        return sane and self.squares + spend.epsilon**2 <= self.limit.epsilon**2

    def ask(self, spend):
        admitted = super().ask(spend)
        self.squares += spend.epsilon**2 if admitted else 0.0
        return admitted


class ForgetsDelta(Sums):
    def fits(self, spend):
        return super().fits(spend._replace(delta=0.0)) and 0.0 <= spend.delta < 1.0


class TakesNaN(Sums):
    def fits(self, spend):
        return not (self.spent[0] + spend.epsilon > self.limit.epsilon) and spend.delta == 0.0


class TakesNegative(Sums):
    def fits(self, spend):
        return self.spent[0] + spend.epsilon <= self.limit.epsilon and spend.delta == 0.0


class Totals:
    """A sound odometer by basic composition."""

    def __init__(self, delta):
        self.spends = []

    def spend(self, spend):
        if not (0.0 <= spend.epsilon < math.inf and 0.0 <= spend.delta < 1.0):
            raise ValueError("no guarantee")
        self.spends.append(spend)

    def reading(self):
        return Reading(
            math.fsum(s.epsilon for s in self.spends), math.fsum(s.delta for s in self.spends)
        )


class LargestOnly(Totals):
    def reading(self):
        return Reading(math.fsum(s.epsilon for s in self.spends), max(s.delta for s in self.spends))


class RootOnly(Totals):
    def reading(self):
        return Reading(math.sqrt(sum(s.epsilon**2 for s in self.spends)), super().reading().delta)


class ReadsNaN(Totals):
    def reading(self):
        return Reading(math.nan, 0.0)


ACCOUNTANTS = {
    "sound": lambda: Changed(lambda value: value),
    "halves": lambda: Changed(lambda value: value / 2.0),
    "a little short": lambda: Changed(lambda value: value * (1.0 - 1e-4)),
    "NaN": lambda: Changed(lambda value: math.nan),
    "negative": lambda: Changed(lambda value: -value),
    "None": lambda: Changed(lambda value: None),
    "raises": lambda: Changed(raises),
    "doubles": lambda: Changed(lambda value: 3.0 * value),
    "ignores counts": lambda: IgnoresCounts(lambda value: value),
}
FILTERS = {
    "sums": Sums,
    "charges what it refused": ChargesRefused,
    "runs what it refused": RunsRefused,
    "half price": HalfPrice,
    "one too many": OneTooMany,
    "root of squares": RootOfSquares,
    "forgets delta": ForgetsDelta,
    "takes NaN": TakesNaN,
    "takes negative": TakesNegative,
}
ODOMETERS = {
    "totals": Totals,
    "largest delta only": LargestOnly,
    "root only": RootOnly,
    "reads NaN": ReadsNaN,
}


def load():
    roles = (("accountant", ACCOUNTANTS), ("filter", FILTERS), ("odometer", ODOMETERS))
    return [
        Subject(name=name, role=role, make=make, claims="the truth", kinds=KINDS)
        for role, made in roles
        for name, make in made.items()
    ]


LIBRARY = Library(name="broken", distribution="dpcompose", packages=(), load=load, extra="")
