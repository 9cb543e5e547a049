"""What the command line takes as text, the functions of Python take too."""

import pytest

from simulator import Composition, estimate_rare, simulate, verify
from simulator.adversaries import make
from simulator.analysis import Setting
from simulator.analysis.verification import Check
from simulator.auditing import audit, audit_composition
from simulator.errors import InvalidInput
from simulator.theory import PureDP, parse_filter
from simulator.worst import worst_case

pytestmark = pytest.mark.usefixtures("few_draws")

FAMILY = PureDP(0.2)


@pytest.mark.nightly
def test_a_play_of_texts_is_that_of_what_they_name():
    texts = simulate("press-when-ahead", "pure:0.2", 5, 90, seed=3, jobs=1, filter="sum:0.5")
    adversary = make("press-when-ahead", FAMILY, 5)
    made = simulate(adversary, FAMILY, 5, 90, seed=3, jobs=1, filter=parse_filter("sum:0.5"))
    assert (texts.losses(0) == made.losses(0)).all()
    assert texts.specification.describe() == made.specification.describe()


def test_a_file_names_an_adversary(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(
        "from simulator.adversaries import make\nfrom simulator import PureDP\n"
        "mine = make('press-when-ahead', PureDP(0.2), 5)\n"
    )
    found = simulate(f"{path}:mine", "pure:0.2", 5, 90, seed=3, jobs=1)
    assert len(found.losses(0)) == 90


def test_rare_events_and_checks_take_texts():
    event = estimate_rare(
        "double-when-behind", "pure:0.2", 8, 100, epsilon=0.5, setting=Setting(filter="sum:9")
    )
    made = estimate_rare(
        make("double-when-behind", FAMILY, 8), FAMILY, 8, 100, epsilon=0.5,
        setting=Setting(filter=parse_filter("sum:9")),
    )  # fmt: skip
    assert event.delta == made.delta
    (*checks,) = verify("press-when-ahead", "pure:0.2", 3, 50, jobs=1)
    assert all(isinstance(check, Check) for check in checks)
    assert checks[0].adversary == "press-when-ahead"


def test_searches_audits_and_compositions_take_texts():
    menu = "randomized-response:0.1"
    found = worst_case(menu, filter="sum:0.3", epsilon=0.1)
    assert found.delta == worst_case(menu, filter=parse_filter("sum:0.3"), epsilon=0.1).delta
    assert audit(lambda bit: bit, 0, 1, claimed="pure:0.1", samples=500).claimed == PureDP(0.1)
    played = audit_composition(
        "press-when-ahead", "pure:0.2", 3, claimed="pure:0.6", samples=500, filter="sum:0.6"
    )
    assert played.verdict == "not violated"
    assert Composition.repeat("pure:0.1", 3) == Composition.of((PureDP(0.1), 3))
    with pytest.raises(InvalidInput, match="a round has a guarantee, as"):
        Composition.repeat(0.1, 3)


def test_a_text_that_names_nothing_is_refused():
    with pytest.raises(InvalidInput, match="did you mean press-when-ahead"):
        simulate("pres-when-ahead", "pure:0.2", 5, 9)
    with pytest.raises(InvalidInput, match="needs epsilon"):
        simulate("press-when-ahead", "pure", 5, 9)
