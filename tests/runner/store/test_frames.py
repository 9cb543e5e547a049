"""Columns as frames and files: what is written is read back to the bit."""

import csv
import sys
import types

import numpy as np
import pytest

from simulator import PureDP, simulate
from simulator.adversaries import make
from simulator.analysis import Tilted
from simulator.errors import InvalidInput
from simulator.foundations import frames

COLUMNS = {
    "experiment": np.array([0, 1, 1]),
    "loss": np.array([0.1, -np.inf, 1 / 3]),
    "name": np.array(["a", 'b,"c"', ""]),
}


@pytest.fixture
def without(monkeypatch):
    """No library of frames, whatever is installed here."""
    for name in ("pandas", "polars", "pyarrow"):
        monkeypatch.setitem(sys.modules, name, None)
    return monkeypatch


def stand_in(name):
    """A module of frames that remembers what it was given."""
    module = types.ModuleType(name)
    module.DataFrame = lambda columns: (name, columns)
    return module


def test_csv_keeps_every_digit(tmp_path):
    path = frames.write_csv(COLUMNS, tmp_path / "table.csv")
    with open(path, newline="", encoding="utf-8") as file:
        names, *rows = csv.reader(file)
    assert names == list(COLUMNS)
    read = [(int(a), float(b), c) for a, b, c in rows]
    assert read == list(zip(*(column.tolist() for column in COLUMNS.values())))


def test_csv_of_many_rows_is_written_in_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr(frames, "_ROWS", 7)
    column = np.random.default_rng(1).random(100)
    path = frames.write_csv({"x": column}, tmp_path / "table.csv")
    np.testing.assert_array_equal(np.loadtxt(path, skiprows=1), column)


def test_what_was_there_stays_where_writing_fails(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("before")
    with pytest.raises(ValueError, match="zip"):
        frames.write_csv({"x": np.zeros(2), "y": np.zeros(3)}, path)
    assert path.read_text() == "before"
    assert [each.name for each in tmp_path.iterdir()] == ["table.csv"]
    with pytest.raises(InvalidInput, match="cannot write"):
        frames.write_csv(COLUMNS, tmp_path / "nowhere" / "table.csv")


def test_a_frame_is_of_what_is_installed(without):
    assert frames.frame(COLUMNS) == COLUMNS
    without.setitem(sys.modules, "polars", stand_in("polars"))
    assert frames.frame(COLUMNS)[0] == "polars"
    without.setitem(sys.modules, "pandas", stand_in("pandas"))
    assert frames.frame(COLUMNS)[0] == "pandas"
    assert frames.frame(COLUMNS, "polars")[0] == "polars"
    assert frames.frame(COLUMNS, "arrays") == COLUMNS


def test_what_is_not_installed_is_asked_for_in_one_line(without, tmp_path):
    with pytest.raises(InvalidInput, match="pandas is not installed: install it"):
        frames.frame(COLUMNS, "pandas")
    with pytest.raises(InvalidInput, match="library must be one of"):
        frames.frame(COLUMNS, "excel")
    with pytest.raises(InvalidInput, match="Parquet is written by pyarrow or polars"):
        frames.write_parquet(COLUMNS, tmp_path / "table.parquet")
    with pytest.raises(InvalidInput, match="Parquet is written by"):
        frames.exportable(tmp_path / "table.parquet")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.nightly
def test_results_are_tables(tmp_path):
    adversary = make("press-when-ahead", PureDP(0.2), 10)

    def played(**options):
        return simulate(
            adversary, PureDP(0.2), 10, 200, jobs=1, progress=False, block_size=64, **options
        )

    columns = played().to_frame("arrays")
    assert list(columns) == ["experiment", "trial", "loss"]
    np.testing.assert_array_equal(columns["loss"][200:], played().losses(1))
    np.testing.assert_array_equal(columns["trial"], [*range(200), *range(200)])
    weighted = played(sampling=Tilted(1.0))
    columns = weighted.to_frame("arrays")
    np.testing.assert_array_equal(columns["log_weight"][:200], weighted.log_weights[0])
    summary = played(keep="summary").to_frame("arrays")
    assert list(summary) == ["experiment", "least", "largest", "trials"]
    assert summary["trials"].sum() == 400
    counted = played(keep="summary", sampling=Tilted(1.0))
    columns = counted.to_frame("arrays")
    assert list(columns)[-2:] == ["least_log_weight", "largest_log_weight"]
    own, all_weights = columns["experiment"] == 0, weighted.log_weights[0]
    assert columns["least_log_weight"][own].min() == pytest.approx(all_weights.min(), rel=1e-3)
    assert columns["largest_log_weight"][own].max() == pytest.approx(all_weights.max(), rel=1e-3)
    assert (columns["least_log_weight"] <= columns["largest_log_weight"]).all()
    band = played().delta_band([0.1, 0.2])
    assert list(band.columns()) == ["epsilon", "value", "lower", "upper", "widened"]
    assert len(played(trace=True).moment_band().to_frame("arrays")["mean"]) == 10
    assert "type_one" in played().trade_off().columns()
    text = frames.export(played(), tmp_path / "table.csv").read_text()
    assert text.count("\n") == 401


@pytest.mark.parametrize("write", [frames.write_csv, frames.write_parquet])
@pytest.mark.parametrize("path", [3, None, b"table.csv", ""])
def test_what_names_no_file_is_one_line(write, path):
    with pytest.raises(InvalidInput, match="name a file to write"):
        write(COLUMNS, path)


def test_a_table_is_not_written_under_the_name_of_another_format(tmp_path):
    """``to_csv("x.parquet")`` left text that no reader of Parquet opens."""
    table = simulate(make("press-when-ahead", PureDP(0.2), 2), PureDP(0.2), 2, 3, jobs=1)
    for write, name, line in (
        (table.to_csv, "losses.parquet", "call to_parquet, or name a file that ends in .csv"),
        (table.to_csv, "LOSSES.PARQUET", "call to_parquet"),
        (table.to_parquet, "losses.csv", "call to_csv, or name a file that ends in .parquet"),
    ):
        with pytest.raises(InvalidInput) as refusal:
            write(tmp_path / name)
        assert line in str(refusal.value)
    assert list(tmp_path.iterdir()) == []
    for name in ("losses.csv", "LOSSES.CSV", "losses.txt", "losses"):
        assert table.to_csv(tmp_path / name).read_text().startswith("experiment,trial,loss\n")
