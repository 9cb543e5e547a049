"""Laws, distributions and brackets as JSON: exact round trips, and complaints with a path."""

import json
import math

import pytest

from simulator.foundations.errors import InvalidInput
from simulator.theory import (
    PLD,
    Bracket,
    GaussianLaw,
    GaussianMixtureLaw,
    LaplaceLaw,
    PoissonSubsampledLaw,
    SampledWithoutReplacementLaw,
    TruncatedNoiseLaw,
    compose_laws,
    discrete_gaussian,
    randomized_response,
)
from simulator.theory.laws.stored import LAWS
from simulator.theory.stored import JsonNode

ROUNDS = [
    (PoissonSubsampledLaw(GaussianLaw(1.1), 0.1 + 0.2), 7),
    (PoissonSubsampledLaw(LaplaceLaw(1.1), 0.1, exchanged=True), 1),
    (randomized_response(1 / 3, 1e-9), 3),
    (LaplaceLaw(0.1), 2),
    (GaussianLaw(math.pi), 1),
]


LAWS_OF_ALL_KINDS = [
    *(law for law, _ in ROUNDS),
    SampledWithoutReplacementLaw(PoissonSubsampledLaw(GaussianLaw(0.3), 0.7), 0.2),
    GaussianMixtureLaw(1.7, (0.0, 1.0, 2.5), (0.5, 0.3, 0.2), exchanged=True),
    TruncatedNoiseLaw(LaplaceLaw(0.2), 3.0),
    discrete_gaussian(3.0, 2),
]


@pytest.mark.parametrize("law", LAWS_OF_ALL_KINDS, ids=lambda law: type(law).__name__)
def test_a_law_is_read_back_to_the_last_bit(law):
    text = json.dumps(LAWS.write(law))
    assert LAWS.read(JsonNode(json.loads(text), "law")) == law


def test_a_distribution_is_read_back_and_answers_the_same():
    pld = compose_laws(ROUNDS, 1e-4)
    again = PLD.from_json(pld.to_json())
    assert again == pld
    assert again.to_json() == pld.to_json()
    assert again.epsilon(1e-5) == pld.epsilon(1e-5)
    nothing = PLD.nothing()
    assert PLD.from_json(nothing.to_json()) == nothing


def test_the_order_of_the_rounds_in_a_document_does_not_matter():
    pld = compose_laws(ROUNDS, 1e-4)
    document = json.loads(pld.to_json())
    document["rounds"].reverse()
    assert PLD.from_json(json.dumps(document)) == pld


def test_a_document_of_laws_that_enclose_another_is_refused():
    document = json.loads(compose_laws(ROUNDS, 1e-4).to_json()) | {"pessimistic": True}
    with pytest.raises(InvalidInput, match=r"pessimistic.*no longer read"):
        PLD.from_json(json.dumps(document))


@pytest.mark.parametrize("ends", [(0.1, 0.2), (0.0, math.inf), (-math.inf, 5e-324), (1.0, 1.0)])
def test_a_bracket_is_read_back(ends):
    bracket = Bracket(*ends)
    assert Bracket.from_json(bracket.to_json()) == bracket
    json.loads(bracket.to_json(), parse_constant=pytest.fail)


def altered(old, new):
    text = compose_laws(ROUNDS, 1e-4).to_json()
    assert old in text
    return text.replace(old, new, 1)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "pld: is not JSON"),
        ("[]", "pld: must be an object, not []"),
        ("[" * 100_000, "nested more than 100 levels"),
        ('{"dpcompose": "bracket", "version": 1}', 'it has no "dpcompose": "pld"'),
        (altered('"version": 1', '"version": 2'), "has version 2, where this program reads 1"),
        (altered('"version": 1', '"version": 1, "version": 1'), "'version' appears twice"),
        (altered('"rounds"', '"round"'), "pld: has no rounds"),
        (altered('"tolerance": 0.0001', '"tolerance": 0'), "must be in [1e-12, 1], not 0.0"),
        (altered('"count": 7', '"count": -7'), "rounds: a count of rounds must be an integer"),
        (altered('"count": 7', '"count": 0.5'), "rounds[4].count: must be a whole number, not 0.5"),
        (altered('"mu": 1.1', '"mu": 0.0'), "law.base: mu (shift over"),
        (altered('"mu": 1.1', '"mu": NaN'), "NaN is not JSON"),
        (altered('"mu": 1.1', '"mu": true'), "law.base.mu: must be a number, not true"),
        (altered('"mu": 1.1', f'"mu": 1{"0" * 400}'), "law.base.mu: is a number that no float"),
        (altered('"mu": 1.1', '"m": 1.1'), "law.base.m: gaussian has no"),
        (altered('"kind": "laplace"', '"kind": "laplac"'), "no kind 'laplac'; there is laplace"),
        (altered('"kind": "laplace", ', ""), "law: has no kind"),
        (altered('"infinite_mass": 1e-09', '"infinite_mass": 0.1'), "law: the masses sum to"),
        (altered('"infinite_mass": 1e-09', '"infinite_mass": -1'), "must lie in [0, 1]"),
    ],
)  # fmt: skip
def test_a_bad_document_is_refused_in_one_line_with_the_path(text, complaint):
    with pytest.raises(InvalidInput) as refused:
        PLD.from_json(text)
    assert complaint in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_bracket_upside_down_is_refused():
    with pytest.raises(InvalidInput, match="lower <= upper"):
        Bracket.from_json(Bracket(0.1, 0.2).to_json().replace("0.1", "0.3"))
