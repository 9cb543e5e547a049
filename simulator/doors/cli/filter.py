"""The command ``dpcompose filter``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simulator.doors.cli import options
from simulator.doors.cli.output import number, print_json, say
from simulator.foundations.errors import InvalidInput
from simulator.foundations.validation import positive

if TYPE_CHECKING:
    from simulator.theory.filters.certified import CertifiedFilter
    from simulator.theory.filters.planned import PlannedFilter
    from simulator.theory.filters.sampled import SampledFilter


@click.command()
@click.argument("words", nargs=-1, metavar="[verify FILE]")
@click.option(
    "--family",
    "family_text",
    default=None,
    metavar="FAMILY",
    help="pure:EPSILON, every pure mechanism up to it; laplace:EPSILON, range:EPSILON or a mixture "
    "as pure:0.2+laplace:0.5; or subsampled-gaussian:SIGMA,RATE, Gaussian noise from that sigma on "
    "Poisson samples up to that rate.",
)
@click.option("--epsilon", type=float, default=None, help="The promised epsilon.")
@click.option("--delta", type=float, default=None, help="The promised delta.")
@click.option(
    "--rounds-delta",
    type=float,
    default=0.0,
    show_default=True,
    help="The part of delta for the rounds' own deltas.",
)
@click.option(
    "--units",
    type=int,
    default=1000,
    show_default=True,
    help="Rows of the proof: more make the costs of small rounds closer to their squares.",
)
@click.option(
    "--order",
    type=float,
    default=0.0,
    show_default=True,
    help="Of the cost: 0 for squared epsilons; more charges less for large rounds, of a smaller "
    "budget.",
)
@click.option(
    "--plan",
    default=None,
    metavar="ROUNDS",
    help="The rounds that are expected, as pure:0.1*2,pure:0.01; the last one repeats. As many are "
    "admitted as by any sound filter.",
)
@click.option(
    "--pool",
    type=float,
    default=None,
    metavar="SHARE",
    help="Of a plan: the share of the budget for rounds smaller than all of it.",
)
@click.option(
    "--round-epsilon",
    "rounds_at",
    type=options.Numbers(click.FLOAT),
    default=None,
    metavar="EPSILON,...",
    help="Print how many rounds of these epsilons are admitted.",
)
@click.option(
    "--out", type=click.Path(path_type=Path), default=None, help="Write the certificate here."
)
@options.as_json
def filter(
    *,
    words: tuple[str, ...],
    family_text: str | None,
    epsilon: float | None,
    delta: float | None,
    rounds_delta: float,
    units: int,
    order: float,
    plan: str | None,
    pool: float | None,
    rounds_at: tuple[float, ...] | None,
    out: Path | None,
    as_json: bool,
) -> None:
    r"""Make a privacy filter with a proved budget, or verify its certificate.

    \b
    Examples:
      dpcompose filter --family pure:0.5 --epsilon 1 --delta 1e-6 --out filter.json
      dpcompose filter --family pure:0.5 --epsilon 1 --delta 1e-6 --plan pure:0.1*2,pure:0.01
      dpcompose filter --family laplace:0.5 --epsilon 1 --delta 1e-6
      dpcompose filter --family subsampled-gaussian:1,0.02 --epsilon 2 --delta 1e-6
      dpcompose filter verify filter.json

    The budget of pure mechanisms is that of squared epsilons, up to a few percent of cost for
    rounds whose squared epsilon is about one unit. It is proved for every adaptive adversary and
    every parameter up to the largest. The table has the rounds of one epsilon that are admitted,
    those of the best published filter, and the most that any sound filter can admit. Sampled
    Gaussians cost whole units; the table has the largest rates of some costs, and the rounds of
    Renyi accounting.

    With a plan, or of Laplace noise and bounded range, a round leads from row to row of the plan.

    `verify` proves the certificate of FILE anew, without the search. Exit code 1 if it is refused.
    """
    if words:
        if words[0] != "verify" or len(words) != 2 or family_text is not None or out is not None:
            raise click.UsageError("write dpcompose filter verify FILE, or options alone")
        return verified(Path(words[1]), as_json=as_json)
    missing = {"--family": family_text, "--epsilon": epsilon, "--delta": delta}
    for name, given in missing.items():
        if given is None:
            raise click.UsageError(f"missing option {name!r}")
    from simulator.theory.filters.certified import certified_filter  # slow to import
    from simulator.theory.filters.planned import PlannedFilter
    from simulator.theory.filters.sampled import SampledFilter

    if out is not None and out.exists():
        raise InvalidInput(f"{out} exists already and is kept; name a new file")
    rounds_at = tuple(positive("--round-epsilon", each) for each in rounds_at or ())
    found = certified_filter(
        family_text or "", float(epsilon or 0.0), float(delta or 0.0), rounds_delta,
        units=units, order=order, plan=plan, pool=pool, sizes=rounds_at if plan else (),
    )  # fmt: skip
    if out is not None:
        found.save(out)
    if isinstance(found, SampledFilter):
        show_sampled(found, as_json=as_json)
    elif isinstance(found, PlannedFilter):
        show_planned(found, rounds_at, as_json=as_json)
    else:
        show(found, rounds_at, as_json=as_json)
    if out is not None and not as_json:
        say(f"\nsaved: {out}")


def show(found: CertifiedFilter, rounds_at: tuple[float, ...], *, as_json: bool) -> None:
    """Print a filter of pure mechanisms, and the rounds that it admits."""
    rows = [row(found, each) for each in rounds_at or usual_epsilons(found)]
    if as_json:
        print_json(
            {
                "filter": str(found), "budget": found.budget, "unit": found.unit,
                "proved": found.verify(), "rounds": rows,
            }
        )  # fmt: skip
        return
    costs = "squared epsilons" if found.order == 0.0 else f"costs of order {number(found.order)}"
    say(f"{'promise':<9} ({number(found.epsilon)}, {number(found.delta)})")
    say(f"{'budget':<9} {number(found.budget, 7)} of {costs}")
    say(f"{'proved':<9} delta({number(found.epsilon)}) is at most {number(found.verify(), 7)}")
    say(f"\n{'epsilon':>10} {'rounds':>9} {'published':>10} {'':<10} {'at most':>9}")
    for each in rows:
        name, published = each["best"]
        say(
            f"{number(each['epsilon'], 4):>10} {each['certified']:>9} {published:>10} {name:<10} "
            f"{each['at_most']:>9}"
        )


def show_planned(found: PlannedFilter, rounds_at: tuple[float, ...], *, as_json: bool) -> None:
    """Print a filter with a plan, and the rounds of one kind and size that it admits."""
    from simulator.theory.filters.admitted import planned_rounds

    rows: list[dict[str, Any]] = []
    for kind, most in found.largest.items():
        sizes = [e for e in rounds_at or usual_shares(found.epsilon, most) if e <= most]
        for size in sizes:
            own = planned_rounds(found, kind, size)
            rows.append({"kind": kind, "size": size, "rounds": own})
            if kind == "pure":
                rows[-1] |= row(found, size)
    plan = ", ".join(f"{rounds} of {kind}:{number(size)}" for kind, size, rounds in found.plan[:8])
    if as_json:
        print_json(
            {
                "filter": str(found), "plan": [list(run) for run in found.plan],
                "proved": found.verify(), "rounds": rows,
            }
        )  # fmt: skip
        return
    say(f"{'promise':<9} ({number(found.epsilon)}, {number(found.delta)})")
    say(f"{'plan':<9} {plan}{', ...' if len(found.plan) > 8 else ''}")
    say(f"{'proved':<9} delta({number(found.epsilon)}) is at most {number(found.verify(), 7)}")
    say(f"\n{'kind':>10} {'size':>10} {'rounds':>9} {'published':>10} {'':<10} {'at most':>9}")
    for each in rows:
        name, published = each.get("best", ("", ""))
        say(
            f"{each['kind']:>10} {number(each['size'], 4):>10} {each['rounds']:>9} "
            f"{published:>10} {name:<10} {each.get('at_most', ''):>9}".rstrip()
        )


def show_sampled(found: SampledFilter, *, as_json: bool) -> None:
    """Print a filter of sampled Gaussians: the rates of small costs, and the rounds of them."""
    from simulator.theory.filters.sampled_budget import FINE_ORDERS, renyi_share

    promise, few = (found.epsilon, found.delta), (1, 2, 5, 10, 33)
    rows = [
        {
            "sigma": sigma,
            "rate": rate,
            "rounds": found.units // cost,
            "renyi": int(1.0 / renyi_share(promise, sigma, rate, FINE_ORDERS)),
        }
        for sigma, rates in zip(found.sigmas, found.rates)
        for cost, rate in dict.fromkeys(zip(found.costs, rates))
        if cost in few and (cost == 1 or rate > rates[found.costs.index(cost) - 1])
    ]
    if as_json:
        print_json({"filter": str(found), "proved": found.verify(), "rounds": rows})
        return
    say(f"{'promise':<9} ({number(found.epsilon)}, {number(found.delta)})")
    say(f"{'units':<9} {found.units}")
    say(f"{'proved':<9} delta({number(found.epsilon)}) is at most {number(found.verify(), 7)}")
    say(f"\n{'sigma':>10} {'rate':>10} {'rounds':>9} {'renyi':>9}")
    for each in rows:
        say(
            f"{number(each['sigma'], 4):>10} {number(each['rate'], 4):>10} {each['rounds']:>9} "
            f"{each['renyi']:>9}"
        )


def verified(file: Path, *, as_json: bool) -> None:
    """Verify a certificate, and print what it proves; exit with 1 if it is refused."""
    from simulator.theory.filters.certificate_check import Refused
    from simulator.theory.filters.certificate_files import check_certificate, read_certificate

    text = read_certificate(file)
    try:
        proved = check_certificate(text)
    except Refused as error:
        if as_json:
            print_json({"file": str(file), "proved": None, "refused": str(error)})
        else:
            say(f"REFUSED: {file} proves nothing: {error}")
        click.get_current_context().exit(1)
    if as_json:
        print_json({"file": str(file), "proved": proved, "refused": None})
    else:
        say(f"proved: delta is at most {number(proved, 7)}, as {file} claims")


def usual_epsilons(found: CertifiedFilter) -> list[float]:
    """Epsilons of rounds, from a five-hundredth of the promised one to the largest."""
    return usual_shares(found.epsilon, found.largest)


def usual_shares(epsilon: float, most: float) -> list[float]:
    """Shares of an epsilon, from a five-hundredth to a half, up to ``most``."""
    found = [epsilon / share for share in (500, 200, 100, 50, 20, 10, 5, 2)]
    return [each for each in found if each <= most]


def row(found: CertifiedFilter | PlannedFilter, epsilon: float) -> dict[str, Any]:
    """The rounds of one epsilon that are admitted, and that others admit."""
    from simulator.theory.filters.admitted import most_rounds, published_rounds, rounds_admitted

    promise = found.epsilon, found.delta - found.rounds_delta
    published = published_rounds(promise, epsilon)
    best = max(published, key=lambda name: published[name])
    return {
        "epsilon": epsilon,
        "certified": rounds_admitted(found, epsilon),
        "published": published,
        "best": (best, published[best]),
        "at_most": most_rounds(promise, epsilon),
    }
