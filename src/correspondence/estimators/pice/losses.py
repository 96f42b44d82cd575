"""What the nets minimise: three functions of the covariances of their outputs.

Names and the paper's symbols: ``cov_f``, ``cov_g`` and ``cov_fg`` are C_f, C_g and C_fg, of outputs with mean 0, so
that the constant pair of functions is not among the components.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from correspondence.estimators.pice import processes

__all__ = ["LOSS_FUNCTIONS", "Covariances"]

Loss = Callable[[Tensor, Tensor, Tensor], Tensor]
PICE_EPSILON = 1e-3  # eps of the paper's loss
DCCA_RELATIVE_RIDGE = 1e-2  # relative to the mean variance of the outputs
MAX_ABSOLUTE_OUTPUT = 10_000.0


def compute_pice_loss(cov_f: Tensor, cov_g: Tensor, cov_fg: Tensor) -> Tensor:
    """Return the paper's loss (opti4): -2 ||(C_f + eps I)^(-1/2) C_fg||_d + E ||g||^2."""
    root = torch.linalg.cholesky(cov_f + PICE_EPSILON * torch.eye(len(cov_f), dtype=cov_f.dtype, device=cov_f.device))
    whitened = torch.linalg.solve_triangular(root, cov_fg, upper=False)
    return -2 * torch.linalg.svdvals(whitened).sum() + cov_g.trace()


def compute_lowrank_loss(cov_f: Tensor, cov_g: Tensor, cov_fg: Tensor) -> Tensor:
    """Return the distance of the density ratio from sum_i f_i g_i, up to a constant: -2 tr C_fg + tr C_f C_g."""
    return -2 * cov_fg.trace() + (cov_f * cov_g).sum()


def compute_dcca_loss(cov_f: Tensor, cov_g: Tensor, cov_fg: Tensor) -> Tensor:
    """Return minus the sum of the canonical correlations of the outputs: -||C_f^(-1/2) C_fg C_g^(-1/2)||_d."""
    half = torch.linalg.solve_triangular(factor_covariance(cov_f), cov_fg, upper=False)
    return -torch.linalg.svdvals(torch.linalg.solve_triangular(factor_covariance(cov_g), half.T, upper=False)).sum()


def factor_covariance(cov: Tensor) -> Tensor:
    """Factor a covariance, with a ridge in proportion to its size, by Cholesky."""
    ridge = DCCA_RELATIVE_RIDGE * cov.trace() / len(cov) + torch.finfo(cov.dtype).tiny
    return torch.linalg.cholesky(cov + ridge * torch.eye(len(cov), dtype=cov.dtype, device=cov.device))


LOSS_FUNCTIONS: dict[str, Loss] = {
    "pice": compute_pice_loss,
    "lowrank": compute_lowrank_loss,
    "dcca": compute_dcca_loss,
}


class Covariances:
    """Covariances of the outputs over the current batch and, if it is small, over those before.

    A batch of at least `FULL` pairs for each output counts alone. A smaller one is averaged with a running estimate,
    through which no gradient flows, so that even batches smaller than the number of outputs can be learned from. If
    several processes train, the batch is the joint one.
    """

    FULL = 8

    def __init__(self) -> None:
        self.running: dict[str, Tensor] = {}
        self.n = 0
        """Pairs in the last batch."""

    def __call__(self, f: Tensor, g: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Compute the covariances (C_f, C_g, C_fg) of a batch of outputs, in float64."""
        f, g = (values.double().clamp(-MAX_ABSOLUTE_OUTPUT, MAX_ABSOLUTE_OUTPUT) for values in (f, g))
        count, *sums = processes.all_reduce_own(f.new_tensor(len(f)), f.sum(0), g.sum(0))
        self.n = n = int(count)
        weight = min(1.0, n / (self.FULL * f.shape[1]))
        f, g = (
            x - self._blend_with_running(f"mean_{name}", s / n, weight)
            for name, x, s in zip("fg", (f, g), sums, strict=True)
        )
        products = processes.all_reduce_shared(f.T @ f, g.T @ g, f.T @ g)
        blended = {
            name: self._blend_with_running(name, product / n, weight)
            for name, product in zip(("cov_f", "cov_g", "cov_fg"), products, strict=True)
        }
        return blended["cov_f"], blended["cov_g"], blended["cov_fg"]

    def _blend_with_running(self, name: str, value: Tensor, weight: float) -> Tensor:
        if weight < 1 and name in self.running:
            value = weight * value + (1 - weight) * self.running[name].to(value.device)
        self.running[name] = value.detach()
        return value
