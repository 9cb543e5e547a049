"""Laws that several tests need, by the parameters of the mechanism."""

from simulator.theory import GaussianLaw, PoissonSubsampledLaw


def subsampled_gaussian(sigma, rate, exchanged=False):
    """Gaussian noise of that sigma at sensitivity 1, on a Poisson sample."""
    mu = 1.0 / sigma if sigma else sigma
    return PoissonSubsampledLaw(GaussianLaw(mu), rate, exchanged)
