"""``dpcompose audit``."""

import pytest

FILE = """
import numpy as np

def laplace(value, n, rng):
    return value + rng.laplace(0.0, 10.0, n)

def small(value, n, rng):
    return value + rng.laplace(0.0, 5.0, n)

def vector(values, n, rng):
    return np.array(values) + rng.laplace(0.0, 1.0, (n, len(values)))

def word(name, rng):
    return name if rng.random() < 0.9 else "nobody"
"""


@pytest.fixture
def noise(tmp_path):
    path = tmp_path / "noise.py"
    path.write_text(FILE, encoding="utf-8")
    return path


SAME = "def same(value, n, rng):\n    return [0] * n\n"

ARGUMENTS = ("--claimed", "pure:0.1", "--pair", "0", "1", "--samples", "20000", "--no-bits")


def test_what_keeps_its_claim(noise, dpcompose):
    done = dpcompose("audit", f"{noise}:laplace", *ARGUMENTS)
    assert done.code == 0
    assert done.out.startswith("not violated: pure:0.1, inputs 0 and 1\n")
    assert "this budget would have seen epsilon" in done.out


def test_what_does_not_exits_with_1_and_says_by_what(noise, dpcompose):
    done = dpcompose("audit", f"{noise}:small", *ARGUMENTS, "--json")
    assert done.code == 1
    found = done.json
    assert found["verdict"] == "violated"
    assert found["epsilon"] > 0.1
    assert found["event"]["words"].startswith("the answer")


@pytest.mark.parametrize("json", [(), ("--json",)])
def test_an_audit_of_nothing_fails_with_the_reason(noise, dpcompose, json):
    noise.write_text(SAME, encoding="utf-8")
    done = dpcompose("audit", f"{noise}:same", *ARGUMENTS, *json)
    assert done.code == 3
    assert "every answer is the same, on both inputs: nothing was audited" in done.err


def test_the_standard_pairs_and_texts_as_inputs(noise, dpcompose):
    done = dpcompose(
        "audit", f"{noise}:vector", "--claimed", "pure:0.1", "--length", "3", "--samples", "30000",
        "--no-bits",
    )  # fmt: skip
    assert done.code == 1
    done = dpcompose(
        "audit",
        f"{noise}:word",
        "--claimed",
        "pure:1",
        "--pair",
        "alice",
        "bob",
        "--samples",
        "2000",
    )
    assert done.code == 1
    assert "'alice'" in done.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("noise:laplace", "--claimed", "pure:1", "--pair", "0", "1"), "path/to/file.py:function"),
        (("{noise}:nothing", "--claimed", "pure:1", "--pair", "0", "1"), "has no mechanism"),
        (("{noise}:laplace", "--claimed", "pure:1"), "--pair INPUT_0 INPUT_1"),
        (("{noise}:laplace", "--claimed", "pure:1", "--pair", "2", "2"), "nothing to tell apart"),
        (("{noise}:laplace", "--claimed", "pure", "--pair", "0", "1"), "pure"),
        (("{noise}:laplace", *ARGUMENTS, "--confidence", "1"), "confidence"),
        (("{noise}:laplace", *ARGUMENTS, "--samples", "3"), "samples must be at least 64"),
    ],
)
def test_bad_input_is_one_line(noise, dpcompose, arguments, said):
    done = dpcompose("audit", *(part.format(noise=noise) for part in arguments))
    assert said in done.complaint
