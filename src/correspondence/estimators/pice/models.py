"""The three models that compete in PICE, each more flexible than the one before."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from correspondence.core.functions import LinearFunctions
from correspondence.core.splines import AdditiveSums, SplineBasis, fit_additive, solve_additive
from correspondence.data.encoders.columns import MAX_DENSE_COLUMNS, Columns
from correspondence.estimators.pice import processes
from correspondence.estimators.pice.data import TrainingArrays, TrainingPairs
from correspondence.estimators.pice.feature_net import Index, NetSide, Sides
from correspondence.estimators.pice.judging import MIN_STANDARD_ERRORS_TO_WIN, HeldOutJudge, Judgement
from correspondence.estimators.pice.nets import ColumnNet
from correspondence.results.evidence import compute_gain

__all__ = ["FunctionModel", "add_additive_functions", "add_nets", "choose_index"]

N_EXTRA_OUTPUTS = 4  # outputs of a net beyond n_components: training converges faster with some to spare


@dataclass(frozen=True, eq=False)
class FunctionModel:
    """Two sides, and how good they are."""

    name: str
    sides: Sides
    judgement: Judgement

    def is_better_than(self, simpler: FunctionModel) -> bool:
        """Whether it captures clearly more of the held-out pairs; always true without any."""
        mine, other = self.judgement.terms, simpler.judgement.terms
        return mine is None or other is None or compute_gain(other, mine) > MIN_STANDARD_ERRORS_TO_WIN


def add_additive_functions(sides: Sides, sample: TrainingArrays, pairs: TrainingPairs, n_components: int) -> Sides:
    """Add additive functions in closed form to two sides, if both are tables of a moderate number of columns."""
    encoders = (side.encoder for side in sides)
    tables = [encoder for encoder in encoders if isinstance(encoder, Columns) and encoder.width <= MAX_DENSE_COLUMNS]
    if len(tables) < 2:
        return sides
    basis_x = SplineBasis.for_columns(sample.x, tables[0].coordinates)
    basis_y = SplineBasis.for_columns(sample.y, tables[1].coordinates)
    if isinstance(pairs, TrainingArrays):
        # In every process all rows: rounding may turn the signs of functions, from which the nets start.
        sums = AdditiveSums.from_batches(pairs.iterate_all_blocks(), basis_x, basis_y)
    else:
        sums = AdditiveSums.merge_parts(
            processes.all_gather(AdditiveSums.from_batches(pairs.iterate_blocks(), basis_x, basis_y))
        )
    fit = solve_additive(sums, basis_x, basis_y, n_components)
    return replace(sides[0], known=fit.f), replace(sides[1], known=fit.g)


def add_nets(
    sides: Sides, sample: TrainingArrays, own: tuple[Any, Any], n_components: int, device: torch.device
) -> Sides:
    """Add new nets, ready to be trained, to two sides: the user's own, or nets that suit the data."""
    rows = (sample.x, sample.y)
    # A module of the user decides how many outputs the other net has.
    widths = [
        check_outputs(replace(side, net=copy.deepcopy(net)), some[:8], n_components)
        for side, some, net in zip(sides, rows, own, strict=True)
        if isinstance(net, nn.Module)
    ]
    outputs = widths[0] if widths else n_components + N_EXTRA_OUTPUTS
    made = [add_net(side, some, net, outputs) for side, some, net in zip(sides, rows, own, strict=True)]
    for side in made:
        side.network.to(device)
    found = [check_outputs(side, some[:8], n_components) for side, some in zip(made, rows, strict=True)]
    if found[0] != found[1]:
        raise ValueError(f"x_net and y_net must return equally many columns, got {found[0]} and {found[1]}.")
    return made[0], made[1]


def add_net(side: NetSide, rows: Any, own: Any, outputs: int) -> NetSide:
    if isinstance(own, str):
        side = side.add_suitable_net(outputs)
        if isinstance(side.net, ColumnNet):
            side.net.standardise_columns(side.to_tensors(rows))
        return side
    if isinstance(own, nn.Module):
        return replace(side, net=copy.deepcopy(own))
    shape = rows.shape[1:]
    try:
        net = own(shape[0] if len(shape) == 1 else shape, outputs)
    except Exception as error:
        raise ValueError(f"{side.argument} could not be made: {format_reason(error)}.") from error
    if not isinstance(net, nn.Module):
        raise ValueError(f"{side.argument} must be or make a torch.nn.Module, got {type(net).__name__}.")
    return replace(side, net=net)


def check_outputs(side: NetSide, rows: Any, n_components: int) -> int:
    """Check that a net can be trained, and count its outputs."""
    n = rows.shape[0]
    try:
        with torch.no_grad():
            outputs = side.network.eval()(side.to_tensors(rows))
    except Exception as error:
        raise ValueError(
            f"{side.argument} cannot be applied to {n} rows of {side.name}: {format_reason(error)}."
        ) from error
    if not isinstance(outputs, Tensor) or outputs.ndim != 2 or len(outputs) != n:
        got = f"shape {tuple(outputs.shape)}" if isinstance(outputs, Tensor) else type(outputs).__name__
        raise ValueError(f"{side.argument} must return a tensor of shape (n, k), got {got} for n = {n}.")
    if outputs.shape[1] < n_components:
        raise ValueError(
            f"{side.argument} must return at least n_components={n_components} columns, got {outputs.shape[1]}."
        )
    if not torch.isfinite(outputs).all():
        raise ValueError(f"{side.argument} must return finite values for finite {side.name}. Check layers and weights.")
    return outputs.shape[1]


def format_reason(error: Exception) -> str:
    return f"{type(error).__name__}, {' '.join(str(error).split())[:200]}".rstrip(".")


def choose_index(net: FunctionModel, judge: HeldOutJudge) -> FunctionModel:
    """Take smooth functions of the leading component of the nets, if they capture more than the nets themselves."""
    d = net.judgement.decomposition
    if not d.n_components:
        return net
    (x, u), (y, v) = (
        find_leading_index(side, functions, rows)
        for side, functions, rows in zip(net.sides, (d.f, d.g), (judge.training.x, judge.training.y), strict=True)
    )
    number = np.array([True])
    bases = SplineBasis.for_columns(u, number), SplineBasis.for_columns(v, number)
    fit = fit_additive([(u, v)], bases[0], bases[1], judge.n_components)
    indices = replace(x, functions=fit.f), replace(y, functions=fit.g)
    sides = replace(net.sides[0], index=indices[0]), replace(net.sides[1], index=indices[1])
    index = FunctionModel("index", sides, judge(sides))
    assert index.judgement.terms is not None
    assert net.judgement.terms is not None
    return index if index.judgement.terms.mean() > net.judgement.terms.mean() else net


def find_leading_index(side: NetSide, functions: Any, rows: Any) -> tuple[Index, np.ndarray]:
    assert isinstance(functions, LinearFunctions)
    index = Index(functions.mean, functions.weights[:, :1])
    return index, index.compute_leading_output(side.compute_outputs(rows))
