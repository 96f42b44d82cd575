"""A training run on disk: one file, replaced as a whole, from which the run goes on as if nothing had happened."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

from correspondence._util import files
from correspondence.estimators.pice import processes

if TYPE_CHECKING:
    from correspondence.estimators.pice.training import Trainer, TrainingSettings

__all__ = ["CHECKPOINT_FILE", "last_step", "restore_trainer", "save_trainer"]

FILE_FORMAT, FILE_VERSION = "correspondence.PICE.training", 1
CHECKPOINT_FILE = "training.safetensors"


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


def last_step(folder: Path) -> int | None:
    """Step from which a run would go on; None if there is no checkpoint."""
    if not (folder / CHECKPOINT_FILE).is_file():
        return None
    _, description = files.read_safetensors(folder / CHECKPOINT_FILE, FILE_FORMAT, FILE_VERSION)
    return int(description["counts"]["step"])


def restore_trainer(trainer: Trainer) -> None:
    """Take up the run that the folder holds, if there is one; the first of several processes reads it for all."""
    found = processes.from_first(lambda: read_checkpoint(trainer.settings))
    if found is None:
        return
    arrays, description = found
    for name in ("nets", "averages", "best"):
        _load(getattr(trainer, name), files.strip_prefix(arrays, f"{name}."))
    trainer.covariances.running = {
        k: torch.from_numpy(v.copy()) for k, v in files.strip_prefix(arrays, "running.").items()
    }
    _load_optimizer(trainer.optimizer, files.strip_prefix(arrays, "optimizer."))
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
            f"checkpoint: the folder {folder} holds a run with other data or settings: give an empty folder, or "
            "the same data and settings."
        )
    return arrays, description


def _load(nets: nn.Module, arrays: dict[str, np.ndarray]) -> None:
    nets.load_state_dict({key: torch.from_numpy(value.copy()) for key, value in arrays.items()})


def _load_optimizer(optimizer: torch.optim.Optimizer, arrays: dict[str, np.ndarray]) -> None:
    state: dict[int, dict[str, Any]] = {}
    for key, value in arrays.items():
        i, name = key.split(".")
        state.setdefault(int(i), {})[name] = torch.from_numpy(value.copy())
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
