"""The command filter: it makes a certificate, verifies it, and refuses a changed one."""

import json
from itertools import pairwise

import pytest

from simulator.worst.filters.certificate_format import digest_of
from simulator.worst.filters.plot import plot_filters

MAKE = ("filter", "--family", "pure:0.5", "--epsilon", 1, "--delta", "1e-6")
PLAN = (*MAKE, "--plan", "pure:0.1*2,pure:0.02")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("filters")


def test_it_makes_a_certificate_that_it_verifies(dpcompose, folder):
    path = folder / "filter.json"
    said = dpcompose(*PLAN, "--out", path, "--round-epsilon", "0.02,0.1")
    assert (said.code, said.err) == (0, "")
    assert "plan      pure:0.1*2,pure:0.02*" in said.out
    table = said.out.split("\n\n")[1].splitlines()
    heads = "schedule certified residue sum rogers whitehouse zcdp renyi at most"
    assert heads.split() == table[0].split()
    assert table[1].split()[:2] == ["constant", "0.02"]
    assert table[2].split()[:2] == ["constant", "0.1"]
    assert table[2].split()[2:] == ["10", "10", "10", "1", "3", "4", "7", "10"]
    assert said.out.endswith(f"saved: {path}\n")
    proved = dpcompose("filter", "verify", path)
    assert proved.code == 0
    assert proved.out.startswith("proved: delta is at most 9.4")
    assert proved.out.split("digest: ")[0] in said.out  # both say what the checker says
    assert "exists already" in dpcompose(*PLAN, "--out", path).complaint


def test_what_verify_prints_is_what_was_checked(dpcompose, folder):
    document = json.loads((folder / "filter.json").read_text())
    found = json.loads(dpcompose("filter", "verify", folder / "filter.json", "--json").out)
    proved = found["proved"]
    assert found["refused"] is None
    assert proved["digest"] == document["digest"]
    assert (proved["epsilon"], proved["delta"], proved["rows"]) == (1.0, 1e-6, document["rows"])
    ends = [cell[1:3] for cell in proved["cells"]]
    assert ends[0][0] == 0.0
    assert all(before[1] == after[0] for before, after in pairwise(ends))  # without a gap
    sizes = [size for _, size, _ in proved["admits"]]
    assert sizes[-1] == ends[-1][1]
    said = dpcompose("filter", "verify", folder / "filter.json").out.splitlines()
    assert proved["says"] == said
    assert said[1].startswith(f"  pure: eps up to {sizes[-1]!r}; admits ")
    assert said[-1] == f"digest: {document['digest']}"


def test_a_changed_certificate_is_refused_with_exit_code_1(dpcompose, folder):
    document = json.loads((folder / "filter.json").read_text())
    other = folder / "changed.json"
    other.write_text(json.dumps(document | {"rows": document["rows"] + 1}))
    said = dpcompose("filter", "verify", other)
    assert said.code == 1
    assert said.out == f"REFUSED: {other} proves nothing: it was changed: wrong digest\n"
    found = json.loads(dpcompose("filter", "verify", other, "--json").out)
    assert (found["proved"], found["refused"]) == (None, "it was changed: wrong digest")
    play = ("simulate", "press-when-ahead", "--family", "pure:0.2", "--rounds", 5, "--trials", 50)
    assert "was changed" in dpcompose(*play, "--filter", f"certified:{other}").complaint


def test_a_forged_certificate_is_refused_before_a_round_is_played(dpcompose, folder):
    document = json.loads((folder / "filter.json").read_text())
    for move in document["moves"]:
        move["falls"] = [[1, 1]]
    path = folder / "forged.json"
    path.write_text(json.dumps(document | {"digest": digest_of(document)}))
    play = ("simulate", "press-when-ahead", "--family", "pure:0.2", "--rounds", 5, "--trials", 50)
    for command in (play, ("worst-case", "--menu", "randomized-response:0.1", "--epsilon", 1)):
        complaint = dpcompose(*command, "--filter", f"certified:{path}").complaint
        assert f"{path} proves nothing: the rows reach" in complaint


