"""A training loop of Opacus (Meta)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np

from experiments.pipelines.case import PAPER, PipelineCase, Setting
from simulator.auditing.pipelines.mechanisms import METRICS, call
from simulator.auditing.pipelines.tape import Declared, current

ROWS = [(1.0, 0.0, 1.0), (0.0, 1.0, -1.0), (1.0, 1.0, 0.5), (0.5, 0.5, 0.0), (1.0, -1.0, 1.0),
        (0.0, 0.5, 1.0), (0.2, 0.2, 0.3), (0.1, 0.7, 0.4), (0.9, 0.4, 0.1)]  # fmt: skip


@contextmanager
def recorded() -> Iterator[None]:
    """Within, the noisy sum of gradients of an optimiser is a mechanism."""
    import torch
    from opacus.optimizers import DPOptimizer

    original = DPOptimizer.add_noise

    def add_noise(self: Any) -> None:
        if current() is None:
            original(self)
            return
        sums = np.concatenate([p.summed_grad.detach().numpy().ravel() for p in self.params])

        def noisy() -> np.ndarray:
            original(self)
            return np.concatenate([p.grad.detach().numpy().ravel() for p in self.params])

        public = {"sigma": self.noise_multiplier, "clip": self.max_grad_norm}
        declared = Declared(None, "l2", METRICS["l2"])
        rest = np.asarray(call("DPOptimizer.add_noise", sums, public, declared, noisy))
        for p in self.params:
            part, rest = rest[: p.numel()], rest[p.numel() :]
            p.grad = torch.tensor(part).reshape(p.shape).to(p.dtype)

    with mock.patch.object(DPOptimizer, "add_noise", add_noise):
        yield


def _trained(first: list[Any], second: list[Any]) -> Setting:
    import torch
    from opacus import PrivacyEngine
    from torch.utils.data import DataLoader, TensorDataset

    def train(rows: list[Any]) -> Any:
        torch.manual_seed(0)  # of the Poisson samples
        table = torch.tensor(rows)
        model: Any = torch.nn.Linear(2, 1, bias=False)
        torch.nn.init.zeros_(model.weight)
        loader: Any = DataLoader(TensorDataset(table[:, :2], table[:, 2:]), batch_size=3)
        optimizer: Any = torch.optim.SGD(model.parameters(), lr=0.1)
        model, optimizer, loader = PrivacyEngine().make_private(
            module=model, optimizer=optimizer, data_loader=loader,
            noise_multiplier=1.0, max_grad_norm=1.0,
        )  # fmt: skip
        for features, target in loader:
            optimizer.zero_grad()
            ((model(features) - target) ** 2).sum().backward()
            optimizer.step()
        return {"weight": model._module.weight.detach().numpy().copy()}

    return Setting(train, (first, second), None, lambda: [recorded()])


CASES = [
    PipelineCase(
        "PrivacyEngine.make_private", "opacus",
        "noisy gradients are divided by the expected batch size, which is computed from the number "
        "of records",
        PAPER, "add/remove-one",
        expected=("output", "weight"), make=lambda: _trained(ROWS, ROWS[:-1]),
        control=lambda: _trained(ROWS, [*ROWS[:-1], (0.0, 0.0, 1.0)]),
    ),
]  # fmt: skip
