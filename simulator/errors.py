"""The errors that this package raises."""

from simulator.foundations.errors import (
    Breach,
    DpcomposeError,
    InvalidInput,
    NotApplicable,
    Refusal,
)

__all__ = ["Breach", "DpcomposeError", "InvalidInput", "NotApplicable", "Refusal"]
