"""The evidence against a claim, and the grids of weaker claims that give the bounds."""

from __future__ import annotations

import math

import numpy as np

from simulator.auditing.evidence.events import Batch, Candidates
from simulator.auditing.evidence.ratio_bets import RatioBets
from simulator.auditing.evidence.variational import RenyiBets
from simulator.auditing.evidence.wagers import SHARES, STYLES, Nulls, estimate
from simulator.theory.guarantees.interface import Guarantee

RENYI_KINDS = ("zcdp", "renyi")
"""Claims on Renyi divergences, which imply only weak hockey-stick curves."""


def claim_points(claimed: Guarantee) -> tuple[np.ndarray, np.ndarray]:
    """The points (epsilon, delta) of the claim that are tested: its corner, or its curve."""
    epsilon = getattr(claimed, "epsilon", None)
    if claimed.kind in ("pure", "approx") and epsilon is not None:
        return np.array([float(epsilon)]), np.array([float(getattr(claimed, "delta", 0.0))])
    top = 1.0
    while claimed.hockey_stick(top) > 1e-9 and top < 600.0:
        top *= 2.0
    points = np.concatenate([np.linspace(0.0, 1.0, 21)[:-1], np.linspace(1.0, 2.0, 5)]) * top / 2.0
    deltas = np.array([claimed.hockey_stick(float(e)) for e in points])
    useful = deltas < 1.0
    return points[useful], deltas[useful]


RATIOS = 0.85
"""The share of the stake for bets on likelihood ratios; the rest is for bets on events."""
MOST_POINTS = 2
"""The largest number of points of a curve that likelihood ratios are compared with."""


LEARNING = 14.0
"""Nats of growth, beyond twice the rejection level, after which an audit has found what is certain:
it learns from the first draws, and its first bets are small."""


