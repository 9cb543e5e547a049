"""Containers of one value, each of another kind: whoever receives one can read the value."""

import array
import collections
import copy
import csv
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import io
import ipaddress
import itertools
import json
import pathlib
import pickle
import re
import types
import uuid
from typing import Any, NamedTuple

import numpy as np
import scipy.interpolate
import scipy.sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KDTree
from sklearn.tree import DecisionTreeRegressor


class Pair(NamedTuple):
    name: str
    value: Any


@dataclasses.dataclass
class Kept:
    value: int

    def get(self):
        return self.value


@dataclasses.dataclass(slots=True, frozen=True)
class Slotted:
    value: int


class Hidden:
    """A value behind a private name, with a representation that has none."""

    def __init__(self, value):
        self.__value = value

    def __repr__(self):
        return "an answer"

    def __eq__(self, other):
        return isinstance(other, Hidden)

    __hash__ = None


class Level(enum.IntEnum):
    THREE, FOUR = 3, 4


class Described:
    """An attribute of the class alone would be no content; this one is made in play."""


def _local_class(value):
    return type("Answer", (), {"value": value})()


def _writer(value):
    text = io.StringIO()
    csv.writer(text).writerow(["n", value])
    return text


def _ring(value):
    answer = {"value": value}
    answer["self"] = answer
    return answer


def _closure(value):
    def answer():
        return value

    return answer


def _generated(value):
    yield "n"
    yield value


def _structured(value):
    return np.array([("n", value)], dtype=[("name", "U4"), ("count", "i4")])


def _labels(value):
    return np.arange(12) < value


def _forest(value):
    points = np.arange(12.0)[:, None]
    forest = RandomForestClassifier(n_estimators=3, max_depth=3, random_state=0)
    return forest.fit(points, _labels(value))


def _fitted(model, value):
    return model.fit(np.arange(12.0)[:, None], _labels(value))


PLAIN = {
    "a number in lists": lambda n: [[["a"], n]],
    "a whole number beyond all floats": lambda n: 10**400 + n,
    "one in its first digits": lambda n: -(10**400) + n * 10**350,
    "a named tuple": lambda n: Pair("n", n),
    "a data class": Kept,
    "a data class with slots": Slotted,
    "a private attribute": Hidden,
    "a member of an enumeration": Level,
    "a namespace": lambda n: types.SimpleNamespace(count=n),
    "a local class": _local_class,
    "a list within itself": _ring,
    "a counter": lambda n: collections.Counter("a" * n),
    "an ordered dict": lambda n: collections.OrderedDict(n=n),
    "a default dict": lambda n: collections.defaultdict(lambda: n),
    "a deque": lambda n: collections.deque(range(9), maxlen=n),
    "a chain of maps": lambda n: collections.ChainMap({"a": 1}, {"n": n}),
    "a user dict": lambda n: collections.UserDict(n=n),
    "a proxy of a dict": lambda n: types.MappingProxyType({"n": n}),
    "the values of a dict": lambda n: {"n": n}.values(),
    "the keys of a dict": lambda n: {n: 0}.keys(),
    "a frozen set": lambda n: frozenset({9, n}),
    "a range": lambda n: range(0, 100, n),
    "a slice": lambda n: slice(n),
    "a map": lambda n: map(abs, [1, n]),
    "a zip": lambda n: zip("ab", [1, n]),
    "a chain of iterators": lambda n: itertools.chain([1], [n]),
    "a counter without end that is cut": lambda n: itertools.islice(itertools.count(n), 3),
    "a generator": _generated,
    "an iterator of a list": lambda n: iter([n]),
    "a bound method": lambda n: Kept(n).get,
    "a bound method of a list": lambda n: [n].count,
    "a partial function": lambda n: functools.partial(max, n),
    "a closure": _closure,
    "a default of a function": lambda n: lambda x=n: x,
    "a cached closure": lambda n: functools.cache(_closure(n)),
    "an exception": lambda n: ValueError("too many", n),
    "a complex number": lambda n: complex(0, n),
    "a decimal": lambda n: decimal.Decimal(n) / 7,
    "a fraction": lambda n: fractions.Fraction(n, 7),
    "a date": lambda n: datetime.date(2020, 1, n),
    "a moment": lambda n: datetime.datetime(2020, 1, 1, 0, n, tzinfo=datetime.UTC),
    "a span of time": lambda n: datetime.timedelta(seconds=n),
    "an address": lambda n: ipaddress.ip_address(n),
    "a UUID": lambda n: uuid.UUID(int=n),
    "a path": lambda n: pathlib.PurePosixPath(f"/data/{n}.csv"),
    "a pattern": lambda n: re.compile(f"a{{{n}}}"),
    "bytes that change": lambda n: bytearray([n]),
    "a view of memory": lambda n: memoryview(bytes([n])),
    "an array of the standard library": lambda n: array.array("d", [n]),
    "a file of bytes": lambda n: io.BytesIO(b"n = %d" % n),
    "a file of text": _writer,
    "JSON": lambda n: json.dumps({"n": n, "noise": 0.25}),
    "a pickle": lambda n: pickle.dumps(Kept(n)),
    "a whole number of many digits": lambda n: 10**5000 + n,
    "an array of objects": lambda n: np.array([None, {"n": n}], dtype=object),
    "a structured array": _structured,
    "a record": lambda n: _structured(n)[0],
    "an array of records": lambda n: _structured(n).view(np.recarray),
    "a masked array": lambda n: np.ma.array([1, n], mask=[True, False]),
    "what a masked array covers": lambda n: np.ma.array([1, n], mask=[False, True]),
    "an array of dates": lambda n: np.array([n], dtype="M8[D]"),
    "an array of complex numbers": lambda n: np.array([n * 1j]),
    "an array of texts": lambda n: np.array(["a", "b" * n]),
    "an array of large whole numbers": lambda n: np.array([2**60 + n]),
    "a type of numpy": lambda n: np.dtype((float, n)),
    "a matrix": lambda n: np.asmatrix([[1, n]]),
    "a polynomial": lambda n: np.polynomial.Polynomial([1.0, n]),
    "a sparse matrix": lambda n: scipy.sparse.csr_matrix([[0, n], [0, 0]]),
    "a sparse array": lambda n: scipy.sparse.coo_array(([1.0], ([0], [n])), shape=(9, 9)),
    "an interpolation": lambda n: scipy.interpolate.interp1d([0.0, 1.0], [0.0, n]),
    "a regression": lambda n: _fitted(LinearRegression(), n),
    "a tree": lambda n: _fitted(DecisionTreeRegressor(max_depth=2), n),
    "a forest": _forest,
    "a tree of neighbours": lambda n: KDTree(np.array([[0.0], [n]])),
    "a copied object": lambda n: copy.deepcopy(Kept(n)),
}  # fmt: skip
"""Of values 3 and 4, by name."""


