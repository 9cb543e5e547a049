"""A law given only by its distribution functions, against the same law in closed form."""

import numpy as np
import pytest

from simulator.foundations.errors import InvalidInput
from simulator.theory.laws import LaplaceLaw, MixedLaw
from simulator.theory.pld import PLD, compose_laws

E0 = 0.1


def laplace_by_its_distribution(mass=0.5):
    """The Laplace law of shift 0.1, told through cdf and sf of its continuous part."""

    def cdf0(loss):
        return np.exp(-E0) * np.expm1((np.clip(loss, -E0, E0) + E0) / 2) / 2

    def sf0(loss):
        return -np.expm1((np.clip(loss, -E0, E0) - E0) / 2) / 2

    atoms = ((-E0, 0.5 * np.exp(-E0)), (E0, mass))
    return MixedLaw(
        -E0,
        E0,
        cdf0=cdf0,
        sf0=sf0,
        cdf1=lambda x: sf0(-np.asarray(x)),
        sf1=lambda x: cdf0(-np.asarray(x)),
        atoms=atoms,
    )


@pytest.mark.parametrize("epsilon", [-0.2, -0.03, 0.0, 0.05, 0.0999, 0.2])
def test_one_round_agrees_with_the_closed_form(epsilon):
    law, exact = laplace_by_its_distribution(), LaplaceLaw(E0)
    assert law.delta(epsilon) == pytest.approx(exact.delta(epsilon), rel=1e-11)
    assert law.reversed().delta(epsilon) == pytest.approx(exact.delta(epsilon), rel=1e-11)
    for under in (0, 1):
        assert law.cdf(epsilon, under) == pytest.approx(exact.cdf(epsilon, under), rel=1e-13)


def test_moments_and_transform_are_close_approximations():
    law, exact = laplace_by_its_distribution(), LaplaceLaw(E0)
    assert law.mean == pytest.approx(exact.mean, rel=1e-8)
    assert law.variance == pytest.approx(exact.variance, rel=1e-8)
    theta = np.array([-2.0, 0.5, 7.0])
    np.testing.assert_allclose(law.log_mgf(theta), exact.log_mgf(theta), rtol=1e-7)
    assert not law.has_exact_transform


def test_composition_goes_through_a_discretisation_that_holds_the_truth():
    found = PLD.from_law(laplace_by_its_distribution(), step=E0 / 100).self_compose(50)
    default = compose_laws([(laplace_by_its_distribution(), 5), (LaplaceLaw(0.2), 2)])
    exact = compose_laws([(LaplaceLaw(E0), 5), (LaplaceLaw(0.2), 2)])
    for pld, truth in ((found, compose_laws([(LaplaceLaw(E0), 50)])), (default, exact)):
        bracket, inner = pld.epsilon(1e-6), truth.epsilon(1e-6)
        assert bracket.lower <= inner.upper
        assert bracket.upper >= inner.lower
        assert bracket.width <= 1e-5 * bracket.upper


def test_masses_that_do_not_sum_to_one_are_refused():
    with pytest.raises(InvalidInput, match="under P0 must sum to 1"):
        laplace_by_its_distribution(mass=0.6)
    with pytest.raises(InvalidInput, match="finite bounds"):
        MixedLaw(0.0, np.inf, **dict.fromkeys(("cdf0", "sf0", "cdf1", "sf1"), lambda x: x))
