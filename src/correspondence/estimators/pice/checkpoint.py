"""A training run on disk: one file, replaced as a whole, from which the run goes on as if it had not been stopped."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
import torch

from correspondence._util import files
from correspondence._util.text import short_repr
from correspondence.estimators.pice import processes

if TYPE_CHECKING:
    from correspondence.estimators.pice.feature_net import Sides
    from correspondence.estimators.pice.judging import HeldOutJudge
    from correspondence.estimators.pice.training import Trainer, TrainingSettings

__all__ = ["CHECKPOINT_FILE", "compute_fingerprint", "make_folder", "read_last_step", "restore_trainer", "save_trainer"]

FILE_FORMAT, FILE_VERSION = "correspondence.PICE.training", 1
CHECKPOINT_FILE = "training.safetensors"
# Parameters of PICE that a run may be continued with, whatever they are; `missing` shows in the data themselves.
FREE_TO_CHANGE = (
    *("x_net", "y_net", "checkpoint", "checkpoint_every", "callbacks", "progress", "warm_start", "device"),
    *("missing", "handle_unknown"),
)


def make_folder(checkpoint: Any) -> Path | None:
    """Make the folder of a run, if there shall be one."""
    if checkpoint is None:
        return None
    try:
        folder = Path(checkpoint)
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, TypeError, ValueError) as error:
        raise ValueError(f"checkpoint must be a folder, got {short_repr(checkpoint)} ({error}).") from None
    return folder


def compute_fingerprint(parameters: dict[str, Any], judge: HeldOutJudge, start: Sides, is_drawn: list[bool]) -> str:
    """Compute a digest of data, settings and untrained nets, so that a run is not continued with others.

    Parameters
    ----------
    parameters : dict
        The parameters of `PICE`.
    judge : HeldOutJudge
        It holds training and held-out pairs.
    start : pair of NetSide
        The sides with untrained nets.
    is_drawn : list of bool
        Whether the weights of each net were drawn, and so follow from everything else.
    """
    settings = {name: str(value) for name, value in parameters.items() if name not in FREE_TO_CHANGE}
    digest = hashlib.sha256(repr(sorted(settings.items())).encode())
    for side, drawn in zip(start, is_drawn, strict=True):
        for name, value in side.network.state_dict().items():
            weights = b"" if drawn else value.cpu().numpy().tobytes()
            digest.update(f"{name} {tuple(value.shape)}".encode() + weights)
    for pairs in (judge.training, judge.validation):
        for side, rows in () if pairs is None else zip(start, (pairs.x, pairs.y), strict=True):
            some = rows[:1000]
            if side.known is not None:  # functions whose last digits depend on the number of processes
                some = some[:, : -side.known.weights.shape[1]]
            digest.update(repr(rows.shape).encode())
            digest.update((some.toarray() if sp.issparse(some) else np.ascontiguousarray(some)).tobytes())
    return digest.hexdigest()


def save_trainer(trainer: Trainer) -> None:
    """Write the state of a run to its folder, if it has one; the first of several processes does."""
    folder = trainer.settings.checkpoint
    if folder is None or not processes.is_first():
        return
    arrays: dict[str, np.ndarray] = {}
    for name in ("nets", "averages", "best"):
        arrays |= {f"{name}.{key}": value.cpu().numpy() for key, value in getattr(trainer, name).state_dict().items()}
    arrays |= {f"running.{key}": value.cpu().numpy() for key, value in trainer.covariances.running.items()}
    for i, state in trainer.optimizer.state_dict()["state"].items():
        arrays |= {f"optimizer.{i}.{key}": value.cpu().numpy() for key, value in state.items()}
    description = {
        "fingerprint": trainer.settings.fingerprint,
        "counts": trainer.counts,
        "history": trainer.history,
        "scale": trainer.scale,
    }
    arrays |= {"best_terms": trainer.best_terms, "last_clear": trainer.last_clear}
    files.write_safetensors(folder / CHECKPOINT_FILE, arrays, description, FILE_FORMAT, FILE_VERSION)


def read_last_step(folder: Path) -> int | None:
    """Read the step from which a run would go on; None without a checkpoint."""
    if not (folder / CHECKPOINT_FILE).is_file():
        return None
    _, description = files.read_safetensors(folder / CHECKPOINT_FILE, FILE_FORMAT, FILE_VERSION)
    return int(description["counts"]["step"])


def restore_trainer(trainer: Trainer) -> None:
    """Restore the run that the folder holds, if there is one; the first of several processes reads it for all."""
    found = processes.from_first(lambda: read_checkpoint(trainer.settings))
    if found is None:
        return
    arrays, description = found
    for name in ("nets", "averages", "best"):
        getattr(trainer, name).load_state_dict(_take_tensors(arrays, f"{name}."))
    trainer.covariances.running = _take_tensors(arrays, "running.")
    _load_optimizer(trainer.optimizer, _take_tensors(arrays, "optimizer."))
    trainer.counts.update(description["counts"])
    trainer.history = description["history"]
    trainer.scale, trainer.best_terms, trainer.last_clear = (
        description["scale"],
        arrays["best_terms"],
        arrays["last_clear"],
    )


def read_checkpoint(settings: TrainingSettings) -> tuple[dict[str, np.ndarray], dict[str, Any]] | None:
    folder = settings.checkpoint
    if folder is None or not (folder / CHECKPOINT_FILE).exists():
        return None
    arrays, description = files.read_safetensors(folder / CHECKPOINT_FILE, FILE_FORMAT, FILE_VERSION)
    if settings.warm and description["counts"]["done"]:
        return None  # that run is what this one starts from
    if description["fingerprint"] != settings.fingerprint:
        raise ValueError(
            f"checkpoint must be an empty folder or one with a run of the same data and settings, got {folder}, which "
            "holds another run."
        )
    return arrays, description


def _take_tensors(arrays: dict[str, np.ndarray], prefix: str) -> dict[str, torch.Tensor]:
    return {key: torch.from_numpy(value.copy()) for key, value in files.strip_prefix(arrays, prefix).items()}


def _load_optimizer(optimizer: torch.optim.Optimizer, tensors: dict[str, torch.Tensor]) -> None:
    state: dict[int, dict[str, Any]] = {}
    for key, value in tensors.items():
        i, name = key.split(".")
        state.setdefault(int(i), {})[name] = value
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
