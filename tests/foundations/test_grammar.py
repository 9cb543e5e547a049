"""One grammar for what has a name and parameters, whoever reads it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.errors import InvalidInput
from simulator.foundations import grammar
from simulator.foundations.grammar import Parameter
from simulator.theory import GaussianDP, parse_filter, parse_guarantee
from simulator.worst.menu_parsing import parse_menu


def noise(sigma: float, rate: float = 1.0, bins: int = 1, note: str = "") -> None:
    """A maker with a parameter of each kind."""


def banded(sigma: float, coefficients: tuple[float, ...] = (1.0,), rounds_delta: float = 0.0):
    """A maker with a parameter of several values."""


PLAIN, BANDED = grammar.parameters_of(noise), grammar.parameters_of(banded)


def bound(text, parameters, **how):
    return grammar.bind(grammar.read(text), parameters, **how)


def test_parameters_are_those_of_the_signature():
    assert (
        Parameter("sigma"),
        Parameter("rate", 1.0),
        Parameter("bins", 1, "whole number"),
        Parameter("note", "", "text"),
    ) == PLAIN
    assert BANDED[1] == Parameter("coefficients", (1.0,), several=True)
    assert BANDED[2].name == "rounds-delta"
    assert grammar.form("noise", PLAIN) == "noise:SIGMA[,rate=1][,bins=1][,note=]"
    assert grammar.form("banded", BANDED) == "banded:SIGMA[,coefficients=1,...][,rounds-delta=0]"
    assert grammar.form("nothing", ()) == "nothing"


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("noise:2", {"sigma": 2.0}),
        ("noise:2,0.5,3", {"sigma": 2.0, "rate": 0.5, "bins": 3}),
        ("noise:sigma=2,bins=3", {"sigma": 2.0, "bins": 3}),
        ("noise:2,note=a:b", {"sigma": 2.0, "note": "a:b"}),
        ("noise: sigma = 2 ", {"sigma": 2.0}),
    ],
)
def test_values_stand_in_order_or_under_a_name(text, values):
    assert bound(text, PLAIN) == values


@pytest.mark.parametrize(
    "text",
    [
        "banded:2,1,0.5",
        "banded:sigma=2,coefficients=1,0.5",
        "banded:coefficients=1,0.5,sigma=2",
        "banded:2,coefficients=1,0.5",
    ],
)
def test_a_parameter_of_several_values_takes_those_that_follow(text):
    assert bound(text, BANDED) == {"sigma": 2.0, "coefficients": (1.0, 0.5)}
    named = bound(f"{text}*7", BANDED)
    assert named == {"sigma": 2.0, "coefficients": (1.0, 0.5)}
    assert grammar.read(f"{text}*7").count == 7
    assert bound(text + ",rounds_delta=0.1", BANDED)["rounds_delta"] == 0.1


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("noise", "noise needs sigma: write noise:SIGMA"),
        ("noise:", "noise needs sigma"),
        ("noise:rate=1", "noise needs sigma"),
        ("noise:x", "noise:x: sigma must be a number, not 'x'"),
        ("noise:1_0", "sigma must be a number"),
        ("noise:1,", "rate must be a number, not ''"),
        ("noise:1,1,2.5", "bins must be a whole number, not '2.5'"),
        ("noise:1,1,inf", "bins must be a whole number, not 'inf'"),
        ("noise:1,1,1,a,b", "noise takes no more values in order; write noise:SIGMA"),
        ("noise:1,sigma=2", "give sigma once"),
        ("noise:sigma=1,sigma=2", "give sigma once"),
        ("noise:sigma=1,2", "sigma takes one value, not 2"),
        ("noise:sigm=1", "noise has no parameter 'sigm'; did you mean sigma?"),
        ("noise:mu=1", "noise has no parameter 'mu'; write noise:SIGMA"),
        ("noise:1*0", "'noise:1*0': *COUNT is a whole number of rounds, from 1 on, not *0"),
        ("noise:1*", "not *"),
        ("noise:1*-5", "not *-5"),
        ("noise:1*2.5", "not *2.5"),
    ],
)
def test_what_is_wrong_is_one_line_with_the_text(text, complaint):
    with pytest.raises(InvalidInput) as caught:
        bound(text, PLAIN)
    assert complaint in str(caught.value)
    assert str(caught.value).count("\n") == 0


def test_a_part_may_be_left_out_to_be_found():
    assert bound("noise:rate=0.1", PLAIN, partial=True) == {"rate": 0.1}
    assert bound("noise", PLAIN, partial=True) == {}


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["pure", "subsampled-gaussian", "a-b"]),
            st.lists(st.floats(1e-9, 1e9), min_size=1, max_size=4),
            st.booleans(),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_a_list_is_split_where_names_begin(entries):
    texts = [
        f"{name}:" + ",".join(f"{'x=' * named}{value!r}" for value in values)
        for name, values, named in entries
    ]
    assert grammar.split(",".join(texts)) == texts
    assert grammar.split(", ".join(texts)) == texts


def test_families_filters_and_menus_are_read_alike():
    assert parse_guarantee("subsampled-gaussian:rate=0.1,sigma=2") == parse_guarantee(
        "subsampled-gaussian:2,0.1"
    )
    assert parse_filter("zcdp:delta=1e-6,epsilon=1") == parse_filter("zcdp:1,1e-6")
    by_name, in_order = parse_menu("subsampled-gaussian:rate=0.1,sigma=2,subsampled-gaussian:2,0.1")
    assert (by_name.name, by_name.law) == (in_order.name, in_order.law)
    (free,) = parse_menu("laplace:epsilon=0.1..0.4")
    assert (free.low, free.high) == (0.1, 0.4)


def test_a_gaussian_is_given_by_its_sigma_and_by_mu_only_under_that_name():
    assert parse_guarantee("gaussian:4") == parse_guarantee("gdp:mu=0.25") == GaussianDP(0.25)
    sigma, mu = parse_menu("gaussian:sigma=4,gdp:0.25")
    assert sigma.law == mu.law
    assert sigma.challenge == mu.challenge
    with pytest.raises(InvalidInput, match="gaussian has no parameter 'mu'; write gaussian:SIGMA"):
        parse_guarantee("gaussian:mu=1")
    with pytest.raises(InvalidInput, match="sigma cannot be free; an epsilon can, and the mu of"):
        parse_menu("gaussian:1..2")
