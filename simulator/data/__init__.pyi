from .databases import (
    ADD_REMOVE as ADD_REMOVE,
    REPLACE_ONE as REPLACE_ONE,
    Database as Database,
    Group as Group,
    Relation as Relation,
)
from .queries import (
    clipped_mean as clipped_mean,
    clipped_sum as clipped_sum,
    counting_query as counting_query,
    counting_scores as counting_scores,
    function_query as function_query,
    histogram_query as histogram_query,
    score_query as score_query,
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
