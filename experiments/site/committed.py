"""The committed results of the ledger, and the parameters that its pictures vary."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from experiments import stages
from simulator.foundations.errors import InvalidInput
from simulator.teaching.claims import Claim, all_claims

PATH = stages.RESULTS / "claims.json"


def committed(path: Path = PATH) -> dict[str, Mapping[str, Any]]:
    """The committed result of every claim, by id.

    Raises InvalidInput where the ledger and its results are not of the same claims.
    """
    results = {each["id"]: each for each in json.loads(path.read_text(encoding="utf-8"))}
    ids = {claim.id for claim in all_claims()}
    if strays := sorted(ids.symmetric_difference(results)):
        raise InvalidInput(f"{path.name} and the ledger differ in {strays[0]}; run: make claims")
    return results


def numbers_of(claim: Claim) -> list[str]:
    """The knobs that are numbers, those first that the altered variant alters; no seed."""
    found = [
        name
        for name, value in claim.parameters.items()
        if isinstance(value, int | float) and name != "seed"
    ]
    return sorted(found, key=lambda name: name not in claim.wrong)
