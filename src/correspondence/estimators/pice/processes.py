"""Training by several processes: what one of them knows of the others, and the few things that they do together.

Every function also works in a single process, where it is a no-op. The processes are those of the default process group
of torch.distributed, if there is one (``torchrun`` and `correspondence train` make one). Each takes a share of the rows
of a joint batch, and all compute the same loss from sums over all rows:

- `all_reduce_own` is for what each process goes on to use for its own rows (a mean, say): gradients are summed on the
  way back;
- `all_reduce_shared` is for the sums from which all compute the same loss: gradients go back as they are;
- `sum_gradients` comes last, for the parameters.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.overrides import TorchFunctionMode

from correspondence._util.text import short_repr

__all__ = [
    "LostProcessError",
    "all_gather",
    "all_have",
    "all_reduce_own",
    "all_reduce_shared",
    "count_processes",
    "find_device",
    "from_first",
    "get_rank",
    "is_first",
    "joint_batch_norm",
    "limit_warnings_to_first",
    "same_start",
    "slice_own_rows",
    "sum_gradients",
    "wait_for_all",
]

T = TypeVar("T")


class LostProcessError(RuntimeError):
    """Error for another process of the run that is gone or does not answer."""


def count_processes() -> int:
    """Return the number of processes."""
    return dist.get_world_size() if dist.is_available() and dist.is_initialized() else 1


def get_rank() -> int:
    """Return the number of this process, counted from 0."""
    return dist.get_rank() if count_processes() > 1 else 0


def is_first() -> bool:
    """Whether this is the process that writes, warns and shows progress."""
    return get_rank() == 0


def slice_own_rows(n: int) -> slice:
    """Return the slice of n rows that is this process's share."""
    return slice(n * get_rank() // count_processes(), n * (get_rank() + 1) // count_processes())


def find_device(device: Any, name: str = "device") -> torch.device:
    """Find the device of this process; "auto" is a GPU of its own, if there is one."""
    if isinstance(device, str) and device == "auto":
        own = f":{os.environ.get('LOCAL_RANK', 0)}" if count_processes() > 1 else ""
        return torch.device(f"cuda{own}" if torch.cuda.is_available() else "cpu")
    try:
        return torch.empty(0, device=device).device
    except (RuntimeError, TypeError, AssertionError):
        raise ValueError(
            f'{name} must be "auto" or one that torch has here, such as "cpu", got {short_repr(device)}.'
        ) from None


@contextmanager
def limit_warnings_to_first() -> Iterator[None]:
    """Show the warnings of the first process only: those of the others are the same."""
    if is_first():
        yield
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextmanager
def _translate_process_errors() -> Iterator[None]:
    """Translate the many errors by which backends say that a process is gone."""
    try:
        yield
    except RuntimeError as error:
        reason = " ".join(str(error).split())[:200].rstrip(".")
        raise LostProcessError(f"Another process of the run is gone, or does not answer: {reason}.") from error


# --- numbers


def _all_reduce_tensor(value: Tensor) -> Tensor:
    value = value.detach().clone(memory_format=torch.contiguous_format)
    with _translate_process_errors():
        dist.all_reduce(value)
    return value


class _Sum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, value: Tensor, back: bool) -> Tensor:
        ctx.back = back
        return _all_reduce_tensor(value)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return (_all_reduce_tensor(gradients[0]) if ctx.back else gradients[0]), None


def _all_reduce_together(values: Sequence[Tensor], back: bool) -> list[Tensor]:
    """Sum tensors of one type over the processes, all at once."""
    if count_processes() == 1:
        return list(values)
    flat = _Sum.apply(torch.cat([value.reshape(-1) for value in values]), back)
    parts = flat.split([value.numel() for value in values])
    return [part.reshape(value.shape) for part, value in zip(parts, values, strict=True)]


def all_reduce_own(*values: Tensor) -> list[Tensor]:
    """Sum over all processes what each goes on to use for its own rows."""
    return _all_reduce_together(values, back=True)


def all_reduce_shared(*values: Tensor) -> list[Tensor]:
    """Sum over all processes what all go on to compute the same from."""
    return _all_reduce_together(values, back=False)


def sum_gradients(parameters: Iterable[Tensor]) -> None:
    """Sum the gradients over the processes, in one buffer for each type and device."""
    if count_processes() == 1:
        return
    kinds: dict[Any, list[Tensor]] = {}
    for p in parameters:
        if p.requires_grad:
            kinds.setdefault((p.dtype, p.device), []).append(p)
    for some in kinds.values():
        flat = torch.cat([(torch.zeros_like(p) if p.grad is None else p.grad).reshape(-1) for p in some])
        for p, part in zip(some, _all_reduce_tensor(flat).split([p.numel() for p in some]), strict=True):
            if p.grad is not None:
                p.grad.copy_(part.view_as(p))
            elif part.any():  # a layer that only the rows of others have used
                p.grad = part.view_as(p).clone()


