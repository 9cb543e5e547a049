"""``dpcompose bounds --event`` and ``dpcompose calibrate`` by the certified law."""

import json

import pytest

from simulator.theory import events

TREE = {
    "kind": "compose",
    "events": [
        {
            "kind": "self_compose",
            "count": 50,
            "event": {
                "kind": "subsampled",
                "rate": 0.1,
                "event": {"kind": "gaussian", "sigma": 2.0},
            },
        },
        {"kind": "gaussian", "sigma": 20.0},
    ],
}
TARGET = ("--target-epsilon", 2, "--target-delta", 1e-5)


@pytest.fixture
def event_file(tmp_path):
    """``event_file(tree, ...)`` writes a document, or a text as it is, and returns its path."""

    def write(tree=TREE, **more):
        path = tmp_path / "event.json"
        document = {"dpcompose": "event", "version": 1, "event": tree, **more}
        path.write_text(tree if isinstance(tree, str) else json.dumps(document), encoding="utf-8")
        return path

    return write


def test_bounds_of_an_event_are_those_of_its_account(dpcompose, event_file):
    path = event_file()
    said = dpcompose("bounds", "--event", path, "--delta", 1e-5, "--json")
    assert (said.code, said.err) == (0, "")
    rows = {row["name"]: row for row in said.json["bounds"]}
    account = events.read_account(path.read_text(encoding="utf-8"))
    truth = account.epsilon(1e-5)
    assert rows["privacy-loss-distribution"]["lower"] == truth.lower
    assert rows["privacy-loss-distribution"]["upper"] == truth.upper
    assert rows["privacy-loss-distribution"]["kind"] == "fixed-pair"
    assert rows["rdp-canonne-kamath-steinke"]["epsilon"] > truth.upper
    table = dpcompose("bounds", "--event", path, "--delta", 1e-5).out.splitlines()
    assert table[0] == f"epsilon of {path} under add-remove at delta = 1e-05"
    assert {line.split()[0] for line in table[2:-1] if line[0] != " "} <= rows.keys()


def test_the_delta_of_an_opacus_history(dpcompose, event_file):
    path = event_file(json.dumps({"history": [[2.0, 0.1, 50]], "mechanism": "prv"}))
    name = "privacy-loss-distribution"
    said = dpcompose("bounds", "--event", path, "--epsilon", 1.5, "--bound", name, "--json")
    (row,) = said.json["bounds"]
    exact = events.from_opacus([(2.0, 0.1, 50)]).delta(1.5)
    assert (row["lower"], row["upper"]) == (exact.lower, exact.upper)


def test_the_relation_stands_in_the_document(dpcompose, event_file):
    inner = {"kind": "laplace", "scale": 2.0}
    poisson = {"kind": "subsampled", "rate": 0.1, "event": inner}
    fixed = poisson | {"sampling": "without_replacement"}
    said = dpcompose("bounds", "--event", event_file(fixed, relation="replace-one"))
    assert said.code == 0
    assert "under replace-one" in said.out
    line = dpcompose("bounds", "--event", event_file(poisson, relation="replace-one")).complaint
    assert line == (
        "event (subsampled): poisson sampling has a theorem under add-remove and "
        "replace-special only, not under replace-one; sampled_sum says what a record is clipped "
        "at, and has one"
    )
    assert "under replace-one only" in dpcompose("bounds", "--event", event_file(fixed)).complaint


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "event: is not JSON"),
        ("[1]", "history[0]: 1 is not (noise multiplier, sample rate, steps)"),
        ("[[1, 2, 3]]", "history[0]: the sampling rate must be in [0, 1], not 2"),
        ('{"dpcompose": "event", "version": 1, "event": {"kind": "gaussian", "sigma": 0}}',
         "event: sigma must be a positive number"),
        ("\0", "event: is not JSON"),
    ],
)  # fmt: skip
def test_a_bad_event_file_is_refused_in_one_line(dpcompose, event_file, text, complaint):
    assert complaint in dpcompose("bounds", "--event", event_file(text)).complaint


def test_files_that_cannot_be_read(dpcompose, tmp_path):
    assert "No such file" in dpcompose("bounds", "--event", tmp_path / "none").complaint
    assert "not a regular file" in dpcompose("bounds", "--event", tmp_path).complaint
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00")
    assert "is not text in UTF-8" in dpcompose("bounds", "--event", binary).complaint


@pytest.mark.parametrize("more", [("laplace:1",), ("--rounds", 5)])
def test_an_event_file_has_all_of_the_rounds(dpcompose, event_file, more):
    line = dpcompose("bounds", "--event", event_file(), *more).complaint
    assert "--event has all rounds: leave out MECHANISM and --rounds" in line


# --- calibrate ----------------------------------------------------------------------------------


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("given", "rounds", "name", "whole"),
    [
        ("subsampled-gaussian:rate=0.1", 50, "sigma", "subsampled-gaussian:{},0.1*50"),
        ("subsampled-gaussian:2", 50, "rate", "subsampled-gaussian:2,{}*50"),
        ("subsampled-gaussian:2,0.1", None, "rounds", "subsampled-gaussian:2,0.1*{}"),
        ("laplace", 50, "epsilon", "laplace:{}*50"),
        ("subsampled-laplace:rate=0.1", 50, "epsilon", "subsampled-laplace:{},0.1*50"),
        (
            "subsampled-randomized-response:1,0.1",
            None,
            "rounds",
            "subsampled-randomized-response:1,0.1*{}",
        ),
        ("approx:delta=1e-8", 50, "epsilon", "approx:{},1e-8*50"),
        ("pure:0.1", None, "rounds", "pure:0.1*{}"),
        ("gaussian*50", None, "sigma", "gaussian:{}*50"),
    ],
)
def test_the_number_that_is_left_out_is_calibrated(dpcompose, given, rounds, name, whole):
    times = () if rounds is None else ("--rounds", rounds)
    said = dpcompose("calibrate", given, *times, *TARGET, "--digits", 3, "--json")
    assert (said.code, said.err) == (0, "")
    found = said.json
    assert found["parameter"] == name
    assert found["meets"]["upper"] <= 2.0 < found["misses"]["lower"]
    if name == "sigma":
        assert found["misses"]["value"] < found["meets"]["value"]
    else:
        assert found["misses"]["value"] > found["meets"]["value"]
    asked = whole.format(found["meets"]["value"])
    rows = dpcompose("bounds", asked, "--delta", 1e-5, "--json").json["bounds"]
    truth = next(row for row in rows if row["name"] == "privacy-loss-distribution")
    assert truth["upper"] <= 2.0


