"""The table of the page on mechanisms: ``python -m tests.helpers.mechanisms_table`` prints it.

Every cell is read off a mechanism of the kind, on a pair of databases that differ in Alice alone.
"""

from collections.abc import Callable

from simulator import mechanisms as m
from simulator.data.databases import ADD_REMOVE, Database
from simulator.data.queries import counting_query, counting_scores, histogram_query
from simulator.foundations.errors import DpcomposeError
from simulator.mechanisms.base import ScalarPair
from simulator.theory.filters.interface import Filter
from simulator.theory.filters.named import FILTERS, filter_class

ALICE = counting_query("alice")
SCORES = counting_scores(["alice", "bob"])
WITHOUT, WITH = Database(["bob"]), Database(["bob", "alice"])
OTHER = Database(["bob", "bob"])

KINDS = {
    "`RandomizedResponse`": m.RandomizedResponse(ALICE, 0.5),
    "`LeakyRandomizedResponse`": m.LeakyRandomizedResponse(ALICE, 0.5, 1e-3),
    "`Laplace`": m.Laplace(ALICE, 0.5),
    "`Laplace` of a vector": m.Laplace(histogram_query(["alice", "bob"]), 0.5),
    "`Geometric` (discrete Laplace)": m.Geometric(ALICE, 0.5),
    "`Staircase`": m.Staircase(ALICE, 0.5, 0.4),
    "`Gaussian`": m.Gaussian(ALICE, 2.0),
    "`Gaussian` of a vector": m.Gaussian(histogram_query(["alice", "bob"]), 2.0),
    "`DiscreteGaussian`": m.DiscreteGaussian(ALICE, 2.0),
    "`TruncatedNoise`": m.TruncatedNoise(ALICE, "gaussian", 2.0, 9.0),
    "`Exponential`": m.Exponential(SCORES, 0.5),
    "`ReportNoisyMax`": m.ReportNoisyMax(SCORES, 0.5),
    "`PoissonSubsampled` Gaussian": m.PoissonSubsampled(m.Gaussian(ALICE, 2.0), 0.1),
    "`PoissonSubsampled` Laplace, geometric": m.PoissonSubsampled(m.Laplace(ALICE, 0.5), 0.1),
    "`PoissonSubsampled` discrete Gaussian": m.PoissonSubsampled(
        m.DiscreteGaussian(ALICE, 2.0), 0.1
    ),
    "`PoissonSubsampled` table of outcomes": m.PoissonSubsampled(
        m.RandomizedResponse(ALICE, 0.5), 0.1
    ),
    "`SampledWithoutReplacement` Gaussian": m.SampledWithoutReplacement(
        m.Gaussian(ALICE, 2.0), 1, 2
    ),
}


def table() -> str:
    """The kinds, what they promise and what they can do, in Markdown."""
    rows = [
        "| mechanism | family | loss's exact law | compiled | tilted | filters |",
        "|---|---|---|---|---|---|",
    ]
    rows += [f"| {name} | {' | '.join(_cells(kind))} |" for name, kind in KINDS.items()]
    return "\n".join(rows)


def _cells(mechanism: m.Mechanism) -> tuple[str, ...]:
    relation = getattr(mechanism, "relation", ADD_REMOVE)
    pair = (WITHOUT, WITH) if relation == ADD_REMOVE else (OTHER, WITH)
    prepared = mechanism.pair(*pair, relation)

    def accounts(kind: type[Filter]) -> bool:
        return _works(lambda: kind(1.0, 1e-6).price_of(mechanism, relation))

    return (
        f"`{mechanism.guarantee(relation).kind}`",
        _yes(_works(lambda: mechanism.law(*pair, relation))),
        _yes(isinstance(prepared, ScalarPair)),
        _yes(isinstance(prepared, ScalarPair) and prepared.scalars.tilt is not None),
        ", ".join(name for name in FILTERS if accounts(filter_class(name))) or "none",
    )


def _works(call: Callable[[], object]) -> bool:
    try:
        call()
    except DpcomposeError:
        return False
    return True


def _yes(whether: bool) -> str:
    return "yes" if whether else "no"


if __name__ == "__main__":
    print(table())
