"""``Account.then`` composes what a tree written at once composes."""

from simulator import Account, PureDP
from simulator.theory import events


def test_then_composes_as_a_tree_does():
    step = events.subsampled(events.gaussian(1.0), 0.01)
    grown = Account().then(step, 200).then(PureDP(0.1)).then("pure:0.2", 3)
    tree = events.compose(
        events.self_compose(step, 200),
        events.promise(PureDP(0.1)),
        events.self_compose(events.promise("pure:0.2"), 3),
    )
    assert grown == Account(tree)
    assert grown.epsilon(1e-5) == Account(tree).epsilon(1e-5)


def test_pure_rounds_add_up_and_nothing_costs_nothing():
    # delta 0 of pure rounds is the sum of their epsilons
    found = Account().then("pure:0.1", 4).then("pure:0.3").epsilon(1e-300)
    assert found.lower <= 0.7 <= found.upper
    assert Account().epsilon(1e-6).upper == 0.0
    assert Account(relation="replace-one").then("pure:0.1").relation == "replace-one"