def test_the_table_shows_both_ends(dpcompose):
    said = dpcompose("calibrate", "gaussian", "--rounds", 10, *TARGET)
    lines = said.out.splitlines()
    assert lines[0].startswith("sigma of 10 rounds of gaussian for a total of (2, 1e-05)")
    assert lines[2].split()[:4] == ["meets", "the", "target", "6.305"]
    assert lines[3].split()[:3] == ["does", "not", "6.3049"]
    one = dpcompose("calibrate", "gaussian*1", *TARGET).out
    assert one == dpcompose("calibrate", "gaussian", "--rounds", 1, *TARGET).out
    assert dpcompose("calibrate", "gaussian", *TARGET, "--json").json["parameter"] == "sigma"


def test_the_unknown_of_an_event_file(dpcompose, event_file):
    text = json.dumps({"dpcompose": "event", "version": 1, "event": TREE})
    path = event_file(text.replace('"sigma": 2.0', '"sigma": "?"'))
    found = dpcompose("calibrate", "--event", path, *TARGET, "--digits", 3, "--json").json
    assert found["parameter"] == "sigma"
    assert found["meets"]["upper"] <= 2.0 < found["misses"]["lower"]


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        (("subsampled-gaussian:rate=1.5",), "rate must be in [0, 1], not 1.5"),
        (("subsampled-gaussian:rate=-1",), "rate must be in [0, 1]"),
        (("subsampled-gaussian:0",), "subsampled-gaussian:0: sigma must be a positive number"),
        (("subsampled-gaussian:nan",), "subsampled-gaussian:nan: sigma must be finite"),
        (
            ("subsampled-gaussian:1,0.1", "--rounds", 9),
            "subsampled-gaussian:1,0.1: nothing is left out to be calibrated; leave out a "
            "parameter of subsampled-gaussian:SIGMA,RATE, or the number of rounds",
        ),
        (
            ("subsampled-gaussian", "--rounds", 9),
            "subsampled-gaussian needs sigma and rate: leave out one alone, to be calibrated",
        ),
        (("subsampled-gaussian:epsilon=1",), "has no parameter 'epsilon'"),
        (("subsampled-gaussian:rate=0.1", "--rounds", 0), "rounds must be at least 1"),
        (("laplace*5", "--rounds", 6), "--rounds is 6, but laplace*5 has 5"),
        (("laplace:-1",), "laplace:-1: epsilon must be above 0"),
        (("laplace:sigma=1",), "laplace has no parameter 'sigma'; write laplace:EPSILON"),
        (
            ("approx:1", "--rounds", 5),
            "approx needs delta, which is not calibrated: write",
        ),
        (("exponential", "--rounds", 5), "has no dominating pair of laws"),
        (("shuffled:reports=9", "--rounds", 5), "has no dominating pair of laws"),
        (("pure", "--rounds", 5, "--family", "pure"), "--family does not go with MECHANISM"),
        (("pure", "--event", "x.json"), "give MECHANISM or --event, not both"),
        (("laplas",), "no mechanism 'laplas'; did you mean laplace"),
        (("--event", "x.json", "--rounds", 5), "--rounds does not go with --event"),
        (("--event", "x.json"), "x.json: No such file"),
        ((), "Missing option '--rounds'"),
        (("laplace:50",), "no rounds from 1 to 1e+09 meets"),
    ],
)
def test_a_calibration_that_makes_no_sense_is_refused(dpcompose, given, complaint):
    assert complaint in dpcompose("calibrate", *given, *TARGET).complaint


@pytest.mark.parametrize("target", [(0, 1e-5), (-1, 1e-5), (2, 0), (2, 1), ("nan", 1e-5)])
def test_a_target_that_makes_no_sense_is_refused(dpcompose, target):
    options = ("--target-epsilon", target[0], "--target-delta", target[1])
    line = dpcompose("calibrate", "laplace", "--rounds", 5, *options).complaint
    assert "target" in line


def test_calibrate_says_which_adversary_its_answer_is_for(dpcompose):
    given = ["subsampled-gaussian:rate=0.05", "--rounds", 10, "--digits", 3]
    given += ["--target-epsilon", 1, "--target-delta", 1e-5]
    fixed = dpcompose("calibrate", *given)
    assert "one pair of databases in all rounds" in fixed.out.splitlines()[0]
    chosen = dpcompose("calibrate", *given, "--direction", "any")
    assert "the direction chosen in every round" in chosen.out.splitlines()[0]
    assert dpcompose("calibrate", *given, "--json").json["direction"] == "fixed"
    ladder = ["--target-epsilon", 1, "--target-delta", 1e-5, "--rounds", 10, "--direction", "any"]
    refused = dpcompose("calibrate", *ladder)
    assert refused.code == 2
    assert "--direction needs MECHANISM or --event" in refused.err
