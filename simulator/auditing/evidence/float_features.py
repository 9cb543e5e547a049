"""Features of the digits and bits of floats.

Noise that is drawn and added in floating point leaks the true value: answers that one
input cannot give (Mironov 2012, "On significance of the least significant bits for differential
privacy"), digits that were never rounded, bits that are always even.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from simulator.foundations.digits import SIGNIFICANT, significant

_MANTISSA = np.uint64((1 << 52) - 1)
_HIDDEN = np.uint64(1 << 52)
Feature = Callable[[np.ndarray], np.ndarray]
FeaturesAt = Callable[[float], dict[str, Feature]]
"""Returns the features, given the magnitude of a typical number."""

DECIMALS = 16
"""The largest number of decimals that is counted."""
MODULI = (2, 3, 5, 7, 10, 16, 256)


def _bits(x: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(x, dtype=np.float64).view(np.uint64)


def _exponent(x: np.ndarray) -> np.ndarray:
    return ((_bits(x) >> np.uint64(52)) & np.uint64(0x7FF)).astype(np.int64)


def _mantissa(x: np.ndarray) -> np.ndarray:
    bits = _bits(x)
    return np.where(_exponent(x) > 0, (bits & _MANTISSA) | _HIDDEN, bits & _MANTISSA)


def _of_mantissa(x: np.ndarray, feature: np.ndarray) -> np.ndarray:
    """A feature that zero and infinite numbers do not have."""
    return np.where(np.isfinite(x) & (x != 0.0), feature, np.nan)


def _trailing_zeros(x: np.ndarray) -> np.ndarray:
    mantissa = _mantissa(x)
    lowest = mantissa & (~mantissa + np.uint64(1))
    with np.errstate(divide="ignore"):
        return np.asarray(np.log2(lowest.astype(np.float64)))


def _modulo(m: float) -> Feature:
    """Absolute values modulo ``m``; an infinite number has none."""
    return lambda x: np.abs(np.where(np.isfinite(x), x, np.nan)) % m


BIT_FEATURES: dict[str, Feature] = {
    "trailing zero bits of {}": lambda x: _of_mantissa(x, _trailing_zeros(x)),
    "log2 of the lowest bit of {}": lambda x: _of_mantissa(
        x, np.maximum(_exponent(x), 1) - 1075 + _trailing_zeros(x)
    ),
    "low byte of {}": lambda x: _of_mantissa(x, (_mantissa(x) & np.uint64(0xFF)).astype(float)),
    "lowest bit of {}": lambda x: _of_mantissa(x, (_mantissa(x) & np.uint64(1)).astype(float)),
    "parity of the bits of {}": lambda x: _of_mantissa(x, _parity(_mantissa(x))),
    "sign bit of {}": lambda x: (_bits(x) >> np.uint64(63)).astype(float),
    "decimals of {}": lambda x: decimals(x),
    "{} modulo 1": _modulo(1.0),
}
"""The features of floats, shape (n,), by name; NaN for a number without the feature."""

WHOLE_FEATURES: dict[str, Feature] = {f"{{}} modulo {m}": _modulo(m) for m in MODULI}
"""The features of whole numbers, by name."""

BITS = 52
"""The number of bits of a mantissa."""


@lru_cache(maxsize=64)
def each_bit(magnitude: float) -> dict[str, Feature]:
    """Every bit of the mantissa, and how many zero bits end it: all of them rough."""
    del magnitude

    def bit(i: int) -> Feature:
        return lambda x: ((_bits(x) >> np.uint64(i)) & np.uint64(1)).astype(float)

    trailing = "trailing zero bits of {}"
    single = {f"bit {i} of the mantissa of {{}}": bit(i) for i in range(BITS)}
    return {trailing: BIT_FEATURES[trailing], **single}


def bit_features(magnitude: float) -> dict[str, Feature]:
    """All of :data:`BIT_FEATURES`, at any magnitude."""
    del magnitude
    return BIT_FEATURES


@lru_cache(maxsize=64)
def each_digit(magnitude: float) -> dict[str, Feature]:
    """Every one of the first twelve significant decimal digits, and how many zeros end them."""

    def digit(d: int) -> Feature:
        def of(x: np.ndarray) -> np.ndarray:
            whole, usable = significant(x, magnitude)
            with np.errstate(invalid="ignore"):
                return np.where(usable, whole // 10.0**d % 10.0, np.nan)

        return of

    names = {f"digit {SIGNIFICANT - d} of {{}}": digit(d) for d in range(SIGNIFICANT)}
    return digit_features(magnitude) | names


def digit_features(magnitude: float) -> dict[str, Feature]:
    """The features of the decimal digits of floats, twelve significant ones at ``magnitude``.

    The rounding to a float, which depends on the input for any added noise, is far below them.
    """

    def zeros_and_last(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        whole, usable = significant(x, magnitude)
        zeros, last = np.where(usable, 0.0, np.nan), np.where(usable, 0.0, np.nan)
        left: np.ndarray | slice = np.flatnonzero(usable) if not usable.all() else slice(None)
        rest = whole[left]
        for d in range(SIGNIFICANT + 4):
            tenth = np.floor(rest / 10.0)  # exact: the quotients of whole numbers below 2^53
            digit = rest - 10.0 * tenth
            if d <= SIGNIFICANT:
                last[left] = digit
            more = np.flatnonzero(digit == 0.0)
            if not len(more) or d == SIGNIFICANT + 3:
                break
            left = more if isinstance(left, slice) else left[more]
            zeros[left], rest = d + 1.0, tenth[more]
        return zeros, last

    return {
        f"trailing zeros of {{}} to {SIGNIFICANT} digits": lambda x: zeros_and_last(x)[0],
        "last digit of {} that is not 0": lambda x: zeros_and_last(x)[1],
        "{} modulo 1": BIT_FEATURES["{} modulo 1"],
    }


def decimals(x: np.ndarray) -> np.ndarray:
    """The fewest decimals that write ``x`` to the bit, at most ``DECIMALS`` + 1 for more."""
    least = np.full(x.shape, DECIMALS + 1.0)
    undone = np.flatnonzero(np.isfinite(x))
    with np.errstate(over="ignore", invalid="ignore"):
        for d in range(DECIMALS + 1):
            rest = x[undone]
            done = np.round(rest, d) == rest
            least[undone[done]] = d
            undone = undone[~done]
            if not len(undone):
                break
    least[~np.isfinite(x)] = np.nan
    return least


def _parity(mantissa: np.ndarray) -> np.ndarray:
    value = mantissa.copy()
    for shift in (32, 16, 8, 4, 2, 1):
        value ^= value >> np.uint64(shift)
    return (value & np.uint64(1)).astype(float)


ROUGH = (frozenset(BIT_FEATURES) | frozenset(each_bit(1.0))) - {"sign bit of {}", "{} modulo 1"}
"""The features whose law depends on the rounding of a sum."""
