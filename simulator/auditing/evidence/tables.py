"""Tables, series, sparse matrices and tensors of other libraries, through their public names.

Their cells lie in compiled parts, beside caches of earlier look-ups that are no part of an answer.
A library is recognised once it is loaded, and never imported.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from simulator.foundations.errors import InvalidInput


class TableContent(NamedTuple):
    """The public content of a table.

    Attributes
    ----------
    facts : its types and names, by what they are.
    columns : the label and the values of each; a series has one column, labelled None.
    rows : the labels of the rows, as long as each column; None where rows have none.
    """

    facts: dict[str, Any]
    columns: Sequence[tuple[Any, Sequence[Any]]]
    rows: Sequence[Any] | None


def table_content(value: Any) -> TableContent | None:
    """The content of a table; None for any other object. Raises InvalidInput for a plan of one."""
    kind: Any = type(value)
    take = _taker(kind)
    return None if take is None else take(value)


@lru_cache(maxsize=1024)
def _taker(kind: type) -> Callable[[Any], TableContent] | None:
    """What reads the values of a type, if that is a table of a library that is loaded."""
    for names, take in _TAKERS.items():
        module, _, name = names.rpartition(".")
        found = getattr(sys.modules.get(module), name, None)
        if isinstance(found, type) and issubclass(kind, found):
            return take
    return None


# --- pandas -------------------------------------------------------------------------------------


def _pandas_frame(value: Any) -> TableContent:
    rows, index = _labels(value.index)
    labels, columns = _labels(value.columns)
    series = [column for _, column in value.items()]
    types, cells = [each.dtype for each in series], [each.tolist() for each in series]
    facts = {"index": index, "columns": columns, "types": [_type(each) for each in types]}
    return TableContent(facts | _beside(value), list(zip(labels, cells)), rows)


def _pandas_series(value: Any) -> TableContent:
    rows, index = _labels(value.index)
    facts = {"index": index, "type": _type(value.dtype), "name": value.name}
    return TableContent(facts | _beside(value), [(None, value.tolist())], rows)


def _pandas_index(value: Any) -> TableContent:
    labels, facts = _labels(value)
    return TableContent({"kind": "Index", "index": facts}, [(None, labels)], None)


def _pandas_array(value: Any) -> TableContent:
    return TableContent({"kind": "array", "type": _type(value.dtype)}, [(None, list(value))], None)


def _labels(index: Any) -> tuple[Sequence[Any], Any]:
    """The labels of an index, and its names and types: a range is the whole numbers in it.

    A time, a period or an interval is its text, which has all of it but what the type has.
    """
    labels = index.tolist()
    if labels and type(labels[0]).__module__.partition(".")[0] == "pandas":
        labels = list(map(str, labels))
    step = getattr(index, "freq", None)  # which pandas prints, though it may follow from the times
    return labels, (_type(index.dtype), None if step is None else _name(step), *index.names)


def _beside(value: Any) -> dict[str, Any]:
    """What a table has beside its values: its class, notes, and attributes that were set on it."""
    found = {"kind": type(value).__name__}
    if value.attrs:
        found["attrs"] = value.attrs
    if not value.flags.allows_duplicate_labels:
        found["flags"] = "unique labels"
    return found | {name: each for name, each in vars(value).items() if name[:1] != "_"}


def _type(dtype: Any) -> Any:
    """A type of values; of categories all of them, whether they occur or not."""
    categories = getattr(dtype, "categories", None)
    if categories is None:
        return _name(dtype)
    return "category", getattr(dtype, "ordered", None), list(categories)


@lru_cache(maxsize=1024)
def _name(dtype: Any) -> str:
    """A type of values, or a step of times, as text."""
    return str(dtype)


# --- polars -------------------------------------------------------------------------------------


def _polars_frame(value: Any) -> TableContent:
    columns = [(column.name, column.to_list()) for column in value.get_columns()]
    facts = {"kind": type(value).__name__, "types": [_type(each) for each in value.dtypes]}
    return TableContent(facts, columns, None)


def _polars_series(value: Any) -> TableContent:
    facts = {"kind": type(value).__name__, "type": _type(value.dtype), "name": value.name}
    return TableContent(facts, [(None, value.to_list())], None)


def _polars_plan(value: Any) -> TableContent:
    raise InvalidInput(
        f"an answer is a {type(value).__name__} of polars, a plan that holds the data that it is "
        "computed from: return the table that .collect() makes of it"
    )


# --- matrices and tensors -----------------------------------------------------------------------


def _sparse(value: Any) -> TableContent:
    cells = value.tocoo()
    coordinates = getattr(cells, "coords", None) or (cells.row, cells.col)
    facts = {"kind": type(value).__name__, "shape": value.shape, "type": str(value.dtype)}
    columns = [(axis, each.tolist()) for axis, each in enumerate(coordinates)]
    return TableContent(facts, [*columns, ("data", cells.data.tolist())], None)


def _tensor(value: Any) -> TableContent:
    facts = {"kind": type(value).__name__, "type": str(value.dtype), "shape": tuple(value.shape)}
    return TableContent(facts, [(None, value.detach().cpu().reshape(-1).tolist())], None)


_TAKERS: dict[str, Callable[[Any], TableContent]] = {
    "pandas.DataFrame": _pandas_frame,
    "pandas.Series": _pandas_series,
    "pandas.Index": _pandas_index,
    "pandas.api.extensions.ExtensionArray": _pandas_array,
    "polars.DataFrame": _polars_frame,
    "polars.Series": _polars_series,
    "polars.LazyFrame": _polars_plan,
    "scipy.sparse.sparray": _sparse,
    "scipy.sparse.spmatrix": _sparse,
    "torch.Tensor": _tensor,
}
"""What reads the tables of a class, by the public name of the class."""
