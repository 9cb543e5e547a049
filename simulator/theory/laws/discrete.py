"""Laws of discrete, rounded and staircase noise.

All but staircase noise is log-concave, so the pair shifted by the whole sensitivity dominates the
pairs shifted by less.
"""

from __future__ import annotations

import math

import numpy as np
import scipy

from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import finite, whole
from simulator.theory.laws.base import Floats
from simulator.theory.laws.finite import FiniteLaw, merge_losses
from simulator.theory.laws.normal_cells import log_normal_cells
from simulator.theory.parameters import positive

_REACH, _BEYOND = 39.0, 1e-315
"""Reach in deviations, and a bound on the mass beyond, which is put at infinity. Over a million
rounds it is below any delta allowed."""
_MOST = 1 << 21
_MOST_RATIO = 1e6
_UNIT = float(np.finfo(float).eps)


def discrete_gaussian(sigma: float, sensitivity: int = 1) -> FiniteLaw:
    """Noise x on the integers with mass proportional to exp(-x^2/(2 sigma^2)).

    Losses (sensitivity^2 - 2 x sensitivity)/(2 sigma^2); those beyond 39 deviations, a mass of at
    most 1e-315, count as infinite. Source: Canonne, Kamath, Steinke, "The Discrete Gaussian for
    Differential Privacy", NeurIPS 2020, Definition 1.

    Raises InvalidInput unless sigma > 0 and the sensitivity is a whole number of at least 1, and
    beyond two million losses.

    >>> from simulator.theory import discrete_gaussian
    >>> round(discrete_gaussian(2.0).delta(0.5), 6)
    0.054007
    """
    answers, shift = _integers(sigma, sensitivity)
    squares = -((answers / sigma) ** 2) / 2
    losses = shift * (shift / 2 - answers) / sigma**2
    # The exchanged pair's masses are differences of squares and losses, which may be large numbers.
    error = 4 * _UNIT * float(np.abs(losses).max())
    return FiniteLaw(
        losses, squares - scipy.special.logsumexp(squares), _BEYOND, _BEYOND, loss_error=error
    )


def rounded_gaussian(sigma: float, sensitivity: int = 1) -> FiniteLaw:
    """Gaussian noise added to a whole number and rounded to the nearest one.

    Both in units of the grid. Rounding is post-processing of Gaussian noise; an answer has the mass
    of its cell.

    Raises InvalidInput as :func:`discrete_gaussian`.

    >>> from simulator.theory import rounded_gaussian
    >>> round(rounded_gaussian(2.0).delta(0.5), 6)
    0.05244
    """
    answers, shift = _integers(sigma, sensitivity)
    edges = np.append(answers[::-1] - 0.5, answers[0] + 0.5)
    without = log_normal_cells(edges / sigma)[::-1]
    chosen = log_normal_cells((edges - shift) / sigma)[::-1]
    farthest = _REACH + (shift + 1) / sigma
    losses, logs = merge_losses(without - chosen, without)
    error = 8 * _UNIT * (farthest**2 / 2 + 8)
    return FiniteLaw(losses, logs, _BEYOND, _BEYOND, loss_error=error)


def discrete_laplace(epsilon_per_unit: float, sensitivity: int = 1) -> FiniteLaw:
    """Noise x on the integers with mass proportional to exp(-epsilon_per_unit |x|).

    At sensitivity 1 it is the geometric mechanism, with the losses of randomized response. Source:
    Ghosh, Roughgarden, Sundararajan, "Universally Utility-Maximizing Privacy Mechanisms", STOC
    2009, Section 2.

    Raises InvalidInput unless epsilon_per_unit > 0 and the sensitivity is whole, from 1 to two
    million.

    >>> from simulator.theory import discrete_laplace
    >>> discrete_laplace(0.5).support
    (-0.5, 0.5)
    """
    rate, shift = positive("epsilon_per_unit", epsilon_per_unit), _shift(sensitivity)
    steps = np.arange(shift, -1, -1, dtype=np.float64)
    logs = math.log(-math.expm1(-rate)) - rate * steps
    logs[0], logs[-1] = -rate * shift, 0.0  # everything beyond the two centres
    return FiniteLaw(rate * (shift - 2.0 * steps), logs - math.log1p(math.exp(-rate)))


