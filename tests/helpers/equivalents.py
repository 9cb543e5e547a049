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
}
