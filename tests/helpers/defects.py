"""Sixty typical defects, planted one at a time by ``tests.helpers.mutations``.

Each is a module of ``simulator/``, a text that stands in it once, what replaces it, what is then
wrong, and the test files of the room that must fail. Where a module was renamed, the text is found
wherever it stands alone.
"""

from typing import NamedTuple


class Defect(NamedTuple):
    """One change of one module; ``tests`` are paths within ``tests/``, separated by spaces."""

    module: str
    old: str
    new: str
    why: str
    tests: str


DEFECTS = (
    # --- foundations
    Defect(
        "foundations/ties.py", "_TERMS = 8\n", "_TERMS = 8000\n",
        "the tie's tolerance is a thousand times wider", "foundations/test_ties.py",
    ),
    Defect(
        "foundations/ties.py", "_UNIT * rounds * (REACH", "_UNIT * (REACH",
        "the tie's tolerance does not grow with the rounds", "foundations/test_ties.py",
    ),
    Defect(
        "foundations/seeds.py", "cls.MECHANISM_1 if experiment else cls.MECHANISM_0",
        "cls.MECHANISM_0", "both experiments draw the same noise", "foundations/test_seeds.py",
    ),
    Defect(
        "foundations/validation.py", "if not 0 <= number < 1:", "if not 0 <= number <= 1:",
        "a probability below one may be one", "foundations/test_validation.py",
    ),
    # --- theory
    Defect(
        "theory/bounds/concentration.py", "2.0 * t * t / squared_ranges", "t * t / squared_ranges",
        "Azuma's exponent lost its factor of 2", "theory/test_concentration.py",
    ),
    Defect(
        "theory/bounds/concentration.py", "2.0 * deviation * max(t, 0.0) / 3.0",
        "2.0 * deviation * max(t, 0.0) / 6.0", "half of Bernstein's linear term",
        "theory/test_concentration.py",
    ),
    Defect(
        "theory/bounds/advanced.py", "math.tanh(guarantee.pure_epsilon / 2.0)",
        "math.tanh(guarantee.pure_epsilon / 4.0)", "half the mean of the loss",
        "theory/test_bounds.py theory/test_smoke.py",
    ),
    Defect(
        "theory/bounds/advanced.py", "math.sqrt(2.0 * total * min(log_sum",
        "math.sqrt(total * min(log_sum", "a deviation without its factor of 2",
        "theory/test_bounds.py",
    ),
    Defect(
        "theory/bounds/concentrated.py", "rho + 2.0 * math.sqrt(rho", "rho + math.sqrt(rho",
        "the conversion of zCDP lost a factor of 2", "theory/test_bounds.py",
    ),
    Defect(
        "theory/bounds/gaussian.py", "2.0 * core.total(lambda guarantee: guarantee.zcdp_rho)",
        "core.total(lambda guarantee: guarantee.zcdp_rho)", "mu = sqrt(rho) for sqrt(2 rho)",
        "theory/test_bounds.py",
    ),
    Defect(
        "theory/filters/rules.py", "+ squares / 2.0) * UP", "+ squares / 4.0) * UP",
        "half the drift of the whitehouse filter", "theory/test_filters.py",
    ),
    Defect(
        "theory/filters/rules.py", "if total + spent_error > budget * AS_STORED",
        "if total + spent_error > budget * (1.0 + 1e-9)", "the sum filter forgives a billionth",
        "theory/test_filters.py",
    ),
    Defect(
        "theory/guarantees/pure.py", "/ (1.0 + math.exp(-epsilon_0))",
        "/ (1.0 + math.exp(-epsilon))", "the wrong epsilon in a hockey stick",
        "theory/test_guarantees.py",
    ),
    Defect(
        "theory/guarantees/pure.py", "self.delta + (1.0 - self.delta) * pure_delta(",
        "self.delta + pure_delta(", "a leak counted on top of the whole",
        "theory/test_guarantees.py",
    ),
    Defect(
        "theory/laws/laplace.py", "-np.expm1((epsilon - self.epsilon) / 2)",
        "-np.expm1(epsilon - self.epsilon)", "the hockey stick of Laplace noise without its half",
        "theory/test_laws.py",
    ),
    Defect(
        "theory/laws/discrete.py", "losses = shift * (shift / 2 - answers) / sigma**2",
        "losses = shift * (shift / 2 - answers) / sigma", "sigma for its square",
        "theory/test_deployed_laws.py",
    ),
    Defect(
        "theory/pld/grid_laws.py", "upward = np.expm1(-rise) / np.expm1(-width)\n    upper",
        "upward = rise / width\n    upper", "a law on a grid that is not pessimistic",
        "theory/test_outward.py",
    ),
    Defect(
        "theory/outward.py", "return math.nextafter(value, -math.inf)", "return value",
        "a lower end that is not rounded down", "theory/test_outward.py",
    ),
    # --- data
    Defect(
        "data/queries/contract.py", "if not moved <= stated + _ULPS", "if moved > stated + _ULPS",
        "a sensitivity that is NaN passes", "data/queries",
    ),
    Defect(
        "data/queries/contract.py", "_ULPS = 4.0\n", "_ULPS = 4e9\n",
        "a sensitivity may be passed by a millionth", "data/queries",
    ),
    Defect(
        "data/queries/sums.py", "return (self.upper - self.lower) / larger",
        "return (self.upper - self.lower) / self.at_least",
        "off by one in the sensitivity of a mean", "data/queries",
    ),
    Defect(
        "data/queries/sums.py", "clipped = min(max(float(value), lower), upper)",
        "clipped = max(float(value), lower)", "nothing is clipped from above", "data/queries",
    ),
    Defect(
        "data/databases.py", "self.distance(database_0, database_1) <= 1",
        "self.distance(database_0, database_1) <= 2", "neighbours may be two steps apart",
        "data/test_databases.py",
    ),
    # --- mechanisms
    Defect(
        "mechanisms/laplace.py", "params[2] = sensitivity / epsilon", "params[2] = 1.0 / epsilon",
        "noise that ignores the sensitivity", "mechanisms/test_by_hand.py",
    ),
    Defect(
        "mechanisms/laplace.py", "peak = theta * shift if kappa >= 0.0",
        "peak = -theta * shift if kappa >= 0.0", "the sign of a tilt's psi",
        "mechanisms/test_by_hand.py",
    ),
    Defect(
        "mechanisms/gaussian.py", "params[4] = (value_0 - value_1) / (sigma * sigma)",
        "params[4] = (value_0 - value_1) / sigma", "sigma for its square in the loss",
        "mechanisms/test_by_hand.py",
    ),
    Defect(
        "mechanisms/gaussian.py", "tilted[1] = params[0] + theta * (params[0] - params[1])",
        "tilted[1] = params[0] - theta * (params[0] - params[1])", "a tilt to the wrong side",
        "mechanisms/test_by_hand.py",
    ),
    Defect(
        "mechanisms/randomized_response.py", "params[2] = 1.0 / (1.0 + math.exp(-epsilon))",
        "params[2] = 1.0 / (1.0 + math.exp(-0.98 * epsilon))", "the truth is said too seldom",
        "mechanisms/test_by_hand.py",
    ),
    Defect(
        "mechanisms/exponential.py", "weight = 0.5 * epsilon / row[1 + 2 * n]",
        "weight = epsilon / row[1 + 2 * n]", "the exponential mechanism spends 2 epsilon",
        "mechanisms/test_by_hand.py",
    ),
    Defect(
        "mechanisms/geometric.py", "down = math.floor(noise.standard_exponential() / params[2])",
        "down = math.ceil(noise.standard_exponential() / params[2])",
        "noise that is off by one on one side", "mechanisms/test_by_hand.py",
    ),
    Defect(
        "mechanisms/noisy_max.py", "factor = 1.0 if self._is_monotone(relation) else 2.0",
        "factor = 1.0", "half the noise where counts move both ways", "mechanisms/test_by_hand.py",
    ),
    Defect(
        "mechanisms/leaky.py", "truth = (1.0 - self.delta) / (1.0 + math.exp(-self.epsilon))",
        "truth = 1.0 / (1.0 + math.exp(-self.epsilon))", "probabilities add up to more than one",
        "mechanisms/test_by_hand.py",
    ),
    # --- adversaries
    Defect(
        "adversaries/library/press_when_ahead.py", "strong if answer > 0.5 else weak",
        "strong if answer < 0.5 else weak", "presses when behind", "adversaries/test_library.py",
    ),
    Defect(
        "adversaries/library/budget_splitter.py", "epsilon / math.sqrt(i)))",
        "epsilon / i))", "splits its budget too fast", "adversaries/test_library.py",
    ),
    Defect(
        "adversaries/library/fixed_worst_case.py", "1.0 / math.sqrt(2.0 * rho)",
        "1.0 / math.sqrt(rho)", "more than the family allows",
        "adversaries/test_fixed_worst_case.py",
    ),
    # --- identity
    Defect(
        "identity/fingerprint.py",
        "inner = top.digests if top.parts.ordered else sorted(top.digests)",
        "inner = sorted(top.digests)", "(1, 2) and (2, 1) have one fingerprint",
        "identity/test_order_and_rings.py",
    ),
    Defect(
        "identity/fingerprint.py", 'f"ring {len(stack) - depth[id(child)]}"', '"ring"',
        "rings of several lengths have one fingerprint",
        "identity/test_order_and_rings.py",
    ),
    # --- engine
    Defect(
        "engine/compiled/tilted_kernel.py", "log_weight += psi - levels[level] * round_loss",
        "log_weight += psi + levels[level] * round_loss", "the sign of theta in a weight",
        "engine/test_engine_weighted.py engine/test_guarded.py",
    ),
    Defect(
        "engine/trials.py", "self.log_beside += self.law.psi - self.theta * loss",
        "self.log_beside -= self.theta * loss", "a weight without psi",
        "analysis/rare/test_exactness.py",
    ),
    Defect(
        "engine/enumerated/covering.py", "if self._ready is None or self._ready[0] != measure:",
        "if self._ready is None:", "the arrays of another theta are used again",
        "engine/test_covering.py",
    ),
    Defect(
        "engine/enumerated/covering.py", "while share[place] <= 0.0 and place > first:",
        "while False:", "an answer of probability 0 is drawn", "engine/test_covering.py",
    ),
    Defect(
        "engine/views/views.py", "<= 1e-9 * (1.0 + scale)", "<= 1e-3 * (1.0 + scale)",
        "a replay may differ by a thousandth",
        "engine/test_replayed_losses.py",
    ),
    Defect(
        "engine/outcomes/bins.py", "np.maximum(np.ceil(scaled - _TIES), 0.0)",
        "np.maximum(np.floor(scaled - _TIES), 0.0)", "losses counted in the bin below",
        "analysis/estimation/test_counted_losses.py",
    ),
    # --- worst
    Defect(
        "worst/recursion.py", "share = min(math.expm1(-rise) / math.expm1(-grid.step), 1.0)",
        "share = 0.0", "an upper end at the grid point below",
        "worst/test_known_values.py worst/test_awkward.py worst/test_search.py",
    ),
    Defect(
        "worst/recursion.py", "-np.expm1(-np.maximum(z, 0.0))",
        "-np.expm1(-0.99 * np.maximum(z, 0.0))", "a payoff too small", "worst/test_known_values.py",
    ),
    # --- runner
    Defect(
        "runner/partial_runs.py", "min(unit * stop, total))", "min(unit * stop + 1, total))",
        "parts overlap by a block", "runner/test_partial_runs.py",
    ),
    Defect(
        "runner/store/log.py", "at += size * dtype.itemsize", "at += size",
        "the second array of a block is read from within the first", "runner/store/test_store.py "
        "runner/store/test_crafted_logs.py runner/test_merging.py",
    ),
    Defect(
        "runner/merging.py", "self.blocks = -(-self.trials // self.block_size)",
        "self.blocks = self.trials // self.block_size", "the last block is dropped from a merge",
        "runner/test_merging.py",
    ),
    # --- analysis
    Defect(
        "analysis/estimation/intervals.py",
        "alpha = error_level(confidence) / 2.0\n    share =",
        "alpha = error_level(confidence)\n    share =",
        "alpha for alpha / 2 in Clopper and Pearson's interval",
        "analysis/estimation/test_estimates_and_intervals.py",
    ),
    Defect(
        "analysis/estimation/intervals.py", "7.0 * logarithm / (3.0 *", "logarithm / (3.0 *",
        "a seventh of empirical Bernstein's linear term",
        "analysis/estimation/test_estimates_and_intervals.py",
    ),
    Defect(
        "analysis/estimation/hockey_stick.py",
        "alpha = error_level(confidence) / 2.0\n    found =",
        "alpha = error_level(confidence)\n    found =",
        "alpha for alpha / 2 in an estimate of delta", "analysis/estimation/test_error_levels.py",
    ),
    Defect(
        "analysis/estimation/weighted.py", "below, above = lower_of(scaled, alpha / 2.0)",
        "below, above = lower_of(scaled, alpha)", "alpha for alpha / 2 in one of two lower ends",
        "analysis/estimation/test_error_levels.py",
    ),
    Defect(
        "analysis/estimation/band.py", "math.log(2.0 / alpha)", "math.log(1.0 / alpha)",
        "alpha for alpha / 2 in a band", "analysis/estimation/test_error_levels.py",
    ),
    Defect(
        "analysis/estimation/differences.py", "one[0] - other[1], one[1] - other[0]",
        "one[0] - other[0], one[1] - other[1]", "the wrong ends are subtracted",
        "analysis/estimation/test_differences.py",
    ),
    Defect(
        "analysis/verification.py", "false_alarm / max(1, len(adversaries) * 2 * len(probes))",
        "false_alarm", "a false alarm that is not shared among the probes",
        "analysis/test_verification.py",
    ),
    Defect(
        "analysis/rare/splitting.py", "passed *= len(starts) / paths",
        "passed *= (len(starts) + 1) / paths", "off by one in a level's share",
        "analysis/rare/test_splitting_play.py analysis/rare/test_methods.py",
    ),
    Defect(
        "analysis/plots/style.py", '{"Date": None, "Creator": None}', '{"Creator": None}',
        "a picture that carries the date", "analysis/plots",
    ),
    Defect(
        "analysis/estimation/likelihood_bets.py", "total = 2.0 / (1.0 + delta / c",
        "total = 2.0 / (1.0 + 0.0 / c", "bets that gain by what delta allows",
        "analysis/estimation/test_likelihood_bets.py",
    ),
    # --- trials
    Defect(
        "auditing/audits/spending.py", "return 3.0 * math.log1p(", "return 6.0 * math.log1p(",
        "shares of the false alarm that add up to two", "auditing/audits/test_spending.py",
    ),
    Defect(
        "auditing/conformance/verdicts.py", "truth.lower * (1.0 - ROUNDING[question])",
        "truth.lower * (1.0 - 0.01)", "a claim one percent too small is sound",
        "auditing/conformance",
    ),
    Defect(
        "auditing/conformance/witness.py", "event.count * math.log1p(-event.delta)",
        "math.log1p(-event.delta)", "a leak counted once for all rounds",
        "auditing/conformance/test_witness.py",
    ),
    # --- claims
    Defect(
        "teaching/claims/findings.py", "claimed * (1.0 + ROUNDING) + 1e-300",
        "claimed * 1.1 + 1e-300", "a claim may be exceeded by a tenth",
        "teaching/claims/test_framework.py teaching/claims/test_second_reader.py",
    ),
    Defect(
        "teaching/claims/sweeps.py", ".tolist()[1:-1], high]", ".tolist()[1:-1]]",
        "the last point of a sweep is not tried", "teaching/claims/test_knobs.py",
    ),
    # --- doors
    Defect(
        "doors/cli/options.py", "float(found[1]) * UNITS[found[2]]", "float(found[1])",
        "--time 2m lasts two seconds", "doors/cli/test_durations.py",
    ),
    Defect(
        "auditing/pytest_plugin.py", "self.budget * part(worker[_NUMBER]",
        "self.budget + 0.0 * part(worker[_NUMBER]",
        "every process of a session spends the whole budget", "auditing/pytest_plugin",
    ),
)  # fmt: skip
