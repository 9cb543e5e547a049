"""The errors that this package raises, for a program that catches them."""

from simulator.foundations.errors import (
    Breach,
    DpcomposeError,
    InvalidInput,
    NotApplicable,
    Refusal,
)

__all__ = ["Breach", "DpcomposeError", "InvalidInput", "NotApplicable", "Refusal"]
