"""What the nets minimise: three functions of the covariances of their outputs.

Names and the paper's symbols: ``cov_f``, ``cov_g`` and ``cov_fg`` are C_f, C_g and C_fg, of outputs with mean 0, so
that the constant pair of functions is not among the components.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from correspondence.estimators.pice import processes

__all__ = ["LOSSES", "Covariances"]

Loss = Callable[[Tensor, Tensor, Tensor], Tensor]
EPSILON = 1e-3  # the paper's
RIDGE = 1e-2  # of DCCA, relative to the mean variance of the outputs
CLIP = 10_000.0


def pice(cov_f: Tensor, cov_g: Tensor, cov_fg: Tensor) -> Tensor:
    """Return the paper's loss (opti4): -2 ||(C_f + eps I)^(-1/2) C_fg||_d + E ||g||^2."""
    root = torch.linalg.cholesky(cov_f + EPSILON * torch.eye(len(cov_f), dtype=cov_f.dtype, device=cov_f.device))
    whitened = torch.linalg.solve_triangular(root, cov_fg, upper=False)
    return -2 * torch.linalg.svdvals(whitened).sum() + cov_g.trace()


def lowrank(cov_f: Tensor, cov_g: Tensor, cov_fg: Tensor) -> Tensor:
    """Return the distance of the density ratio from sum_i f_i g_i, up to a constant: -2 tr C_fg + tr C_f C_g."""
    return -2 * cov_fg.trace() + (cov_f * cov_g).sum()


def dcca(cov_f: Tensor, cov_g: Tensor, cov_fg: Tensor) -> Tensor:
    """Return minus the sum of the canonical correlations of the outputs: -||C_f^(-1/2) C_fg C_g^(-1/2)||_d."""
    half = torch.linalg.solve_triangular(_root(cov_f), cov_fg, upper=False)
    return -torch.linalg.svdvals(torch.linalg.solve_triangular(_root(cov_g), half.T, upper=False)).sum()


def _root(cov: Tensor) -> Tensor:
    """Cholesky factor of a covariance with a ridge in proportion to its size."""
    ridge = RIDGE * cov.trace() / len(cov) + torch.finfo(cov.dtype).tiny
    return torch.linalg.cholesky(cov + ridge * torch.eye(len(cov), dtype=cov.dtype, device=cov.device))


LOSSES: dict[str, Loss] = {"pice": pice, "lowrank": lowrank, "dcca": dcca}


class Covariances:
    """Covariances of the outputs over the current batch and, if it is small, over those before.

    A batch of at least `FULL` pairs for each output counts alone. A smaller one is averaged with a running estimate,
    through which no gradient flows, so that even batches smaller than the number of outputs teach something. If several
    processes train, the batch is the joint one, however many of its rows each of them has.
    """

    FULL = 8

    def __init__(self) -> None:
        self.running: dict[str, Tensor] = {}
        self.n = 0
        """Pairs in the last batch."""

    def __call__(self, f: Tensor, g: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Covariances (C_f, C_g, C_fg) of a batch of outputs, in float64."""
        f, g = f.double().clamp(-CLIP, CLIP), g.double().clamp(-CLIP, CLIP)
        count, *sums = processes.total(f.new_tensor(len(f)), f.sum(0), g.sum(0))
        self.n = n = int(count)
        weight = min(1.0, n / (self.FULL * f.shape[1]))
        f, g = (x - self._blend(f"mean_{name}", s / n, weight) for name, x, s in zip("fg", (f, g), sums, strict=True))
        products = processes.agreed(f.T @ f, g.T @ g, f.T @ g)
        blended = {
            name: self._blend(name, product / n, weight)
            for name, product in zip(("cov_f", "cov_g", "cov_fg"), products, strict=True)
        }
        return blended["cov_f"], blended["cov_g"], blended["cov_fg"]

    def _blend(self, name: str, value: Tensor, weight: float) -> Tensor:
        if weight < 1 and name in self.running:
            value = weight * value + (1 - weight) * self.running[name].to(value.device)
        self.running[name] = value.detach()
        return value
