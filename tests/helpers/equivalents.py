"""Why nothing that is promised changes with a mutant: arguments, by the mutants' labels.

A mutant is one of :mod:`tests.helpers.chance`. Each argument says what the two codes share; one
that only makes a program slower or faster is here too, and says so.
"""

EQUIVALENT: dict[str, str] = {
    "adversaries/program/meaning.py: Meaning.alike: zip(sides[0] or (), sides[1] or ()) -> "
    "zip(sides[1] or (), sides[0] or ())": (
        "whether whole numbers are equal does not depend on which stands first"
    ),
    "analysis/plots/rounds.py: plot_epsilon_against_rounds: 1.5 -> 3.0": (
        "the width of the caps of error bars, in points: a matter of looks"
    ),
    "engine/compiled/plain_kernel.py: plain_kernel.kernel: 0 -> 1 (20)": (
        "the menu entry of an ending that is IMPOSSIBLE, which `raise_if_ended_early` does not read"
    ),
    "engine/compiled/plain_kernel.py: plain_kernel.kernel: 8 * changes -> 8 / changes": (
        "how often an entry may change before its numbers are read in every round: where it has "
        "not changed they are those that were read last, so this is speed alone"
    ),
    "engine/promises.py: limit_between: 0 -> 1": (
        "`isclose` follows: two slopes that are close are both finite or equal and infinite, and "
        "where they are not close neither is looked at further"
    ),
    "mechanisms/gaussian.py: _sample_piece: params[2] * pieces[row, 2] -> "
    "params[2] / pieces[row, 2]": (
        "the divisor is a sign, 1.0 or -1.0: product and quotient are one double"
    ),
    "mechanisms/sampled.py: PoissonSubsampled._values: p > 0.0 -> p >= 0.0": (
        "a sum of probability 0 is left out of the products that follow; it only counts towards "
        "the limit on how many sums there may be, at rates of 0 and 1, where there is one"
    ),
    "theory/bounds/gaussian.py: module: 1e-290 -> 2e-290": (
        "where the general sum begins: between the two numbers both ways keep all digits, as "
        "doubles have full precision down to 2e-308"
    ),
    "theory/filters/rules.py: residue_step: 2.0 -> 4.0 (11)": (
        "Newton's steps end at a change of 4**-50, hence one or two steps later, at the same "
        "double or beside it; the loop below then finds one that is within the target"
    ),
    "theory/inverse.py: falling_root: 1e-15 -> 2e-15": (
        "the root is a start for ends that are certified by themselves, or a number of which no "
        "more than 12 digits are promised"
    ),
    "theory/laws/gaussian_curve.py: gaussian_delta: abs(near) > _FAR -> abs(near) >= _FAR": (
        "at 40 exactly the general formula gives the same doubles, as exp(-800) is 0.0: 0.0 above "
        "and 1.0 below"
    ),
    "theory/laws/normal_cells.py: log_normal_cells: 0.0 -> 1.0 (2)": (
        "the difference is above 0 only by rounding, where both tails agree to the last digits; "
        "such a cell is thin, and is computed below by quadrature"
    ),
    "theory/pld/largest_loss.py: LargestLoss.of: 8 -> 9": (
        "a lower end that is lower by a unit in the last place is a lower end too; how near it is "
        "to the mass is promised to ten digits at most"
    ),
    "theory/pld/composition_query.py: module: 20 -> 21": (
        "the amount of work above which another engine is taken: both are certified to the same "
        "tolerance, and one is slower"
    ),
    "engine/enumerated/intervals.py: Line.below: threshold > self.high -> "
    "threshold >= self.high (2)": (
        "reached with a threshold below the lower end or above the upper one, and not with one "
        "that is equal"
    ),
    "engine/enumerated/moments.py: Moments._quick_moment: "
    "logs[segment].max(initial=-math.inf) -> logs[segment].min(initial=-math.inf)": (
        "the quick way is given up each time, and the same moment is computed the slow way"
    ),
    "theory/bounds/bounded_range.py: non_adaptive_ends: epsilon < rounds * width -> "
    "epsilon <= rounds * width": (
        "at the largest loss the bracket of every pair's delta is [0, 0], which changes neither end"
    ),
    "theory/filters/rules.py: realised_step: leaked >= delta -> leaked > delta": (
        "where both are equal, either order gives the error (x - 2x) + x, which is 0"
    ),
    "theory/pld/enclosing_lines.py: module: 1 -> 2 (2)": (
        "a limit of work: a line of more points is as certain, and takes longer"
    ),
    "theory/pld/laplace_batch.py: LaplaceBatch.log_mgf: _BLOCK // max(flat.size, 1) -> "
    "_BLOCK * max(flat.size, 1)": (
        "how many laws are summed at once: the memory that it takes, and the order of rounding"
    ),
    "analysis/rare/doob.py: StateGraph.rounding: 16 -> 17": (
        "ends that are further apart by 7e-15 of a probability are ends too, and no digits so fine "
        "are promised"
    ),
    "adversaries/program/meaning.py: Meaning.arithmetic: … perands[0], base)], base, numpy) -> "
    "… perands[0], base)], base)": (
        "a positive of a number of numpy was refused above, so that no number here is one of numpy"
    ),
    "adversaries/program/forms.py: Do: True -> False": (
        "the place is the last attribute, and is named wherever one is given"
    ),
    "analysis/rare/rehearsal.py: _rehearse_in_python.laws_of: … ][pair_met[chosen] >= 0], "
    "minlength=len(met)) -> … ][pair_met[chosen] >= 0])": (
        "what the shorter array lacks are counts of 0 at its end, and laws that count nothing are "
        "left out"
    ),
    "theory/bounds/range_recursion.py: best_in_cells: np.abs(parts[0]) + np.abs(parts[1]) -> "
    "np.abs(parts[0]) - np.abs(parts[1])": (
        "alpha is at most 2^-50 of its parts too large, which the margin of the slope covers: it "
        "is above 2^-49 of the first part wherever alpha cancels, the bound is slope^2 over the "
        "square of the roots, and in a cell with a largest value inside the slope is at most "
        "alpha, and at most alpha times twice a step"
    ),
    "theory/pld/composition_query.py: CompositionQuery._lattice_line: "
    "max(log_value - log_scale, … -> min(log_value - log_scale, …": (
        "what may be left out of a line is then less, at every epsilon: a bracket that is "
        "certified in the same way, from more points, as what is left out is added to its width"
    ),
    "theory/pld/response_lattice.py: _convolve: count + 4 -> count - 4": (
        "the logarithms of the weights are granted 256 units or more of rounding by "
        "`log_binomial_error` and are off by less than 100 (against 40 digits), so the sum of the "
        "two bounds is above the sum of the two errors without these eight units, too"
    ),
    "theory/bounds/shuffling.py: ShuffledResponses._delta_answer: 0.0 -> 1.0": (
        "`BoundOnComposition` lowers the end to the value of the bracket, which is 0 here"
    ),
    "theory/filters/natural.py: module: 4096 -> 4097 (2)": (
        "how many laws are remembered: what is found of one does not depend on it"
    ),
    "theory/pld/smoothed_tail.py: SmoothedTail.at: 10000.0 -> 20000.0": (
        "between 10^4 and 2 10^4 lengths of decay, where [0, 1] would do, the bracket is then "
        "made with the margins that it has below 10^4, which grow with the distance"
    ),
    "theory/laws/line_nodes.py: Atoms.nodes: 16 -> 17": (
        "a bound on an error that is larger by eight units is one too; that of the logarithm is "
        "promised to ten digits at most"
    ),
    "theory/laws/finite.py: module: dataclass(frozen=True, eq=False) -> dataclass(frozen=True)": (
        "`dataclass` leaves the `__eq__` and the `__hash__` of a class that defines both as they "
        "are"
    ),
    "theory/laws/subsampled.py: unmixed_loss: 1.0 -> 2.0 (2)": (
        "the share is taken where the loss is at most 1, where both limits leave the loss as it is"
    ),
    "theory/pld/laplace_batch.py: LaplaceBatch.log_decay: 4 -> 5": (
        "a margin for rounding that is larger, by a fifth at most, is one too"
    ),
    "theory/pld/laplace_batch.py: LaplaceBatch.log_decay: 0.0 -> 1.0": (
        "read where every inner share is below the outer one, and only then: the outer one is at "
        "least 0 and the total 0, so the bound is min(outer, 0) = 0, as min(0, 0) is"
    ),
    "theory/pld/laplace_lattice.py: SplineCurve.at: 2 -> 3 (3)": (
        "a margin for rounding that is larger by less than a unit is one too, of 64 and more"
    ),
    "theory/pld/response_atoms.py: _group: rounds < 1000 -> False": (
        "each group is computed anew instead of remembered, by the same function: a matter of speed"
    ),
    "theory/pld/response_atoms.py: mixed_atoms: 2 -> 3": (
        "a bound on the error of losses that is larger by half is one too: of each law, by a unit "
        "in the last place of the largest loss"
    ),
    "theory/pld/node_line.py: make_tail: 1 -> 2 (4)": (
        "a bound on what is beyond the last of n points that is larger, by (n / (n - 1))^2, is "
        "one too; 146 lines that were looked at have 73 points and more, so it is larger by less "
        "than 3 percent of what was chosen to be small"
    ),
    "theory/pld/enclosing_lines.py: _enclosing: law.atom_losses.size <= _MOST_ATOMS -> "
    "law.atom_losses.size < _MOST_ATOMS": (
        "a limit of work: a law of exactly 8192 atoms is then enclosed as one of 8193 is, to the "
        "same tolerance"
    ),
    "theory/laws/quantile.py: loss_range: 1 -> 2": (
        "`_tails` asks for the sign alone, and 1 and 2 have the same"
    ),
    "theory/laws/truncated.py: module: 48 -> 49": (
        "a panel more of a quadrature that has all digits with 48: with 48, 49 and 96 panels "
        "delta is the same to 2e-14 for 3000 laws drawn by chance"
    ),
    "theory/pld/laplace_near_atoms.py: NearAtoms._cells: 8 -> 9": (
        "a margin for rounding that is larger by an eighth is one too"
    ),
    "theory/laws/sampled_transform.py: SampledTransform.nodes: masses > math.exp(-_DIGITS) / x. …"
    " -> masses >= math.exp(-_DIGITS) / x. …": (
        "the two differ where a mass is equal to the limit to the last digit; the limit is so "
        "small that all masses that are up to it may be left out, and `_LEFT_OUT` pays for them"
    ),
    "theory/laws/shuffled_blanket.py: ShuffledBlanket._directions: np.array_equal(other.losses, "
    "self.law.losses) -> np.array_equal(self.law.losses, other.losses)": (
        "whether two arrays are equal does not depend on which stands first"
    ),
}
