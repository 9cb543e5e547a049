"""Few rounds of sampled Gaussians by integration over their answers."""

import numpy as np
from scipy.stats import norm


class ByAnswers:
    """delta of few rounds by integration over the answers, with nothing of the library."""

    def __init__(self, law, points, reach=9.0):
        self.sigma, self.rate, self.exchanged = (1 / law.base.mu), law.rate, law.exchanged
        self.x = np.linspace(-reach * self.sigma, 1 + reach * self.sigma, points)
        without = norm.pdf(self.x, 0, self.sigma)
        ratio = 1 - self.rate + self.rate * np.exp((self.x - 0.5) / self.sigma**2)
        spacing = self.x[1] - self.x[0]
        self.loss = np.log(ratio) if self.exchanged else -np.log(ratio)
        self.weight = spacing * without * (ratio if self.exchanged else 1.0)

    def last_round(self, epsilon):
        """P0(L > epsilon) - e^epsilon P1(L > epsilon), by the answers that lose as much."""
        sign = 1 if self.exchanged else -1
        with np.errstate(invalid="ignore", divide="ignore"):
            odds = (np.exp(sign * epsilon) - (1 - self.rate)) / self.rate
            edge = np.where(odds > 0, 0.5 + self.sigma**2 * np.log(odds), -np.inf)
        tail = norm.sf if self.exchanged else norm.cdf
        plain, moved = tail(edge, 0, self.sigma), tail(edge, 1, self.sigma)
        mixed = (1 - self.rate) * plain + self.rate * moved
        p0, p1 = (mixed, plain) if self.exchanged else (plain, mixed)
        return p0 - np.exp(epsilon) * p1

    def delta(self, rounds, epsilon):
        left = np.array(epsilon)
        weight = np.array(1.0)
        for _ in range(rounds - 1):
            left = np.subtract.outer(left, self.loss)
            weight = np.multiply.outer(weight, self.weight)
        return float((weight * self.last_round(left)).sum())
