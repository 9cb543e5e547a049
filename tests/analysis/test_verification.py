"""The false alarm of a check is shared among all that is checked."""

from simulator.adversaries.registry import make
from simulator.analysis.verification import verify
from simulator.theory import Composition, PureDP, bound

FAMILY = PureDP(0.2)


def widths(names):
    """{(bound, experiment, epsilon): width of the interval} where so many bounds are checked."""
    bounds = [bound(name).on(Composition.repeat(FAMILY, 5)) for name in names]
    checks = verify(
        {"worst": make("fixed-worst-case", FAMILY, 1)}, FAMILY, 5, 2_000,
        bounds=bounds, seed=3, jobs=1, false_alarm=1e-3,
    )  # fmt: skip
    return {(c.bound, c.experiment): c.verdict.upper - c.verdict.lower for c in checks}


def test_each_interval_is_wider_where_more_is_checked():
    alone, among = widths(["advanced"]), widths(["advanced", "basic", "kairouz-oh-viswanath-3.3"])
    assert len(among) > len(alone) == 2
    for key, width in alone.items():
        assert width < among[key] < 2.0 * width
