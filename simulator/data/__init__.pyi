from .databases import ADD_REMOVE, REPLACE_ONE, Database, Group, Relation
from .queries import (
    clipped_mean,
    clipped_sum,
    counting_query,
    counting_scores,
    function_query,
    histogram_query,
    score_query,
)

__all__ = [
    "ADD_REMOVE",
    "REPLACE_ONE",
    "Database",
    "Group",
    "Relation",
    "clipped_mean",
    "clipped_sum",
    "counting_query",
    "counting_scores",
    "function_query",
    "histogram_query",
    "score_query",
]
