"""The command filter: it makes a certificate, verifies it, and refuses a changed one."""

import json

import pytest

MAKE = ("filter", "--family", "pure:0.5", "--epsilon", 1, "--delta", "1e-6", "--units", 60)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("filters")


def test_it_makes_a_certificate_that_it_verifies(dpcompose, folder):
    path = folder / "filter.json"
    said = dpcompose(*MAKE, "--out", path, "--round-epsilon", "0.02,0.1")
    assert (said.code, said.err) == (0, "")
    assert "budget    0.05" in said.out
    *_, small, large, _, saved = said.out.splitlines()
    assert small.split()[0] == "0.02"
    assert 100 < int(small.split()[1]) <= 142
    assert large.split() == ["0.1", "10", "10", "sum", "10"]
    assert saved == f"saved: {path}"
    proved = dpcompose("filter", "verify", path)
    assert proved.code == 0
    assert proved.out.startswith("proved: delta is at most 9.9")
    assert "exists already" in dpcompose(*MAKE, "--out", path).complaint


def test_a_changed_certificate_is_refused_with_exit_code_1(dpcompose, folder):
    document = json.loads((folder / "filter.json").read_text())
    other = folder / "changed.json"
    other.write_text(json.dumps(document | {"budget": document["budget"] * 1.01}))
    said = dpcompose("filter", "verify", other)
    assert said.code == 1
    assert said.out == f"REFUSED: {other} proves nothing: it was changed: wrong digest\n"
    found = json.loads(dpcompose("filter", "verify", other, "--json").out)
    assert (found["proved"], found["refused"]) == (None, "it was changed: wrong digest")
    play = ("simulate", "press-when-ahead", "--family", "pure:0.2", "--rounds", 5, "--trials", 50)
    assert "was changed" in dpcompose(*play, "--filter", f"certified:{other}").complaint


def test_as_json(dpcompose):
    found = json.loads(dpcompose(*MAKE, "--json", "--round-epsilon", "0.1", "--order", 5).out)
    assert found["rounds"][0]["certified"] == 10
    assert found["proved"] <= 1e-6
    assert found["filter"].startswith("certified:1.0,1e-06,")


def test_sampled_gaussians(dpcompose, folder):
    path = folder / "sampled.json"
    family = ("--family", "subsampled-gaussian:2,0.1", "--epsilon", 2, "--delta", "1e-4")
    said = dpcompose("filter", *family, "--units", 8, "--out", path)
    assert (said.code, said.err) == (0, "")
    sigma, rate, rounds, renyi = said.out.splitlines()[5].split()
    assert (sigma, rounds) == ("2", "8")
    assert 0.0 < float(rate) <= 0.1
    assert int(renyi) >= 1
    assert dpcompose("filter", "verify", path).out.startswith("proved: delta is at most")


def test_a_plan(dpcompose, folder):
    path = folder / "planned.json"
    promise = ("--epsilon", 1, "--delta", "1e-4")
    plan = ("--plan", "laplace:0.2*2,pure:0.05", "--round-epsilon", "0.05,0.2")
    said = dpcompose("filter", "--family", "pure:0.3+laplace:0.3", *promise, *plan, "--out", path)
    assert (said.code, said.err) == (0, "")
    lines = said.out.splitlines()
    assert lines[1].startswith("plan      2 of laplace:0.2, ")
    assert [line.split()[:2] for line in lines[5:9]] == [
        ["laplace", "0.05"], ["laplace", "0.2"], ["pure", "0.05"], ["pure", "0.2"],
    ]  # fmt: skip
    proved = dpcompose("filter", "verify", path)
    assert proved.out.startswith("proved: delta is at most")
    document = json.loads(path.read_text())
    document["moves"][0]["size"] *= 1.1
    path.write_text(json.dumps(document))
    assert "wrong digest" in dpcompose("filter", "verify", path).out
    found = json.loads(
        dpcompose("filter", "--family", "pure:0.3", *promise, "--plan", "pure:0.1", "--json").out
    )
    assert found["plan"][0][:2] == ["pure", 0.1]
    assert {"certified", "published", "at_most"} <= set(found["rounds"][0])


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((), "missing option '--family'"),
        (("verify",), "verify FILE"),
        (("verify", "a", "b"), "verify FILE"),
        (("check", "a"), "verify FILE"),
        (("verify", "/no/such"), "cannot read /no/such"),
        (("--family", "zcdp:1", "--epsilon", 1, "--delta", "1e-6"), "pure:EPSILON"),
        (("--family", "pure:1", "--epsilon", 1, "--delta", 2), "delta must lie in"),
        ((*MAKE[1:], "--round-epsilon", 0), "must be above 0"),
        ((*MAKE[1:], "--plan", "pure:9"), "not within the family"),
        ((*MAKE[1:], "--pool", 0.1), "give a plan"),
        (("--family", "laplace:x", "--epsilon", 1, "--delta", "1e-6"), "KIND:SIZE"),
        ((*MAKE[1:], "--units", 0), "units must be at least 2"),
    ],
)
def test_wrong_input_is_one_line(dpcompose, arguments, complaint):
    assert complaint in dpcompose("filter", *arguments).complaint