class AgainstClaim:
    """Evidence against the claim: by likelihood ratios, and by events of several probabilities.

    Each bets on the point of the claim with the largest growth. Half the stake is on Renyi
    divergences, if the claim is on these.
    """

    def __init__(self, claimed: Guarantee) -> None:
        self.points = Nulls(*claim_points(claimed))
        self.ratios = RatioBets()
        self.divergences: RenyiBets | None = None
        if claimed.kind in RENYI_KINDS:
            self.divergences = RenyiBets(claimed.renyi, claimed.renyi_orders)
        self.best = -math.inf

    def choose(self, candidates: Candidates, within: np.ndarray | None = None) -> None:
        """Choose event and point for each slot, and what likelihood ratios bet on."""
        self.choose_events(candidates, within)
        if within is None:
            self.ratios.choose(self.likely_points())
        else:
            self.ratios.stop()

    def choose_events(self, candidates: Candidates, within: np.ndarray | None = None) -> None:
        """Choose event and point for each slot."""
        points = self.points
        points.choose(candidates, within)
        keep = np.argmax(points.worth, axis=1)
        event = points.event[np.arange(len(keep)), keep]
        points.event[:] = -1
        points.event[np.arange(len(keep)), keep] = event

    def likely_points(self) -> list[tuple[float, float]]:
        """The points (epsilon, delta) of the claim with the largest growth by events."""
        points = self.points
        order = np.argsort(-points.worth.max(axis=0), kind="stable")[:MOST_POINTS]
        return [(float(points.epsilon[i]), float(points.delta[i])) for i in order]

    def learn(self, candidates: Candidates) -> None:
        """Update the bets on ratios and divergences by new candidates."""
        self.ratios.learn(candidates)
        if self.divergences is not None:
            self.divergences.learn(candidates)

    def restart(self) -> None:
        """Forget all evidence, and keep what is learned."""
        self.points.log[:] = 0.0
        self.ratios.log = 0.0
        if self.divergences is not None:
            self.divergences.log = 0.0
        self.best = -math.inf

    def bet(self, candidates: Candidates, hits: np.ndarray, batch: Batch, aim: float) -> None:
        """Settle the bets on new draws; parameters as for :class:`Nulls`."""
        self.points.bet(candidates, hits, len(batch), aim)
        self.ratios.bet(batch)
        if self.divergences is not None:
            self.divergences.bet(batch)
        self.best = max(self.best, self.evidence())

    def evidence(self) -> float:
        """Ln of the evidence."""
        shares = math.log(RATIOS), math.log1p(-RATIOS)
        both = float(np.logaddexp(self.ratios.log + shares[0], self.by_events() + shares[1]))
        if self.divergences is None:
            return both
        return float(np.logaddexp(both, self.divergences.log)) - math.log(2.0)

    def rate(self) -> float:
        """The growth to expect per pair of draws of the best bet, in nats, by the draws so far."""
        rates = [self.points.expected, self.ratios.rate()]
        if self.divergences is not None:
            rates.append(self.divergences.rate())
        return max(rates)

    def out_of_reach(self, draws: int, level: float) -> str:
        """Why so many draws on each input refute the claim for no mechanism; "" if they can.

        A mechanism that answers with its input adds most evidence: ln((1 + c)/(c + delta)) by each
        of two draws, c = e^epsilon, as the nearest pair that keeps the claim answers so with
        probability (c + delta)/(1 + c). It has to pay for what is learned, too.
        """
        c, delta = np.exp(np.minimum(self.points.epsilon, 500.0)), self.points.delta
        growth = 2.0 * np.log1p((1.0 - delta) / (c + delta)).max(initial=0.0)
        least = (2.0 * level + LEARNING) / growth if growth else math.inf
        if draws >= least:
            return ""
        enough = f"; draw at least {math.ceil(1.5 * least):,}" if least < 1e12 else ""
        return (
            f"{draws:,} draws of each input are too few for a claim of this size, even where an "
            f"answer gives its input away: nothing was audited{enough}, or allow more false alarms"
        )

    def futile(self, candidates: Candidates, left: int, level: float) -> bool:
        """Whether no event seen so far would refute the claim with so many more draws.

        Each event's growth is raised by three standard errors. An event not seen in half of the
        budget is too rare to matter in the other half.
        """
        points, divergences, evidence = self.points, self.divergences, self.evidence()
        if divergences is not None and divergences.log + divergences.growth_in(left) >= level:
            return False
        if evidence + self.ratios.growth_in(left) >= level:
            return False
        n = candidates.draws[:, None]
        q = estimate(candidates.hits, candidates.draws)
        c = np.exp(points.epsilon)[None]
        for first, second in ((0, 1), (1, 0)):
            q0, q1 = q[:, first : first + 1], q[:, second : second + 1]
            error = np.sqrt((q0 * (1 - q0) + c**2 * q1 * (1 - q1)) / n)
            gap = q0 - c * q1 - points.delta[None] + 3.0 * error
            z = np.maximum(gap, 0.0) / (error * np.sqrt(n)) * math.sqrt(left)
            hope = 0.5 * z**2 + 3.0 * z + np.where(q0 * n < 20.0, q0 * left + 5.0, 0.0)
            if np.any((gap > 0.0) & (evidence + hope >= level)):
                return False
        return True

    def by_events(self) -> float:
        """Ln of the evidence of events; a slot bets on one point at a time: its points add up."""
        mixed = np.logaddexp.reduce(self.points.log.sum(axis=2), axis=0) - math.log(STYLES)
        return float(np.logaddexp.reduce(mixed + SHARES[:, 0]))

    @property
    def by_ratios(self) -> bool:
        """Whether likelihood ratios have more evidence than events."""
        return self.ratios.log > self.by_events()

    def kind(self) -> str:
        """What has most evidence: "events", "likelihood ratios" or "divergences"."""
        logs = {"events": self.by_events(), "likelihood ratios": self.ratios.log}
        if self.divergences is not None:
            logs["divergences"] = self.divergences.log
        return max(logs, key=lambda name: logs[name])

    def is_point(self, epsilon: float, delta: float) -> bool:
        """Whether the claim is this point, and no curve."""
        points = self.points
        return (
            len(points.epsilon) == 1 and points.epsilon[0] == epsilon and points.delta[0] == delta
        )

    def divergence(self) -> str:
        """The divergence with more evidence than any event, as text, or ""."""
        bets = self.divergences
        others = max(self.by_events(), self.ratios.log, 0.0)
        return "" if bets is None or bets.log <= others else bets.words()
