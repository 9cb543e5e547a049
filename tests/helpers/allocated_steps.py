"""One of several Gaussian steps: certified brackets, and two steps by quadrature."""

import math

from scipy.integrate import quad
from scipy.special import ndtr

from simulator.theory.laws.gaussian import GaussianLaw
from simulator.theory.pld.distribution import compose_laws
from simulator.training.laws.allocation import AllocationLaw


def allocated(sigma, steps):
    """Both directions: removing and adding a record, of one of many Gaussian steps."""
    adding = AllocationLaw(GaussianLaw(1.0 / sigma), steps)
    return compose_laws([(adding.reversed(), 1)], 5e-5), compose_laws([(adding, 1)], 5e-5)


def last_term(shift, epsilon, others, terms):
    """E (U - e^epsilon)+ and E (1 - e^epsilon U)+ over one V, ``others`` the sum of the rest."""
    rest = terms * math.exp(epsilon) - others  # removal needs V above it
    if rest <= 0:
        removal = (others + 1) / terms - math.exp(epsilon)
    else:
        z = math.log(rest) / shift + shift / 2
        removal = ndtr(shift - z) / terms - rest / terms * ndtr(-z)
    rest = terms * math.exp(-epsilon) - others  # addition needs V below it
    if rest <= 0:
        return removal, 0.0
    z = math.log(rest) / shift + shift / 2
    return removal, math.exp(epsilon) / terms * (rest * ndtr(z) - ndtr(z - shift))


def two_steps(sigma, epsilon):
    """Both directions for two steps: the inner integral in closed form, the outer by quadrature."""
    shift = 1 / sigma

    def part(x, i):
        density = math.exp(-x * x / 2) / math.sqrt(2 * math.pi)
        return density * last_term(shift, epsilon, math.exp(shift * x - shift**2 / 2), 2)[i]

    kinks = [(math.log(2) + sign * epsilon) / shift + shift / 2 for sign in (1, -1)]
    return tuple(
        quad(lambda x, i=i: part(x, i), -12, 12 + shift, points=kinks, limit=400, epsabs=1e-14)[0]
        for i in (0, 1)
    )
