"""The command pipeline: its verdict, its exit code, and bad input."""

import pytest

FILE = """
def count(data, rng):
    return len(data) + rng.laplace(scale=2.0)

def mean(data, rng):
    return (sum(data) + rng.laplace(scale=2.0)) / len(data)
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "pipelines.py"
    path.write_text(FILE, encoding="utf-8")
    return path


PAIR = ["--pair", "[0.5, 1.0]", "[0.5]"]


def test_a_pipeline_that_keeps_its_claim(dpcompose, file):
    found = dpcompose("pipeline", f"{file}:count", *PAIR, "--claimed", "pure:0.5")
    assert found.code == 0
    assert "kept (claimed pure:0.5): 1 call recorded" in found.out


def test_a_pipeline_that_leaks(dpcompose, file):
    found = dpcompose("pipeline", f"{file}:mean", *PAIR, "--claimed", "pure:0.5", "--json")
    assert found.code == 1
    assert found.json["verdict"] == "violated"
    assert found.json["findings"][0]["kind"] == "argument"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["x", *PAIR], "give a pipeline as path/to/file.py:function"),
        (["FILE:total", *PAIR], "has no pipeline 'total'"),
        (["FILE:count", "--pair", "[0.5, 1.0", "[0.5]"], "--pair must be two Python literals"),
        (["FILE:count", "--pair", "[0.5]", "abc"], "--pair must be two Python literals"),
        (["FILE:count", "--pair", "{[]}", "[]"], "--pair must be two Python literals"),
        (["FILE:count", *PAIR, "--patch", "x"], "no patch 'x': there are diffprivlib, opendp"),
    ],
)
def test_bad_input_is_one_line(dpcompose, file, arguments, message):
    found = dpcompose("pipeline", *[each.replace("FILE", str(file)) for each in arguments])
    assert message in found.complaint
