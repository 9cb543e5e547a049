"""Events of dp_accounting without that library: they are read by the names of their classes."""

from types import SimpleNamespace


class DpEvent:
    """Stands for the base class of dp_accounting, which need not be there."""


def dp(name, **members):
    """An event with these members."""
    return type(name, (DpEvent, SimpleNamespace), {})(**members)


def noise(multiplier):
    """A Gaussian."""
    return dp("GaussianDpEvent", noise_multiplier=multiplier)


def sampled(event, rate=0.01):
    """An event on a Poisson sample."""
    return dp("PoissonSampledDpEvent", sampling_probability=rate, event=event)
