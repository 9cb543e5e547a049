"""Functions of scipy, imported when they are first called: that takes longer than all else here."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scipy.cluster.vq import kmeans2, vq
    from scipy.fft import irfft, next_fast_len, rfft
    from scipy.integrate import quad
    from scipy.ndimage import gaussian_filter
    from scipy.optimize import bisect, brentq, linprog, minimize_scalar
    from scipy.special import (
        betainccinv,
        betaincinv,
        erfcx,
        erfinv,
        expit,
        gammaln,
        lambertw,
        log_expit,
        log_ndtr,
        logsumexp,
        ndtr,
        ndtri,
        ndtri_exp,
        stdtrit,
        xlogy,
    )
else:

    def _deferred(module: str, name: str) -> Callable[..., Any]:
        @cache
        def function() -> Callable[..., Any]:
            return getattr(import_module(module), name)

        def call(*arguments: Any, **keywords: Any) -> Any:
            return function()(*arguments, **keywords)

        call.__name__ = call.__qualname__ = name  # so that it pickles
        return call

    kmeans2 = _deferred("scipy.cluster.vq", "kmeans2")
    vq = _deferred("scipy.cluster.vq", "vq")
    irfft = _deferred("scipy.fft", "irfft")
    next_fast_len = _deferred("scipy.fft", "next_fast_len")
    rfft = _deferred("scipy.fft", "rfft")
    quad = _deferred("scipy.integrate", "quad")
    gaussian_filter = _deferred("scipy.ndimage", "gaussian_filter")
    bisect = _deferred("scipy.optimize", "bisect")
    brentq = _deferred("scipy.optimize", "brentq")
    linprog = _deferred("scipy.optimize", "linprog")
    minimize_scalar = _deferred("scipy.optimize", "minimize_scalar")
    betainccinv = _deferred("scipy.special", "betainccinv")
    betaincinv = _deferred("scipy.special", "betaincinv")
    erfcx = _deferred("scipy.special", "erfcx")
    erfinv = _deferred("scipy.special", "erfinv")
    expit = _deferred("scipy.special", "expit")
    gammaln = _deferred("scipy.special", "gammaln")
    lambertw = _deferred("scipy.special", "lambertw")
    log_expit = _deferred("scipy.special", "log_expit")
    log_ndtr = _deferred("scipy.special", "log_ndtr")
    logsumexp = _deferred("scipy.special", "logsumexp")
    ndtr = _deferred("scipy.special", "ndtr")
    ndtri = _deferred("scipy.special", "ndtri")
    ndtri_exp = _deferred("scipy.special", "ndtri_exp")
    stdtrit = _deferred("scipy.special", "stdtrit")
    xlogy = _deferred("scipy.special", "xlogy")

__all__ = [
    "betainccinv",
    "betaincinv",
    "bisect",
    "brentq",
    "erfcx",
    "erfinv",
    "expit",
    "gammaln",
    "gaussian_filter",
    "irfft",
    "kmeans2",
    "lambertw",
    "linprog",
    "log_expit",
    "log_ndtr",
    "logsumexp",
    "minimize_scalar",
    "ndtr",
    "ndtri",
    "ndtri_exp",
    "next_fast_len",
    "quad",
    "rfft",
    "stdtrit",
    "vq",
    "xlogy",
]
