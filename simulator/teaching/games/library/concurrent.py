"""Concurrent composition: several conversations at once, interleaved."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from simulator.analysis.searches import dominating_law, worst_conversation
from simulator.analysis.simulate import simulate
from simulator.data.databases import Database
from simulator.data.queries import counting_query, function_query
from simulator.foundations.knobs import Within
from simulator.mechanisms import Concurrent, InteractiveMechanism, Node, ResponseTree
from simulator.teaching.games.model import game
from simulator.teaching.games.rows import GameRow, bound, played, reached, worst, wrong
from simulator.teaching.mechanisms import SparseVector
from simulator.theory.bounds.composition import Composition
from simulator.theory.bounds.registry import bound as bound_named
from simulator.theory.guarantees.pure import ApproxDP, PureDP
from simulator.theory.pld.distribution import compose_laws

EVERYONE = Database({"alice": 1, "others": 3})
WITHOUT = EVERYONE.remove("alice")
ALICE = counting_query("alice")


def absent(database: Database) -> float:
    """1 without Alice, 0 with her."""
    return 1.0 - float(ALICE(database))


BOTH = ALICE, function_query(absent, 1.0)
"""Of these queries one grows and one falls where Alice is added: the worst for a sparse vector."""

VADHAN_ZHANG = "Vadhan and Zhang 2023"
VADHAN_WANG = "Vadhan and Wang 2021"


@game(
    "concurrent",
    "Concurrent composition of interactive mechanisms",
    sources=(
        "Vadhan and Wang 2021: pure differential privacy",
        "Lyu 2022; Vadhan and Zhang 2023: (epsilon, delta) and f-DP",
        "Haney and others 2023: filters and odometers",
        "Lyu, Su and Li 2017: sparse vectors, right and wrong",
    ),
    sweep=("share", (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)),
)
def concurrent(
    *,
    epsilon: Annotated[float, "of one conversation", Within(0.01, 3.0)] = 1.0,
    delta: Annotated[
        float, "of one conversation, where it is approximate", Within(0.0, 0.2)
    ] = 0.01,
    conversations: Annotated[int, "how many are open at once", Within(1, 3)] = 2,
    share: Annotated[
        float, "delta is taken at this share of the sum of the epsilons", Within(0.0, 1.0)
    ] = 0.45,
    trials: Annotated[int, "plays of each experiment", Within(100, 1_000_000)] = 4000,
    seed: Annotated[int, "of the plays", Within(0, 2**31)] = 1,
) -> Iterator[GameRow]:
    """Open several conversations with mechanisms on the same data, and interleave the messages.

    An interactive mechanism answers messages one by one, and remembers. Whoever holds several of
    them open may send the next message to any, chosen by what all of them have answered. Theorems
    on composition were first proved for mechanisms that answer once.

    Here a tree first gives a noisy bit, and then answers one of three questions, which differ in
    how often they give the bit away and by how much. Learning the first bits of all trees before
    choosing any question helps: compare "interleaved at will" with "one after the other". It helps
    against these mechanisms, and never beyond the bounds, which hold for every interleaving: the
    mechanisms' own worst curves compose as those of mechanisms that answer once.

    Two sparse vectors are open at once too: each says which queries pass its noisy threshold, and
    what it said before tells of that threshold. The variant of Lee and Clifton, with the noise of
    one answer above where it gives two, claims its epsilon and loses more, even alone.

    For (epsilon, delta) the first bound proved had a delta that grows exponentially with the
    number of conversations; the optimal one is the same as without interaction.
    """
    at = share * conversations * epsilon
    yield from of_trees(epsilon, conversations, at, trials, seed)
    yield from of_sparse_vectors(epsilon, conversations, at)
    yield from of_a_wrong_sparse_vector(epsilon)
    yield from of_approximate_parts(epsilon, delta, conversations)


def of_trees(
    epsilon: float, conversations: int, at: float, trials: int, seed: int
) -> Iterator[GameRow]:
    """Rows about trees whose questions the adversary chooses."""
    quantity = "delta, trees"
    part = tree(epsilon / 4, 3 * epsilon / 4)
    yield from pure_rows(quantity, part, conversations, at)
    in_turn = search(part, conversations, at, in_turn=True)
    yield reached(quantity, "one after the other", in_turn.delta)
    free = search(part, conversations, at)
    result = simulate(
        free.play, family=PureDP(conversations * epsilon), rounds=1 + free.longest, trials=trials,
        seed=seed,
    )  # fmt: skip
    yield played(quantity, "the worst adversary", result.delta(at, confidence=0.999))


def of_sparse_vectors(epsilon: float, conversations: int, at: float) -> Iterator[GameRow]:
    """Rows about sparse vectors, of one answer above."""
    quantity = "delta, sparse vectors (at half of that)"
    part = SparseVector(epsilon=epsilon, threshold=0.5, queries=BOTH, longest=3)
    yield from pure_rows(quantity, part, min(conversations, 2), at / 2)


def of_a_wrong_sparse_vector(epsilon: float) -> Iterator[GameRow]:
    """Rows about the variant of Lee and Clifton, for two answers above."""
    quantity = "delta(epsilon), Lee and Clifton's sparse vector"
    most = 2
    part = SparseVector(
        epsilon=epsilon, threshold=0.5, most=most, queries=BOTH, longest=6,
        threshold_scale=4.0 / epsilon, query_scale=4.0 / (3.0 * epsilon),
    )  # fmt: skip
    found = worst_conversation(part, WITHOUT, EVERYONE, epsilon=epsilon)
    yield worst(quantity, "the worst of six queries", found.delta)
    true = PureDP((1 + 6 * most) / 4 * epsilon)
    yield bound(
        quantity, "(1 + 6c)/4 times epsilon, c = 2", true.hockey_stick(epsilon),
        source="Lyu, Su and Li 2017",
    )  # fmt: skip
    yield wrong(quantity, "it is epsilon-DP", 0.0, source="Lee and Clifton 2014")


def of_approximate_parts(epsilon: float, delta: float, conversations: int) -> Iterator[GameRow]:
    """Rows about trees that give the bit away with probability delta."""
    quantity = "delta at the sum of epsilons, leaky trees"
    at = conversations * epsilon
    part = leaky_tree(epsilon, delta)
    yield worst(quantity, "interleaved at will", search(part, conversations, at).delta)
    optimal = bound_named("kairouz-oh-viswanath-3.3")
    composition = Composition.repeat(part.claimed, conversations)
    yield bound(
        quantity, "optimal composition", optimal.on(composition).delta(at).upper,
        source="Lyu 2022; Vadhan and Zhang 2023",
    )  # fmt: skip
    hybrids = delta * math.fsum(math.exp(i * epsilon) for i in range(conversations))
    yield bound(
        quantity, "one conversation exchanged after the other", min(hybrids, 1.0),
        source="group privacy, as in Vadhan and Wang 2021",
    )  # fmt: skip
    if conversations > 1 and delta > 0.0:
        yield wrong(quantity, "only the epsilons add up", delta)


def pure_rows(
    quantity: str, part: InteractiveMechanism, conversations: int, at: float
) -> Iterator[GameRow]:
    """The worst interleaving of copies of a pure part, and what bounds it."""
    yield worst(quantity, "interleaved at will", search(part, conversations, at).delta)
    epsilon = part.guarantee().pure_epsilon
    grid = [epsilon * i / 12 for i in range(-12, 13)]
    law = dominating_law(part, WITHOUT, EVERYONE, epsilons=grid)
    composed = compose_laws([(law, conversations)]).delta(at).upper
    yield bound(quantity, "their worst curves composed", composed, source=VADHAN_ZHANG)
    optimal = bound_named("kairouz-oh-viswanath-3.3")
    total = optimal.on(Composition.repeat(PureDP(epsilon), conversations)).delta(at).upper
    yield bound(quantity, "optimal composition of the epsilons", total, source=VADHAN_WANG)
    if conversations > 1:
        once = search(part, 1, at).delta.lower
        yield wrong(quantity, "conversations open together are charged once", once)


def search(
    part: InteractiveMechanism, conversations: int, at: float, *, in_turn: bool = False
) -> Any:
    """The worst adversary against copies of a part, on the database without and with Alice."""
    claimed = part.guarantee()
    leaks = -math.expm1(conversations * math.log1p(-claimed.leak))
    total = ApproxDP(conversations * claimed.core.pure_epsilon, leaks)
    together = Concurrent((part,) * conversations, total, in_turn=in_turn)
    return worst_conversation(together, WITHOUT, EVERYONE, epsilon=at)


def tree(first: float, second: float, choices: Sequence[float] = (0.25, 0.5, 0.75)) -> ResponseTree:
    """A randomized response with ``first``, then one of several questions of range ``second``.

    The question "t" is lost by t times ``second`` or won by (1 - t) times it: the pairs that are
    extremal for bounded range (Dong, Durfee and Rogers 2020), none of which is worse than another
    at every epsilon.
    """
    questions = {f"{choice:g}": ranged(choice * second, second) for choice in choices}
    last = Node.of(questions)
    kept = 1.0 / (1.0 + math.exp(-first))
    root = Node.of({"first": ((kept, 1.0 - kept), (1.0 - kept, kept), (last, last))})
    return ResponseTree(ALICE, root, PureDP(first + second))


def ranged(loss: float, width: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """Two laws with losses ``loss`` and ``loss - width``."""
    on_0 = math.expm1(loss - width) / math.expm1(-width)
    on_1 = on_0 * math.exp(-loss)
    return (on_0, 1.0 - on_0), (on_1, 1.0 - on_1)


def leaky_tree(epsilon: float, delta: float) -> ResponseTree:
    """A first answer that gives the bit away with probability delta, then randomized response."""
    half = 1.0 / (1.0 + math.exp(-epsilon / 2))
    last = Node.of({"again": ((half, 1.0 - half), (1.0 - half, half))})
    noisy = (1.0 - delta) * half, (1.0 - delta) * (1.0 - half)
    on_0, on_1 = (delta, 0.0, *noisy), (0.0, delta, *reversed(noisy))
    root = Node.of({"first": (on_0, on_1, (None, None, last, last))})
    return ResponseTree(ALICE, root, ApproxDP(epsilon, delta))