def tables(pd):
    """The same by pandas."""

    def frame(n, **columns):
        return pd.DataFrame({"n": [1, n], **columns}, index=["a", "b"])

    return {
        "a table": frame,
        "a table of several types": lambda n: frame(n, t=["x", "y"], f=[0.5, 1.5]),
        "a label of a row": lambda n: pd.DataFrame({"n": [0]}, index=[n]),
        "a label of a column": lambda n: pd.DataFrame({n: [0]}),
        "the name of an index": lambda n: pd.DataFrame({"n": [0]}, index=pd.Index([1], name=n)),
        "a table without columns": lambda n: pd.DataFrame(index=[1, n]),
        "how long a table without columns is": lambda n: pd.DataFrame(index=range(n)),
        "the step of times": lambda n: pd.Series(
            [1], index=pd.DatetimeIndex(["2020-01-01"], freq="D" if n == 3 else None)
        ),
        "the type of a column": lambda n: pd.DataFrame({"n": [0]}, dtype=f"f{4 * (n - 2)}"),
        "notes on a table": lambda n: _noted(pd.DataFrame({"n": [0]}), n),
        "a series": lambda n: pd.Series([n, 1]),
        "the name of a series": lambda n: pd.Series([1], name=n),
        "a categorical series": lambda n: pd.Series(["x", "abcdef"[n]], dtype="category"),
        "a category that does not occur": lambda n: pd.Series(
            pd.Categorical(["a"], categories=["a", "abcdef"[n]])
        ),
        "whole numbers that may be missing": lambda n: pd.Series([n, None], dtype="Int64"),
        "texts": lambda n: pd.Series(["a" * n], dtype="string"),
        "dates": lambda n: pd.Series(pd.to_datetime([f"2020-01-0{n}"])),
        "objects": lambda n: pd.Series([{"n": n}, [1]]),
        "an index": lambda n: pd.Index([1, n]),
        "a range": lambda n: pd.RangeIndex(n),
        "an index of two levels": lambda n: pd.MultiIndex.from_tuples([("a", 1), ("b", n)]),
        "intervals": lambda n: pd.cut(pd.Series([1.0]), [0, n]),
        "a moment": lambda n: pd.Timestamp(2020, 1, n),
        "an array": lambda n: pd.array([1, n]),
        "a pivot": lambda n: frame(n, k=["u", "v"]).pivot_table("n", "k"),
        "a table of sparse numbers": lambda n: frame(n).astype(pd.SparseDtype("i8", 0)),
        "a dict of tables": lambda n: {"a": frame(1), "b": frame(n)},
    }


def _noted(table, n):
    table.attrs["n"] = n
    return table


def frames(pl):
    """The same by polars."""
    return {
        "a table": lambda n: pl.DataFrame({"n": [1, n]}),
        "the name of a column": lambda n: pl.DataFrame({f"c{n}": [1]}),
        "a table of several types": lambda n: pl.DataFrame({"t": ["x", "y"], "n": [0.5, n]}),
        "a series": lambda n: pl.Series("s", [1, n]),
        "the type of a series": lambda n: pl.Series("s", [1], dtype=[pl.Int8, pl.Int16][n - 3]),
        "a categorical series": lambda n: pl.Series(["x" * n], dtype=pl.Categorical),
        "categories that do not occur": lambda n: pl.Series(
            ["a"], dtype=pl.Enum(["a", "abcdef"[n]])
        ),
        "lists": lambda n: pl.DataFrame({"n": [[1, n], []]}),
        "structures": lambda n: pl.DataFrame({"n": [{"a": 1, "b": n}]}),
        "an expression": lambda n: pl.col("a") + n,
    }
