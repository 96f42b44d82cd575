"""One variable's way from data to features: encoder, known functions, net, and functions of the leading output."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
import torch
from torch import nn

from correspondence._util import files
from correspondence._util.arguments import to_array
from correspondence._util.files import State
from correspondence._util.text import short_repr
from correspondence.core.functions import FeatureMap
from correspondence.core.splines import AdditiveFunctions
from correspondence.data.encoders.base import Encoder
from correspondence.data.encoders.choosing import encoder_from_state
from correspondence.data.encoders.columns import Columns
from correspondence.data.encoders.images import Images
from correspondence.data.encoders.text import Bag, Text
from correspondence.estimators.pice.nets import BagNet, ColumnNet, ImageNet, build_net

__all__ = ["MAX_ROWS_PER_BLOCK", "Index", "NetSide", "Sides"]

MAX_ROWS_PER_BLOCK = 4096
ROW_MULTIPLE = 64  # rows
MAX_VALUES_PER_BLOCK = 2**19  # in a block that a net is applied to: caches like small blocks of large rows


@dataclass(frozen=True, eq=False)
class Index:
    """Functions of one number, the leading output of a net: a single-index model."""

    mean: np.ndarray
    direction: np.ndarray
    functions: AdditiveFunctions | None = None

    def compute_leading_output(self, outputs: np.ndarray) -> np.ndarray:
        """Leading output, of shape (n, 1)."""
        return (outputs - self.mean) @ self.direction

    def __call__(self, outputs: np.ndarray) -> np.ndarray:
        """Functions of the leading output."""
        assert self.functions is not None
        return self.functions(self.compute_leading_output(outputs))


@dataclass(frozen=True, eq=False)
class NetSide(FeatureMap):
    """Features of one variable.

    Parameters
    ----------
    name : str
        "X" or "Y", for errors.
    encoder : Encoder
        From data to rows of numbers.
    known : AdditiveFunctions, optional
        Additive functions of the rows; the features, if there is no net.
    net : torch.nn.Module, optional
        From rows, with the known functions behind them, to the features.
    index : Index, optional
        From the outputs of the net to the features.
    """

    name: str
    encoder: Encoder
    known: AdditiveFunctions | None = None
    net: nn.Module | None = None
    index: Index | None = None
    kind: ClassVar[str] = "nets"

    @property
    def network(self) -> nn.Module:
        """The net, where there must be one."""
        assert self.net is not None
        return self.net

    @property
    def argument(self) -> str:
        """What users call the net."""
        return f"{self.name.lower()}_net"

    def __call__(self, values: Any) -> np.ndarray:  # noqa: D102
        if not isinstance(self.encoder, Images):
            return self.compute_features(self.encode_rows(values))
        values = to_array(values, self.name)  # encoded block by block: it is large
        blocks = [
            self.compute_features(self.encode_rows(values[i : i + MAX_ROWS_PER_BLOCK]))
            for i in range(0, max(1, len(values)), MAX_ROWS_PER_BLOCK)
        ]
        return np.vstack(blocks)

    def encode_rows(self, values: Any) -> Any:
        """Encoded values, with the known functions behind them."""
        rows = self.encoder(values, self.name)
        return rows if self.known is None else np.hstack([rows, self.known(rows)])

    def compute_features(self, rows: Any) -> np.ndarray:
        """Features of rows, in float64."""
        if self.net is None:
            assert self.known is not None
            return rows[:, -self.known.weights.shape[1] :]
        outputs = self.compute_outputs(rows)
        return outputs if self.index is None else self.index(outputs)

    @torch.no_grad()
    def compute_outputs(self, rows: Any) -> np.ndarray:
        """Outputs of the net, in float64."""
        net = self.network.eval()
        size = (
            int(np.clip(MAX_VALUES_PER_BLOCK // np.prod(rows.shape[1:]), 128, MAX_ROWS_PER_BLOCK))
            // ROW_MULTIPLE
            * ROW_MULTIPLE
        )  # only the last is filled
        blocks = [net(self.to_tensors(fill_last_block(rows[i : i + size]))) for i in range(0, rows.shape[0], size)]
        outputs = torch.cat(blocks)[: rows.shape[0]].cpu().double().numpy()
        if not np.isfinite(outputs).all():
            raise ValueError(f"{self.argument} returns NaN or infinity for some of {self.name}: check its layers.")
        return outputs

    def to_tensors(self, rows: Any) -> Any:
        """Rows as the net takes them, on its device."""
        device = _device(self.net)
        if not sp.issparse(rows):
            return torch.from_numpy(np.ascontiguousarray(rows, dtype=np.float32)).to(device)
        if not isinstance(self.net, BagNet):
            return torch.from_numpy(rows.toarray().astype(np.float32)).to(device)
        offsets = torch.from_numpy(rows.indptr[:-1].astype(np.int64))
        weights = torch.from_numpy(rows.data.astype(np.float32))
        return torch.from_numpy(rows.indices.astype(np.int64)).to(device), offsets.to(device), weights.to(device)

    def with_net(self, outputs: int) -> NetSide:
        """Side with a new net of the kind that suits the data."""
        if isinstance(self.encoder, Columns) and not self.encoder.is_sparse:
            known = 0 if self.known is None else self.known.weights.shape[1]
            return replace(self, net=ColumnNet(self.encoder.width, outputs, known))
        if isinstance(self.encoder, Images):
            return replace(self, net=ImageNet(self.encoder.shape, outputs))
        assert isinstance(self.encoder, Bag | Text | Columns)
        return replace(self, net=BagNet(self.encoder.width, outputs))

    def on_cpu(self) -> NetSide:
        """Copy that can be sent to any worker."""
        return self if self.net is None else replace(self, net=copy.deepcopy(self.net).cpu())

    def copy_side(self) -> NetSide:
        """Copy that further training does not change."""
        return replace(self, net=copy.deepcopy(self.net))

    def state(self) -> State:  # noqa: D102
        description: dict[str, Any] = {"name": self.name, "encoder": self.encoder.state().description, "net": None}
        arrays: dict[str, np.ndarray] = {}
        if self.known is not None:
            arrays |= self.known.state().prefix_arrays("known.")
        if self.index is not None:
            assert self.index.functions is not None
            arrays |= self.index.functions.state().prefix_arrays("index.")
            arrays |= {"index_mean": self.index.mean, "index_direction": self.index.direction}
        if self.net is not None:
            ours = isinstance(self.net, ColumnNet | BagNet | ImageNet)
            description["net"] = self.net.config if ours else {"type": "own", "name": type(self.net).__name__}
            arrays |= {f"net.{key}": value.cpu().numpy() for key, value in self.net.state_dict().items()}
        return State(description, arrays)

    @classmethod
    def from_state(  # noqa: D102
        cls, description: dict[str, Any], arrays: dict[str, np.ndarray], net: Any = None
    ) -> NetSide:
        known, index, weights = (files.strip_prefix(arrays, prefix) for prefix in ("known.", "index.", "net."))
        return cls(
            description["name"],
            encoder_from_state(description["encoder"], arrays),
            AdditiveFunctions.from_state({}, known) if known else None,
            restore_net(description, weights, net),
            Index(arrays["index_mean"], arrays["index_direction"], AdditiveFunctions.from_state({}, index))
            if index
            else None,
        )


def fill_last_block(rows: Any) -> Any:
    """Rows of a table, the last repeated up to a multiple of `ROW_MULTIPLE`: outputs then do not depend on how many they are.

    A few rows are multiplied by matrices in another way than many, with other rounding errors.
    """
    n = rows.shape[0]
    if n % ROW_MULTIPLE == 0 or rows.ndim > 2:
        return rows
    return rows[np.minimum(np.arange(n - n % ROW_MULTIPLE + ROW_MULTIPLE), n - 1)]


Sides = tuple[NetSide, NetSide]


def restore_net(description: dict[str, Any], weights: dict[str, np.ndarray], net: Any) -> nn.Module | None:
    config, argument = description["net"], f"{description['name'].lower()}_net"
    if config is None:
        return None
    if config["type"] != "own":
        return _load_weights(build_net(config), weights)
    if net is None:
        raise files.NetError(
            f"{argument} is missing: the model was fitted with a net of your own, {config['name']}, so pass one "
            f"of the same shape, load(path, {argument}=...)."
        )
    if not isinstance(net, nn.Module):
        raise files.NetError(f"{argument} must be a torch.nn.Module, got {type(net).__name__}.")
    try:
        return _load_weights(copy.deepcopy(net), weights)
    except RuntimeError as error:
        reason = " ".join(str(error).split())[:200]
        raise files.NetError(f"{argument} does not have the shape of the net that was saved: {reason}.") from None
    except Exception as error:  # of the user's own class
        raise files.NetError(
            f"{argument} cannot take the weights that were saved ({short_repr(error, 200)})."
        ) from error


def _load_weights(net: nn.Module, weights: dict[str, np.ndarray]) -> nn.Module:
    net.load_state_dict({name: torch.from_numpy(np.array(value)) for name, value in weights.items()})
    return net.eval()


def _device(net: nn.Module | None) -> torch.device:
    parameter = next(net.parameters(), None) if net is not None else None
    return torch.device("cpu") if parameter is None else parameter.device
