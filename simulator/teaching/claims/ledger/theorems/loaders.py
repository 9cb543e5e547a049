"""What a loader that shuffles loses, over what Poisson accounting says."""

from __future__ import annotations

from simulator.teaching.claims.findings import number, statement
from simulator.teaching.claims.model import Finding
from simulator.training.adversaries.loaders import shuffling_loaders


def times_poisson(
    *,
    noise_multiplier: float = 1.2,
    batches: int = 100,
    epochs: int = 10,
    delta: float = 1e-5,
    times: float = 4.0,
    formed_first: bool = False,
) -> Finding:
    """A certified lower end of ε over the claim, with gradients +1 for her and -1 for others.

    With ``formed_first`` the batches are formed first, hers of gradients +1, and then shuffled.
    """
    loaders = {one.name: one for one in shuffling_loaders(noise_multiplier, batches, epochs)}
    name = "batches formed first, then shuffled" if formed_first else "shuffled in every epoch"
    claimed, proved = loaders[name].claimed_epsilon(delta), loaders[name].proved_epsilon(delta)
    assert proved is not None
    ratio = proved / claimed
    return statement(
        ratio >= times,
        f"ε at least {number(proved)}, Poisson accounting says {number(claimed)}: "
        f"{number(ratio)} times",
        printed=f"ε up to {number(times)} times what Poisson accounting says",
    )
