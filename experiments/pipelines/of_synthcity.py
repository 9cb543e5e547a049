"""PrivBayes of synthcity (van der Schaar Lab), by the file of its release.

The release needs dozens of packages that PrivBayes does not use. Its file is run with empty
modules in place of the plugin framework and of the graphical model that samples afterwards.
"""

from __future__ import annotations

import importlib.util
import types
from importlib.metadata import files
from typing import Any
from unittest import mock

import numpy as np

from experiments.pipelines.case import OURS, PAPER, PipelineCase, Setting

_FILE = "synthcity/plugins/privacy/plugin_privbayes.py"
_EMPTY = {
    "synthcity": (), "synthcity.logger": (), "synthcity.plugins": (), "synthcity.plugins.core": (),
    "synthcity.utils": (), "pgmpy": (), "pgmpy.factors": (), "pgmpy.factors.discrete": (),
    "pgmpy.factors.discrete.CPD": ("TabularCPD",), "pgmpy.models": ("BayesianNetwork",),
    "pgmpy.sampling": ("BayesianModelSampling",),
    "synthcity.plugins.core.dataloader": ("DataLoader",),
    "synthcity.plugins.core.distribution": ("Distribution",),
    "synthcity.plugins.core.plugin": ("Plugin",), "synthcity.plugins.core.schema": ("Schema",),
    "synthcity.plugins.core.serializable": ("Serializable",),
    "synthcity.utils.reproducibility": ("enable_reproducible_results",), "tqdm": ("tqdm",),
}  # fmt: skip


class _Empty:
    """Holds what it is given."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        vars(self).update(kwargs)


def loaded() -> Any:
    """The module of PrivBayes; raises ImportError where synthcity is not installed."""
    found = [each for each in files("synthcity") or () if str(each) == _FILE]
    if not found:
        raise ImportError(f"synthcity has no {_FILE}")
    modules = {}
    for name, members in _EMPTY.items():
        module: Any = types.ModuleType(name)
        vars(module).update(dict.fromkeys(members, _Empty))
        modules[name] = module
    log: Any = modules["synthcity.logger"]
    log.debug = log.info = lambda *args, **kwargs: None
    modules["synthcity"].logger = log
    modules["tqdm"].tqdm = lambda values: values
    specification = importlib.util.spec_from_file_location("privbayes", str(found[0].locate()))
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    with mock.patch.dict("sys.modules", modules):
        specification.loader.exec_module(module)
    return module


def _fitted(parents: int, databases: tuple[Any, Any]) -> Setting:
    import pandas as pd

    module = loaded()

    def fit(rows: np.ndarray) -> Any:
        columns = [f"x{i}" for i in range(rows.shape[1])]
        model = module.PrivBayes(epsilon=1.0, K=parents)
        encoded, _ = model._encode(pd.DataFrame(rows, columns=columns))
        model.dag = model._greedy_bayes(encoded)
        model.ordered_nodes = [attribute for attribute, _ in model.dag]
        found = model._compute_noisy_conditional_distributions(encoded)
        return {"network": model.dag, "tables": [each.values for each in found]}

    return Setting(fit, databases, "pure:1", public_coins=True)


def _replaced() -> tuple[np.ndarray, np.ndarray]:
    rows = np.random.default_rng(0).integers(0, 3, (60, 3))
    other = rows.copy()
    other[-1, :2] = (rows[-1, :2] + 1) % 3
    return rows, other


def _weak() -> tuple[np.ndarray, np.ndarray]:
    """Two columns whose normalised mutual information is on both sides of the threshold."""
    from sklearn.metrics import normalized_mutual_info_score as score

    for seed in range(1000):
        rows = np.random.default_rng(seed).integers(0, 2, (40, 2))
        other = rows.copy()
        other[-1] = [rows[-1, 0], 1 - rows[-1, 1]]
        least, most = sorted([score(*rows.T), score(*other.T)])
        if least < 0.0099 and most > 0.0101:  # the threshold is 0.01
            return rows, other
    raise AssertionError("no pair is on both sides of the threshold")


CASES = [
    PipelineCase(
        "PrivBayes, all parents", "synthcity",
        "with as many parents as attributes the scale of the noise is zero",
        PAPER, "replace-one",
        expected=("cost", "laplace"), make=lambda: _fitted(3, _replaced()),
    ),
    PipelineCase(
        "PrivBayes, weak edges", "synthcity",
        "the mutual information of the chosen edge is compared with a threshold without noise",
        PAPER, "replace-one",
        expected=("argument", "shape"), make=lambda: _fitted(1, _weak()),
    ),
    PipelineCase(
        "PrivBayes, counts", "synthcity",
        "noise for probabilities is added to counts: it is smaller by the number of records",
        OURS, "replace-one",
        expected=("cost", "laplace"), make=lambda: _fitted(1, _replaced()),
    ),
]  # fmt: skip
