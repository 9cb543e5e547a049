"""Types of parameters that many checks have: what each means, and its range."""

from __future__ import annotations

from typing import Annotated

from simulator.foundations.knobs import Within

Epsilon = Annotated[
    float, "privacy parameter ε, of a round where there are several", Within(0.0, 50.0)
]
Delta = Annotated[float, "privacy parameter δ, a probability", Within(0.0, 1.0)]
Rounds = Annotated[int, "rounds k", Within(1, 10**7)]
People = Annotated[int, "people in the database", Within(1, 300)]
Factor = Annotated[float, "the claimed bound is multiplied by it", Within(0.0, 1e6)]
Constant = Annotated[float, "the constant in the claimed bound", Within(0.0, 1e9)]
NoiseFactor = Annotated[float, "the noise is multiplied by it", Within(1e-9, 1e9)]
Power = Annotated[float, "a power", Within(-10.0, 10.0)]
Seed = Annotated[int, "the root seed of the draws", Within(0, 2**32)]
