"""Marginal-based synthesisers of dpmm (SAS)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import Any
from unittest import mock

import numpy as np

from experiments.pipelines.case import PAPER, PipelineCase, Setting

DOMAIN = {"a": 4, "b": 3, "c": 3}
"""The numbers of values; the last value of ``a`` is rare."""

ITERATIONS = 10
"""Steps by which a model is fitted to noisy answers; by default 2,500 of MST, 1,000 of AIM. What is
measured does not depend on how well it fits."""


@contextmanager
def recorded() -> Iterator[None]:
    """Within, dpmm's noise comes from numpy, where it is recorded, and not from OpenDP.

    Models are fitted in few steps.
    """
    mst: Any = import_module("dpmm.models.mst")
    fitted = mst.FactoredInference

    def quick(*args: Any, **options: Any) -> Any:
        return fitted(*args, **{**options, "iters": ITERATIONS})

    def noise(sigma: float, size: Any = None) -> Any:
        shape = None if size is None else tuple(np.atleast_1d(size).tolist())
        return np.random.normal(scale=sigma, size=shape)  # noqa: NPY002

    with ExitStack() as stack:
        for name in ("mst", "aim", "base.mechanisms.mechanism"):
            module = import_module(f"dpmm.models.{name}")
            stack.enter_context(mock.patch.object(module, "gaussian_noise", noise))
            if hasattr(module, "FactoredInference"):
                stack.enter_context(mock.patch.object(module, "FactoredInference", quick))
        yield


def _measured(name: str, domain: dict[str, int] | None) -> Setting:
    import pandas as pd

    model = {"mst": "MST", "aim": "AIM"}[name]
    cls = getattr(import_module(f"dpmm.models.{name}"), model)

    def fit(rows: np.ndarray) -> Any:
        found = cls(epsilon=1.0, delta=1e-5, domain=domain, n_jobs=1)
        found.fit(pd.DataFrame(rows, columns=list(DOMAIN)), marginals_only=True)
        return [(noisy, list(columns)) for _, noisy, _, columns in found.measures]

    usual = np.random.default_rng(0).integers(0, 3, (30, 3))
    rare = usual.copy()
    rare[-1] = [3, 1, 1]
    return Setting(fit, (rare, usual[:-1]), "approx:1,1e-5", lambda: [recorded()])


def _case(name: str) -> PipelineCase:
    return PipelineCase(
        name.upper(), "dpmm",
        "without a domain it is the largest value that occurs, which shows a rare record",
        f"{PAPER}; https://github.com/sassoftware/dpmm/issues/18", "add/remove-one",
        expected=("argument", "normal"), make=lambda: _measured(name, None),
        control=(lambda: _measured(name, DOMAIN)) if name == "mst" else None,
    )  # fmt: skip


CASES = [_case("mst"), _case("aim")]
