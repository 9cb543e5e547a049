"""Bets that the draws kept on one database differ from those kept on the other."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from simulator.analysis.estimation.contrast import Bettor
from simulator.auditing.declared.overlap import Both, Overlap, OverlapReader
from simulator.auditing.evidence.events import Batch, Candidates, Event
from simulator.auditing.evidence.float_features import FeaturesAt
from simulator.auditing.evidence.scores import single_scores
from simulator.auditing.evidence.training_draws import Pool
from simulator.auditing.evidence.wagers import Nulls, estimate, trusted

LEAST_KEPT = 16
"""Draws of each database from which events are learned."""
SPARE = 4.0
"""Nats beyond the rejection level that the sizes of the bets aim at."""


class EventBets:
    """Bets on events among kept draws, against "the probabilities differ by at most ``slack``".

    Parameters
    ----------
    features : of floats.
    slack : by how much the rounding of correct noise may change a probability.
    aim : the growth of evidence per pair of draws that reaches the rejection level.
    """

    def __init__(self, features: FeaturesAt, slack: float, aim: float) -> None:
        self.slack, self.aim = slack, aim
        self.pool = Pool(
            partial(OverlapReader, features=features), lambda *given: single_scores(*given)[0]
        )
        self.nulls = Nulls(np.zeros(1), np.full(1, slack))
        self.candidates: Candidates | None = None

    def learn(self, kept: Both) -> None:
        """Add the draws of the last bets, and choose the next events."""
        n = min(map(len, kept))
        self.pool.add((kept[0][:n], kept[1][:n]))
        if self.pool.size < LEAST_KEPT:
            return
        self.candidates = self.pool.candidates()
        rough = self.slack > 0.0
        within = self.candidates.rough() if rough else self.candidates.smooth()
        self.nulls.choose(self.candidates, within)

    def bet(self, kept: Both) -> float:
        """Settle the bets on new draws; return ln of the evidence so far."""
        n = min(map(len, kept))
        if self.candidates is not None and n:
            chosen = self.nulls.chosen()
            hits = self.candidates.count(chosen, Batch((kept[0][:n], kept[1][:n])))
            self.nulls.bet(self.candidates, hits, n, self.aim)
            self.candidates.add(chosen, hits, n)
        return float(self.nulls.evidence()[0])

    def event(self) -> Event | None:
        """The event with the largest expected growth, or None."""
        slot = int(np.argmax(self.nulls.worth[:, 0]))
        which = int(self.nulls.event[slot, 0])
        if self.candidates is None or which < 0:
            return None
        return self.candidates.event(which, int(self.nulls.favours[slot, 0]))


class MassBets:
    """Bets that more draws are kept on one database than on the other."""

    def __init__(self) -> None:
        self.log = 0.0

    def bet(self, drawn: Overlap, before: np.ndarray, size: int) -> float:
        """Settle the bet on the draws after the first ``size``, of which ``before`` were kept."""
        n = drawn.size - size
        q = estimate(before[None], np.array([size]))[0]
        a = int(np.argmax(q))
        bettor = Bettor(q[[a]], q[[1 - a]], np.zeros(1), np.zeros(1))
        new = drawn.kept - before
        odds = bettor.odds(trusted(np.array([size]), bettor.rate))
        self.log += float(odds.evidence(new[[a]], new[[1 - a]], n)[0])
        return self.log


SCALES = tuple(sign * 2.0**k for k in range(-5, 2) for sign in (1.0, -1.0))
"""True losses over declared ones, less 1, that are bet on."""


class ScaleBets:
    """Bets that the true loss is the declared one times a constant.

    Under a true likelihood the declared losses of the kept draws of both databases, x and y, have
    one law, so each of the pairs (x, y) and (y, x) is as likely. With 1 + r times the loss the
    odds are e^(r (x - y)). The evidence, the average over ``SCALES`` of the products of
    2 / (1 + e^(r (y - x))), is a nonnegative martingale.
    """

    def __init__(self) -> None:
        self.logs = np.zeros(len(SCALES))

    def bet(self, kept: Both) -> float:
        """Settle the bets on the declared losses of new kept draws; return ln of the evidence."""
        n = min(map(len, kept))
        gain = kept[0][:n] - kept[1][:n]
        for place, r in enumerate(SCALES):
            self.logs[place] += float(np.sum(math.log(2.0) - np.logaddexp(0.0, -r * gain)))
        return evidence(list(self.logs))


def evidence(logs: list[float]) -> float:
    """Ln of the average evidence of several bets."""
    return float(np.logaddexp.reduce(logs)) - math.log(len(logs))
