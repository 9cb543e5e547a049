"""The meanings of the parameters of the checks, and the ranges of their numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from simulator.data.databases import RELATIONS, Relation
from simulator.foundations.knobs import Knob

MEANINGS: dict[str, tuple[str, float, float]] = {
    "agree": ("share of patients in whom smoking and disease agree", 0.0, 1.0),
    "alpha": ("error of an answer, as a fraction of the rows", 0.0, 1.0),
    "answers": ("how many answers the listed pair has", 1, 1000),
    "assumed": ("the ε for which the estimate is made", 0.01, 50.0),
    "batches": ("batches of an epoch", 1, 1e5),
    "best": ("candidates of the highest score", 1, 1e5),
    "beta": ("how fast smooth sensitivity decays", 1e-9, 100.0),
    "beta_factor": ("the printed β is multiplied by it", 0.01, 100.0),
    "bits": ("bits of Alice's record", 1, 8),
    "blocks": ("small databases, which must divide the rows", 2, 4000),
    "budget": ("the loss that is allowed in all", 0.0, 1e9),
    "buyers": ("devices that react to what another site has learned", 1, 50),
    "c": ("how much more common the second condition is", 0.0, 1000.0),
    "candidates": ("candidates to choose among", 2, 1e5),
    "cases": ("random cases that are tried", 1, 1e4),
    "cells": ("cells of the histogram", 1, 64),
    "chance": ("that Alice is in the batch of a step", 0.01, 0.9),
    "claimed": ("what is claimed, in place of the sum or the sensitivity", 0.0, 1e6),
    "clusters": ("clusters of points", 1, 3),
    "conditions_each": ("conditions that a person has at most", 1, 12),
    "constant": ("the constant in the claimed bound", 0.0, 1e9),
    "conversations": ("mechanisms that are open at once", 1, 3),
    "contraction": ("of a step of gradient descent", 0.0, 0.999),
    "databases": ("databases that are tried, or distinguished", 2, 200),
    "decay": ("the exponent of the decay is multiplied by it", 0.0, 100.0),
    "decimals": ("decimals to which measures are known", 0, 6),
    "delta": ("privacy parameter δ, a probability", 0.0, 1.0),
    "denominator": ("the number below the line", 1.0, 1e9),
    "deviation": ("how far a step strays from its mean, in ε", 0.01, 100.0),
    "dimensions": ("dimensions of a point", 1, 64),
    "directions": ("of the two directions, how many are bounded", 1, 2),
    "edges_of_node": ("edges of the node that is added", 1, 1000),
    "effect": ("maximum effect of a round on the sum, in ε", 0.01, 100.0),
    "epochs": ("epochs of the training", 1, 100),
    "epsilon": ("privacy parameter ε, of a round where there are several", 0.0, 50.0),
    "error": ("how far an answer is from the truth, in rows", 1e-6, 1e6),
    "error_factor": ("error of an answer, in √n rows", 0.0, 100.0),
    "exponent": ("a power", -10.0, 10.0),
    "factor": ("the claimed bound is multiplied by it", 0.0, 1e6),
    "failure": ("probability that some answer errs by more", 1e-12, 1.0),
    "farthest": ("the largest gap between two counts", 0, 600),
    "fraction": ("of the diameter: how far a centre moves", 0.0, 10.0),
    "gap": ("by how much randomized response passes ε", 1e-9, 10.0),
    "flip": ("probability that the next record of a chain differs", 1e-3, 0.5),
    "group": ("people in the group", 1, 1000),
    "high": ("the upper of two levels, or what counts as high", 0.0, 100.0),
    "high_bid": ("the bid of the fourth bidder", 0.0, 1e6),
    "iterations": ("iterations of Lloyd's algorithm", 1, 30),
    "joint_sensitivity": ("L1 sensitivity of the whole histogram", 0.01, 100.0),
    "k": ("coordinates of the query", 1, 1e5),
    "largest": ("the largest value that is claimed for", 1e-12, 1e12),
    "leak": ("the δ of every round, a probability", 0.0, 1.0),
    "least": ("the least change of belief that counts", 0.0, 1.0),
    "level": ("the ε that the mechanism must have", 0.0, 50.0),
    "log_delta": ("ln δ", -700.0, -1e-9),
    "low": ("error of an answer at the lower end, in √n rows", 0.0, 100.0),
    "low_bid": ("the bid of the first three bidders", 0.0, 1e6),
    "m": ("conditions that are counted", 1, 64),
    "mean": ("mean number of runs", 1.0, 1e4),
    "magnified": ("by how much the loss magnifies what it keeps", 1.0, 1e6),
    "messages": ("messages that are summed", 1, 2),
    "most": ("blocks in a count, at the most", 1, 100),
    "n": ("rows of the database, or people", 1, 64),
    "names": ("names that are counted", 1, 1e9),
    "node_factor": ("claimed loss of a node, in ε", 0.0, 1000.0),
    "nodes": ("nodes of the graph", 2, 1000),
    "noise": ("the noise is multiplied by it", 1e-9, 1e9),
    "noise_multiplier": ("noise on the sum of a batch, at clip 1", 0.3, 10.0),
    "norm": ("1 or 2: the norm in which points are small", 1, 2),
    "number": ("how many runs there are", 1, 1000),
    "odds": ("the claimed factor between odds before and after", 0.0, 1e6),
    "offset": ("what is taken off", -1e6, 1e6),
    "ones": ("people who hold a 1", 0, 1e5),
    "order": ("order of a Rényi divergence", 1.001, 1000.0),
    "other_sigma": ("standard deviation of the second", 1e-3, 10.0),
    "others": ("candidates of a lower score", 1, 1e5),
    "outcomes": ("outcomes to choose among", 2, 64),
    "overlap": ("small databases that hold each row", 1, 12),
    "own": ("the part of δ that the root has for itself, δ'", 1e-300, 1.0),
    "pairs": ("random pairs of laws that are tried", 1, 1e4),
    "parties": ("parties of the protocol", 2, 8),
    "parts": ("δ of a round is δ̃ over this many times k", 0.01, 1000.0),
    "parts_of_data": ("parts of the data, with a mechanism each", 1, 6),
    "patients": ("patients of the study", 1, 2000),
    "people": ("people in the database", 1, 1e6),
    "percent": ("claimed percentage of the entries", 0.0, 100.0),
    "power": ("a power", -10.0, 10.0),
    "prior": ("belief beforehand, a probability", 0.0, 1.0),
    "product": ("the privacy parameter is this over n", 0.0, 1000.0),
    "queries": ("how many are answered", 1, 6),
    "rate": ("the exponent is multiplied by it", 0.0, 100.0),
    "room": ("how far beyond ε' the tail is taken", 0.0, 10.0),
    "rounds": ("rounds k", 1, 1e7),
    "rows": ("rows of the database", 1, 3e4),
    "runs": ("runs of the Laplace mechanism", 1, 1e6),
    "s": ("2^s databases are distinguished", 1, 2),
    "scale": ("scale of the noise", 1e-6, 1e9),
    "seed": ("the root seed of the draws", 0, 2**32),
    "sensitivity": ("L1 sensitivity that the noise is made for", 1e-6, 1e6),
    "shape": ("shape of the law of the number of runs", -0.9, 100.0),
    "share": ("the claimed bound is multiplied by it", 0.0, 1e6),
    "shift": ("how far the two answers differ, at sensitivity 1", 0.0, 1.0),
    "shrink": ("the last two links of the chain are multiplied by it", 0.0, 1e6),
    "sigma": ("standard deviation of the first", 1e-3, 10.0),
    "spared": ("blocks that the noise is not for", 0, 6),
    "split": ("the budget is split into so many parts an iteration", 0.01, 100.0),
    "stream": ("elements of the stream", 2, 256),
    "sites": ("sites that receive reports", 1, 64),
    "steps": ("of gradient descent", 1, 64),
    "success": ("probability of hitting the own answer", 1e-6, 1.0),
    "t": ("the bound allows a failure of e^-t", 1e-6, 500.0),
    "target": ("the ε̃ that is wanted", 1e-6, 1.0),
    "tau": ("how far beyond ε the loss is looked at", 0.0, 10.0),
    "threshold": ("the number that is compared with", 0.0, 1e6),
    "tolerance": ("what counts as about the same", 0.0, 1.0),
    "times": ("the claimed factor between two values of ε", 0.0, 1e6),
    "top": ("the end of the range of values, or of the noise", 1, 1e3),
    "total": ("the δ̃ that is split", 1e-300, 1.0),
    "trials": ("plays of each experiment", 1, 1e6),
    "unlikely": ("probability of the revealing output", 0.0, 1.0),
    "useful": ("the advantage from which on an answer is useful", 0.0, 1.0),
    "weight": ("weight of a score, in ε/Δu", 0.0, 100.0),
}
"""The meaning of each parameter by name, and the least and largest value of a number."""

CHOICES: dict[str, str] = {
    "adaptive": "whether an answer sways the later queries",
    "against_first": "whether the claim in the proof is read against D_0",
    "all_subsets": "whether exponentially many means all 2^n subset queries",
    "converse": "whether the tail is bounded by δ, and not δ by the tail",
    "coordinated": "whether the noise of the answers is coordinated",
    "deltas": "δ of every round; none where all are pure",
    "epsilons": "ε of every round, or of every part",
    "finite": "whether there are finitely many answers",
    "formed_first": "whether batches are formed first, and their order is shuffled",
    "from_bids": "whether the prices offered are the bids",
    "given_coins": "whether the adversary's coins are conditioned on",
    "given_itself": "whether X_i is among what is conditioned on",
    "independent": "whether the coins have one law on both databases",
    "inside": "whether ε stands inside the root",
    "keep_coins": "whether a view is replayed with its own coins",
    "knows_coins": "whether the adversary knows its own coins",
    "knows_key": "whether the adversary knows the one-time pad",
    "leaky": "whether the rounds have δs too",
    "law": "the density that is summed: norm or laplace",
    "local_at": "where local sensitivity is taken: D or D'",
    "may_exchange": "whether an adversary may exchange its databases",
    "mean_under": "the law of the mean: posterior or prior",
    "monotone": "whether counts move one way only",
    "noisy": "whether noise is added to the counts",
    "normalised": "whether both measures have mass 1",
    "of_deviation": "whether the deviation is judged, and not the mean",
    "of_outcome": "whether the weight is that of the outcome r",
    "of_ratio": "whether exp(ε) bounds the ratio, and not the loss",
    "on_every_database": "whether it is claimed of every database",
    "outsider_first": "whether the output is claimed to tell more than the view",
    "over_sum": "whether e^ε+1 stands below the line",
    "pick": "which gap next to the median counts: max or min",
    "primed": "whether x' stands on the right",
    "printed": "what the source says",
    "published": "whether the output names the person",
    "pure": "whether the loss is judged, and not δ(ε)",
    "reduce": "which of all local sensitivities counts: max or min",
    "relation": "which databases are neighbours",
    "late": "whether a record is dropped after the query that spent its budget",
    "locked": "whether a report is charged before the next one is checked",
    "repaired": "whether δ(1+e^(ε/2))/2 is claimed instead of δ",
    "replace_one": "whether a neighbour has one record replaced",
    "root_has_its_own": "whether δ' stands in the root",
    "row": "the party and the bit of the row that is added",
    "scaled_to": "the sensitivity that noise is scaled to: local, smooth or global",
    "sees_data": "whether the processing sees the data",
    "sparse": "whether the graph is a ring, and not complete",
    "strict": "whether events of probability δ are left out",
    "tight": "whether tanh(ε/2) stands in place of e^ε-1",
    "trusted": "whether the curator receives the true bits",
    "values": "the values of the database, ascending",
}
"""The meaning of each parameter that is not a number."""

LISTED = frozenset({
    "n", "s", "m", "bits", "nodes", "cells", "parties", "outcomes", "dimensions", "databases",
    "top", "rounds", "answers",
})  # fmt: skip
"""Whole numbers of things of which every combination is listed: two more take long enough."""
PLAYED = frozenset({"trials", "rounds"})
"""Whole numbers of things that are played one by one."""
_MORE = 5.0  # times the default takes some five seconds at most
_SHORT = 12  # larger defaults are computed, not listed


def knobs(parameters: Mapping[str, Any]) -> dict[str, Knob]:
    """Return a check's parameters as knobs, by name."""
    played = "trials" in parameters
    return {name: _knob(name, value, played) for name, value in parameters.items()}


def _knob(name: str, default: Any, played: bool) -> Knob:
    if isinstance(default, Relation):
        return Knob(name, default, CHOICES[name], choices=RELATIONS, noun="a relation")
    if isinstance(default, bool) or not isinstance(default, int | float | None):
        return Knob(name, default, CHOICES.get(name, "see the check"))
    meaning, low, high = MEANINGS.get(name, ("see the check", -math.inf, math.inf))
    if isinstance(default, int):
        if name == "people":  # a linear program of so many rows, or a law of so many answers
            high = max(300.0, default)
        if name == "pairs" or (played and name in PLAYED):  # each takes its time
            high = min(high, _MORE * default)
        if name in LISTED and default <= _SHORT:
            high = min(high, default + 2)
            meaning += " (all combinations are listed)"
    return Knob(name, default, meaning, low, high)
