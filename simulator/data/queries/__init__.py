"""Queries and the sensitivities they state.

The L1 sensitivity of a query f is the largest ‖f(x) − f(y)‖₁ over neighbouring x and y (Dwork and
Roth 2014, definition 3.1), and depends on what "neighbouring" means: every query here states one
for each relation. A stated sensitivity can be wrong, so :func:`exceeded` checks it on the pair of
databases that an adversary chose.
"""

from simulator.data.queries.arguments import Column
from simulator.data.queries.contract import Answer, Query, ScalarQuery, check_pair, exceeded
from simulator.data.queries.counting import (
    CountingQuery,
    HistogramQuery,
    PredicateQuery,
    counting_query,
    histogram_query,
)
from simulator.data.queries.stated import (
    FunctionQuery,
    ScoreQuery,
    Sensitivity,
    counting_scores,
    function_query,
    score_query,
)
from simulator.data.queries.sums import (
    ClippedSum,
    MeanOfBoundedSize,
    MeanOfPublicSize,
    clipped_mean,
    clipped_sum,
)
from simulator.foundations.attached import furnish

__all__ = [
    "Answer",
    "ClippedSum",
    "Column",
    "CountingQuery",
    "FunctionQuery",
    "HistogramQuery",
    "MeanOfBoundedSize",
    "MeanOfPublicSize",
    "PredicateQuery",
    "Query",
    "ScalarQuery",
    "ScoreQuery",
    "Sensitivity",
    "check_pair",
    "clipped_mean",
    "clipped_sum",
    "counting_query",
    "counting_scores",
    "exceeded",
    "function_query",
    "histogram_query",
    "score_query",
]

furnish(globals())