def test_pure_rounds_without_a_plan_have_the_residue_filter(dpcompose):
    said = dpcompose(*MAKE, "--round-epsilon", "0.1")
    assert "filter    residue:1.0,1e-06,0.0, by a formula" in said.out
    found = json.loads(dpcompose(*MAKE, "--json", "--round-epsilon", "0.1").out)
    assert found["filter"] == "residue:1.0,1e-06,0.0"
    assert found["rounds"][0]["rounds"]["residue"] == 10
    assert found["rounds"][0]["best"] == ["sum", 10]


def test_as_json(dpcompose):
    found = json.loads(dpcompose(*PLAN, "--json", "--round-epsilon", "0.1").out)
    assert found["rounds"][0]["rounds"]["certified"] == 10
    assert found["proved"]["reached"] <= 1e-6
    assert found["filter"].startswith('certified:{"dpcompose":"certificate of a privacy filter"')


@pytest.mark.nightly
def test_sampled_gaussians(dpcompose, folder):
    path = folder / "sampled.json"
    family = ("--family", "subsampled-gaussian:2,0.1", "--epsilon", 2, "--delta", "1e-4")
    said = dpcompose("filter", *family, "--units", 4, "--out", path)
    assert (said.code, said.err) == (0, "")
    lines = said.out.split("\n\n")[1].splitlines()
    assert lines[0].split() == ["schedule", "certified", "renyi"]
    for line in lines[1:]:
        *schedule, rounds, renyi = line.split()
        assert schedule[0] == "sigma"
        assert 1 <= int(rounds) <= 4
        assert int(renyi) >= 1
    verified = dpcompose("filter", "verify", path).out
    assert "  subsampled-gaussian:2.0: rate up to 0.1; admits 4 of 0.1\n" in verified


def test_a_plan(dpcompose, folder):
    path = folder / "planned.json"
    promise = ("--epsilon", 1, "--delta", "1e-4")
    plan = ("--plan", "laplace:0.2*2,pure:0.05", "--round-epsilon", "0.05,0.2")
    said = dpcompose("filter", "--family", "pure:0.3+laplace:0.3", *promise, *plan, "--out", path)
    assert (said.code, said.err) == (0, "")
    lines = said.out.splitlines()
    assert lines[1].startswith("plan      laplace:0.2*2,pure:0.05*")
    rows = [line.split() for line in said.out.split("\n\n")[1].splitlines()[1:]]
    kinds = [["constant", "laplace", "0.05"], ["constant", "laplace", "0.2"]]
    assert [row[:3] for row in rows[:2]] == kinds
    assert [row[:2] for row in rows[2:]] == [["constant", "0.05"], ["constant", "0.2"]]
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
    assert {"schedule", "rounds", "at_most"} <= set(found["rounds"][0])
    assert {"certified", "residue", "zcdp"} <= set(found["rounds"][0]["rounds"])


@pytest.mark.nightly
def test_the_family_of_sampled_gaussians_is_written_as_everywhere(dpcompose):
    promise = ("--epsilon", 2, "--delta", "1e-4", "--units", 8)
    family = "subsampled-gaussian:rate=0.1,sigma=2"
    said = dpcompose("filter", "--family", family, *promise, "--json")
    assert json.loads(said.out)["plan"] == [["subsampled-gaussian:2.0", 0.1, 8]]
    alone = dpcompose("filter", "--family", "subsampled-gaussian", *promise).complaint
    assert "subsampled-gaussian needs sigma and rate" in alone