def same_start(module: nn.Module) -> None:
    """Give the weights and buffers of the first process to all of them."""
    if count_processes() > 1:
        with _translate_process_errors():
            for value in module.state_dict().values():
                dist.broadcast(value, 0)


# --- other values


def all_gather(part: T) -> list[T]:
    """Gather what each process has, in their order."""
    if count_processes() == 1:
        return [part]
    parts: list[Any] = [None] * count_processes()
    with _translate_process_errors():
        dist.all_gather_object(parts, part)
    return parts


def from_first(function: Callable[[], T]) -> T:
    """Return in all processes what a function returns in the first one, or raise what it raises there."""
    if count_processes() == 1:
        return function()
    answer: list[Any] = [None, None]
    if is_first():
        try:
            answer[0] = function()
        except Exception as error:
            answer[1] = error
    with _translate_process_errors():
        dist.broadcast_object_list(answer, 0)
    if answer[1] is not None:
        raise answer[1]
    return answer[0]


def all_have(something: bool) -> bool:
    """Whether it is true in all processes."""
    if count_processes() == 1:
        return something
    device = torch.device("cuda") if dist.get_backend() == "nccl" else torch.device("cpu")
    return int(_all_reduce_tensor(torch.tensor(int(something), device=device))) == count_processes()


def wait_for_all() -> None:
    """Wait until all processes have come here, so that none closes its connections while another needs them."""
    if count_processes() > 1:
        with _translate_process_errors():
            dist.barrier()


# --- batch norm


def joint_batch_norm(nets: nn.Module) -> AbstractContextManager[Any]:
    """Let batch norm take mean and variance of the joint batch inside; the nets are not changed."""
    has_norm = any(isinstance(module, _BatchNorm) for module in nets.modules())
    return _JointBatchNorm() if count_processes() > 1 and has_norm else nullcontext()


class _JointBatchNorm(TorchFunctionMode):
    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return (normalise_joint_batch if function is nn.functional.batch_norm else function)(*args, **(kwargs or {}))


def normalise_joint_batch(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Apply `torch.nn.functional.batch_norm` to the joint batch."""
    if not training:
        return nn.functional.batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps)
    y, n, mean, var = _Norm.apply(input, weight, bias, eps)
    if running_mean is not None and running_var is not None:
        with torch.no_grad():
            running_mean.lerp_(mean.to(running_mean.dtype), momentum)
            running_var.lerp_((var * (n / (n - 1))).to(running_var.dtype), momentum)
    return y


class _Norm(torch.autograd.Function):
    """Batch norm with two small sums over the processes each way; torch's own kernels work on the rows."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float) -> Any:
        mean, var = (value.double() for value in torch.ops.aten.batch_norm_update_stats(x, None, None, 0.0))
        count = torch.full((1,), x.numel() / max(1, x.shape[1]), dtype=torch.float64, device=x.device)
        n, sums = all_reduce_own(count, count * mean)
        apart = mean - sums / n
        mean, var = sums / n, all_reduce_own(count * (var + apart.square()))[0] / n
        single, spread = mean.to(x.dtype), var.to(x.dtype)
        y = nn.functional.batch_norm(x, single, spread, weight, bias, False, 0.0, eps)
        ctx.save_for_backward(x, weight, single, spread, n)
        ctx.eps = eps
        ctx.mark_non_differentiable(n, mean, var)
        return y, n, mean, var

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor | None, Tensor | None, None]:
        x, weight, mean, var, n = ctx.saved_tensors
        ones = torch.ones_like(mean) if weight is None else weight
        dx, dw, db = torch.ops.aten.native_batch_norm_backward(
            gradients[0], x, ones, mean, var, None, None, False, ctx.eps, [True, True, True]
        )
        # Through mean and variance of all rows: dx - weight / deviation * (mean of dy + z * mean of dy z), z standard.
        all_dw, all_db = all_reduce_own(dw.double(), db.double())
        scale = ones * (var + ctx.eps).rsqrt()
        slope, level = ((values / n).to(x.dtype) * scale for values in (all_dw, all_db))
        dx = dx - nn.functional.batch_norm(x, mean, var, slope, level, False, 0.0, ctx.eps)
        return dx, None if weight is None else dw, None if weight is None else db, None