def rounded_laplace(epsilon_per_unit: float, sensitivity: int = 1) -> FiniteLaw:
    """Laplace noise of scale 1/epsilon_per_unit added to a whole number and rounded to one.

    Both in units of the grid. Raises InvalidInput as :func:`discrete_laplace`.

    >>> from simulator.theory import rounded_laplace
    >>> round(rounded_laplace(0.5).delta(0.25), 6)
    0.1106
    """
    rate, shift = positive("epsilon_per_unit", epsilon_per_unit), _shift(sensitivity)
    answers = np.arange(-1.0, shift + 2.0)  # the first and the last stand for all beyond

    def logs(distance: Floats) -> Floats:
        half = rate / 2
        beside = -rate * (np.abs(distance) - 0.5) + math.log(-math.expm1(-rate) / 2)
        return np.where(distance == 0, math.log(-math.expm1(-half)), beside)

    without, chosen = logs(answers), logs(answers - shift)
    losses = without - chosen
    without[0], without[-1] = -rate / 2 - math.log(2), -rate * (shift + 0.5) - math.log(2)
    return FiniteLaw(*merge_losses(losses, without))


def staircase(epsilon: float, share: float) -> FiniteLaw:
    """Staircase noise at its own sensitivity: losses -epsilon, 0 and epsilon.

    ``share`` in [0, 1] is the high part of each stair (gamma in the paper, with its optimum
    at 1/(1 + exp(epsilon/2)) for the mean of |noise|). A smaller shift has the same losses, more
    often 0. Source: Geng and Viswanath, "The Optimal Mechanism in Differential Privacy", ISIT 2014,
    Section IV.

    Raises InvalidInput for epsilon <= 0 or a share outside of [0, 1].

    >>> from simulator.theory import staircase
    >>> law = staircase(1.0, share=0.4)
    >>> law.atom_losses.tolist(), round(law.delta(0.5), 6)
    ([-1.0, 0.0, 1.0], 0.276873)
    """
    positive("epsilon", epsilon)
    if not 0.0 <= finite("share", share) <= 1.0:
        raise InvalidInput(f"the share of a stair that is high must be in [0, 1], not {share!r}")
    # In logarithms: the masses of a large epsilon are below the smallest double.
    low_part = -epsilon + math.log1p(-share) if share < 1.0 else -math.inf
    high_part = math.log(share) if share > 0.0 else -math.inf
    # ln of the noise's density on a high part, times the sensitivity.
    log_high = math.log(-math.expm1(-epsilon) / 2) - float(np.logaddexp(high_part, low_part))
    least = min(share, 1.0 - share)
    log_top = math.log(0.5)
    if least > 0.0:
        log_top = float(np.logaddexp(log_top, math.log(least) + log_high))
    losses, logs = [-epsilon, epsilon], [log_top - epsilon, log_top]
    if share != 0.5:
        log_middle = math.log(abs(1 - 2 * share)) + log_high - (epsilon if share < 0.5 else 0.0)
        losses.insert(1, 0.0)
        logs.insert(1, log_middle)
    return FiniteLaw(np.array(losses), np.array(logs))


def _integers(sigma: float, sensitivity: int) -> tuple[Floats, int]:
    """The answers of positive mass on either database, descending, and the shift."""
    positive("sigma", sigma)
    shift = _shift(sensitivity)
    if shift / sigma > _MOST_RATIO:
        raise InvalidInput(
            f"noise of sigma {sigma:g} at sensitivity {shift} gives no privacy; the sensitivity "
            f"may be at most {_MOST_RATIO:g} sigma"
        )
    reach = math.ceil(_REACH * sigma) + 1
    if 2 * reach + shift > _MOST:
        raise InvalidInput(
            f"discrete noise of sigma {sigma:g} at sensitivity {shift} has more than {_MOST} "
            "losses; count in coarser units"
        )
    return np.arange(reach + shift, -reach - 1, -1, dtype=np.float64), shift


def _shift(sensitivity: int) -> int:
    shift = whole("the sensitivity", sensitivity)
    if shift > _MOST:
        raise InvalidInput(f"a sensitivity of at most {_MOST} is allowed, not {shift}")
    return shift