def test_the_picture_is_drawn_from_the_table(dpcompose, folder, monkeypatch):
    drawn = {}

    def keep(axes, rows, title):
        drawn.update({schedule: (rounds, most) for schedule, rounds, most in rows})
        return plot_filters(axes, rows, title)

    monkeypatch.setattr("simulator.worst.filters.picture.plot_filters", keep)
    path = folder / "rounds.png"
    said = dpcompose(*MAKE, "--plot", path)
    assert said.out.endswith(f"drawn: {path}\n")
    assert path.stat().st_size > 5000
    table = said.out.split("\n\n")[1].splitlines()
    heads = table[0].split()[1:-2]
    assert len(drawn) == len(table) - 1
    for line, (schedule, (rounds, most)) in zip(table[1:], drawn.items(), strict=True):
        assert line.startswith(schedule)
        *cells, limit = line[len(schedule) :].split()
        assert dict(zip(heads, map(int, cells), strict=True)) == rounds
        assert limit == ("-" if most is None else str(most))
    assert "no folder" in dpcompose(*MAKE, "--plot", folder / "none" / "a.png").complaint


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((), "missing option '--family'"),
        (("verify",), "verify FILE"),
        (("verify", "a", "b"), "verify FILE"),
        (("verify", "a", "--plot", "b.png"), "verify FILE"),
        (("check", "a"), "verify FILE"),
        (("verify", "/no/such"), "cannot read /no/such"),
        (("--family", "zcdp:1", "--epsilon", 1, "--delta", "1e-6"), "must be of pure, laplace"),
        (("--family", "pure:1", "--epsilon", 1, "--delta", 2), "delta must lie in"),
        ((*MAKE[1:], "--round-epsilon", 0), "must be above 0"),
        ((*MAKE[1:], "--pool", 0.1), "--pool is of a certificate"),
        (("--family", "laplace:x", "--epsilon", 1, "--delta", "1e-6"), "must be a number, not 'x'"),
        ((*MAKE[1:], "--out", "a.json"), "--out is of a certificate"),
        (("--family", "gdp:1", "--epsilon", 1, "--delta", "1e-6"), "gaussian:1.0,1e-06"),
        (
            (
                "--family",
                "subsampled-gaussian:1,0.1",
                "--epsilon",
                1,
                "--delta",
                "1e-6",
                "--units",
                0,
            ),
            "units must be at least 2",
        ),
    ],
)
def test_wrong_input_is_one_line(dpcompose, arguments, complaint):
    assert complaint in dpcompose("filter", *arguments).complaint


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--plan", "pure:0.02", "--units", 50), "units and sigmas are of a filter of subsampled"),
        (("--plan", "pure:9"), "not within the family"),
        (("--round-epsilon", "1e-5"), "--round-epsilon must be at least 0.0005, epsilon / 2000"),
    ],
)
def test_what_would_be_ignored_or_take_minutes_is_refused(dpcompose, arguments, complaint):
    said = dpcompose(
        "filter", "--family", "pure:0.5", "--epsilon", 1, "--delta", "1e-6", *arguments
    )
    assert complaint in said.complaint


def test_verify_takes_no_other_promise(dpcompose, folder):
    said = dpcompose("filter", "verify", folder / "any.json", "--epsilon", 0.1)
    assert "write dpcompose filter verify FILE, or options alone" in said.complaint


def test_sizes_that_are_asked_for_are_shown_though_they_are_above_the_plan(dpcompose):
    made = ("--family", "pure:0.5", "--epsilon", 1, "--delta", "1e-4", "--plan", "pure:0.05")
    said = dpcompose("filter", *made, "--round-epsilon", "0.3,0.45")
    rows = said.out.split("\n\n")[1].splitlines()[1:]
    assert [row.split()[1:3] for row in rows] == [["0.3", "3"], ["0.45", "2"]]


@pytest.mark.nightly
@pytest.mark.parametrize("epsilon", ["1e-300", "1e-20"])
def test_a_tiny_promise_has_a_table_of_the_filters_that_make_it(dpcompose, epsilon):
    """Of rogers, which takes no epsilon below 1e-150, and of too many rounds, nothing is shown."""
    said = dpcompose("filter", "--family", "pure:0.5", "--epsilon", epsilon, "--delta", "1e-6")
    assert (said.code, said.err) == (0, "")
    heads = said.out.split("\n\n")[1].split("\n", 1)[0]
    assert ("rogers" in heads) == (epsilon != "1e-300")
    assert "sum" in heads
