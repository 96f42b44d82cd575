"""PICE: principal functions of anything, learned by two nets."""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
import torch
from scipy.stats import norm, rankdata
from sklearn.utils.validation import check_is_fitted

from correspondence._util.arguments import as_frame, check_whole, count_observations, find_user_stacklevel, is_number
from correspondence._util.text import short_repr
from correspondence._util.user_warnings import NotHeldOut, NothingFound
from correspondence.core.estimator import PairsEstimator
from correspondence.core.scoring import score_pairs
from correspondence.data.encoders.choosing import encoder_for
from correspondence.data.encoders.columns import copy_for_expectations
from correspondence.data.pairs.pairs import Pairs as Source
from correspondence.data.pairs.pairs import check_source
from correspondence.estimators.pice import models, processes
from correspondence.estimators.pice.data import Stream, TrainingArrays, TrainingPairs, first_rows
from correspondence.estimators.pice.feature_net import NetSide, Sides
from correspondence.estimators.pice.losses import LOSS_FUNCTIONS
from correspondence.estimators.pice.models import FunctionModel
from correspondence.estimators.pice.training import (
    SCHEDULE_NAMES,
    Callback,
    HeldOutJudge,
    Report,
    Trainer,
    TrainingSettings,
    decompose_features,
    limit_torch_threads,
)
from correspondence.results.held_out import HeldOut

__all__ = ["PICE"]

MAX_PAIRS_JUDGED = 20_000  # pairs on which nets are judged while they are trained
MIN_HELD_OUT_PAIRS = 20  # pairs at least; fewer cannot choose between models
MAX_FALSE_FINDING_RATE = 0.01  # that the held-out pairs show something where there is nothing
MIN_PAIRS_FOR_VALIDATION = 100  # pairs, from which on some are held out


@dataclass(frozen=True, eq=False)
class _TrainingData:
    sides: Sides
    pairs: TrainingPairs
    """To train on."""
    judge: HeldOutJudge
    everything: TrainingArrays | None
    """All pairs in memory, the held-out ones included, without known functions."""


class PICE(PairsEstimator):
    """Principal functions of two variables of any kind, learned by two nets, F-Net and G-Net.

    Three models compete, each more flexible than the one before: sums of smooth functions of the columns, in closed
    form; the same with a net added, trained by gradient descent; smooth functions of the leading pair of functions
    that the nets have found. A part of the pairs is held out, and a more flexible model is taken only if it captures
    clearly more of them (by two standard errors). At last its functions are whitened on all pairs. Data that are not
    tables have no first model.

    Several processes train one model, if torch.distributed has a process group of them when `fit` is called: see Notes.

    Parameters
    ----------
    n_components : int
        Number of pairs of functions.
    x_net, y_net : "auto", torch.nn.Module, or callable
        "auto" takes a net that suits the data: tables of numbers and categories (arrays, frames, a column of labels),
        sparse matrices, texts, images of shape (n, channels, height, width). A module of your own is trained as it is:
        it takes a float32 tensor of the data (numbers unchanged, anything else encoded) and returns one of
        shape (n, k), with k at least `n_components` and the same for both nets. A callable is called with the shape of
        one row and k, and returns such a module.
    loss : {"dcca", "lowrank", "pice"}
        "dcca" is the sum of the canonical correlations, "lowrank" the distance from the density ratio, "pice" the
        paper's. The default is, by a little, the most accurate and the fastest over the problems with a bar in
        ``benchmarks/pice.py --losses``; "lowrank" is better on vectors of Gaussians.
    batch_size : int
        Pairs in a step; may be smaller than `n_components`.
    learning_rate, weight_decay : float
        Of AdamW.
    max_steps : int
        Of the training, which ends before if nothing improves any more.
    evaluate_every : int
        Steps between two looks at the held-out pairs.
    patience : int
        Looks without an improvement after which the learning rate is lowered, and at last the training ended.
    schedule : {"plateau", "anneal"}
        Of the learning rate: "plateau" lowers it when nothing improves any more. "anneal" trains for all of `max_steps`
        and lowers it to 0 over the last 40 % of them, as is always done when nothing is held out; it is better where
        a look costs much or the score is noisy, as with large nets on images.
    validation_fraction : float
        Share of the pairs that is held out, at least 20 of them, if there are 100 or more. With 0 nothing is, the nets
        are trained for `max_steps`, and no model is compared with another.
    device : str
        "auto" takes a GPU if there is one.
    random_state : int
        Seed of everything that is drawn; equal seeds give equal results on a CPU.
    warm_start : bool
        Whether `fit` goes on from the nets of the fit before.
    checkpoint : str or Path, optional
        Folder for the state of the training. If it holds one, `fit` goes on from there and ends with the same numbers
        as a run that was never interrupted.
    checkpoint_every : int
        Steps between two writes.
    callbacks : list of callable, optional
        Each is called with (step, Decomposition) every `evaluate_every` steps, and may return True to end training.
    progress : bool or callable
        Show a bar with the held-out score, if the output is a terminal. A callable is called instead with each new
        entry of `history_` and the samples per second so far.

    Attributes
    ----------
    decomposition_ : Decomposition
        The result.
    pics_, correlations_ : ndarray of shape (n_components,)
        On the training pairs.
    validation_ : HeldOut or None
        The model on the pairs held out, before the last whitening, which takes all pairs. These pairs chose between
        models, and the encoding (medians, labels, words) takes all pairs: `evaluate` on new data is a little stricter.
    model_ : {"additive", "net", "index"}
        Which of the three models it is: "additive" for tables of fewer than 100 pairs.
    history_ : list of dict
        Step, loss, learning rate, training correlations and held-out score of each evaluation.
    samples_per_second_ : float or None
        Pairs that the training took in, by all processes, evaluations included; None if no net was trained.

    Notes
    -----
    `correspondence train --nproc N` trains by N processes, and so does a script that torchrun starts, which calls
    ``torch.distributed.init_process_group("gloo")`` ("nccl" on GPUs) and then `fit`, in all processes alike. Data in
    memory must be the same in all of them (files that all read, say): each computes its share of every batch, the sums
    over the batch are those of all, batch norm included, and so the result is that of one process, up to rounding and
    dropout, whatever their number. Of a DataLoader or another stream the r-th of R processes takes the batches r,
    r + R, ..., so that R batches make a step. Every process ends with the same model. The first one alone writes
    checkpoints, calls the callbacks, warns and shows progress. A checkpoint can be continued by another number of
    processes. If one dies, the others fail too: start again with the same `checkpoint`.

    Examples
    --------
    >>> import numpy as np
    >>> import correspondence as co
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=3000); y = x + rng.normal(size=3000)
    >>> est = co.PICE(n_components=2).fit(x, y)
    >>> est.correlations_.round(1)   # exact: 0.71 and 0.5
    array([0.7, 0.5])
    >>> est.transform(x).shape
    (3000, 2)
    """

    validation_: HeldOut | None

    def __init__(
        self,
        n_components: int = 2,
        x_net: Any = "auto",
        y_net: Any = "auto",
        loss: str = "dcca",
        *,
        batch_size: int = 512,
        learning_rate: float = 3e-3,
        weight_decay: float = 1e-3,
        max_steps: int = 3000,
        evaluate_every: int = 100,
        patience: int = 3,
        schedule: str = "plateau",
        validation_fraction: float = 0.15,
        device: str = "auto",
        random_state: int = 0,
        warm_start: bool = False,
        checkpoint: str | Path | None = None,
        checkpoint_every: int = 100,
        callbacks: list[Callback] | None = None,
        progress: bool | Report = True,
    ) -> None:
        self.n_components = n_components
        self.x_net = x_net
        self.y_net = y_net
        self.loss = loss
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.max_steps = max_steps
        self.evaluate_every = evaluate_every
        self.patience = patience
        self.schedule = schedule
        self.validation_fraction = validation_fraction
        self.device = device
        self.random_state = random_state
        self.warm_start = warm_start
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every
        self.callbacks = callbacks
        self.progress = progress

    def fit(self, X: Any, Y: Any = None, *, validation: tuple[Any, Any] | None = None) -> Self:
        """Learn the principal functions from pairs.

        Parameters
        ----------
        X, Y : array-like, frame, sparse matrix, list of texts or array of images
            One row for each pair. X may instead be a torch DataLoader or another iterable of batches (x, y), for data
            larger than memory, without Y; the first 20,000 rows should then show every label that occurs.
        validation : pair (X, Y), optional
            Pairs to hold out instead of `validation_fraction` of X and Y. The only ones for a DataLoader.

        Returns
        -------
        PICE
            Itself.
        """
        self._check_parameters()
        self.samples_per_second_: float | None = None
        gpus = range(torch.cuda.device_count())
        n_threads = 1 if self._is_small(X, Y) else torch.get_num_threads()
        with torch.random.fork_rng(devices=gpus), limit_torch_threads(n_threads), processes.limit_warnings_to_first():
            torch.manual_seed(self.random_state)
            data = self._prepare_data(X, Y, validation)
            model, history, nets = self._choose_model(data.sides, data.pairs, data.judge)
            self._finish_fit(model, data, X if Y is not None else None, copy_for_expectations(Y))
        self.history_, self._nets = history, nets
        self._trained = self._make_warm_start_key() if nets[0].net is not None else None
        return self

    # --- data

    def _prepare_data(self, X: Any, Y: Any, validation: Any) -> _TrainingData:
        if Y is None:
            return self._prepare_stream(X, validation)
        n = self._check_pairs(X, Y)
        order = np.random.default_rng(self.random_state).permutation(n)
        held, rest = np.split(order, [0 if validation is not None else self._n_held_out(n)])
        if len(rest) <= self.n_components:
            raise ValueError(
                f"validation_fraction = {self.validation_fraction} leaves only {len(rest)} pairs to train on."
            )
        if len(rest) < processes.count_processes():
            raise ValueError(
                f"There are {len(rest)} pairs to train on, fewer than the {processes.count_processes()} processes."
            )
        sides = self._make_sides(X, Y)
        everything = TrainingArrays.encode_pairs(sides, X, Y)
        pairs = everything.take_pairs(np.sort(rest))
        sides = self._add_known_functions(sides, pairs, pairs)
        pairs = pairs.append_known_functions(sides)
        tried = (
            everything.take_pairs(np.sort(held)).append_known_functions(sides)
            if len(held)
            else encode_validation_pairs(sides, validation)
        )
        return _TrainingData(
            sides, pairs, HeldOutJudge(pairs.take_first(MAX_PAIRS_JUDGED), tried, self.n_components), everything
        )

    def _prepare_stream(self, batches: Any, validation: Any) -> _TrainingData:
        if not _is_stream(batches):
            raise ValueError(
                "Y is missing: requires y to be passed, but the target y is None; give Y, or batches (x, y) for X."
            )
        if isinstance(batches, Source):
            check_source(batches)
        X, Y = first_rows(batches, MAX_PAIRS_JUDGED)
        self._check_pairs(X, Y)
        sides = self._make_sides(X, Y)
        sample = TrainingArrays.encode_pairs(sides, X, Y)
        sides = self._add_known_functions(sides, sample, Stream(sides, batches))
        judge = HeldOutJudge(
            sample.append_known_functions(sides), encode_validation_pairs(sides, validation), self.n_components
        )
        stream = Stream(sides, batches)
        return _TrainingData(sides, stream, judge, None)

    def _n_held_out(self, n: int) -> int:
        return (
            max(round(n * self.validation_fraction), MIN_HELD_OUT_PAIRS)
            if self.validation_fraction and n >= MIN_PAIRS_FOR_VALIDATION
            else 0
        )

    def _make_sides(self, X: Any, Y: Any) -> Sides:
        if self._is_warm():
            x, y = (NetSide(side.name, side.encoder) for side in self._nets)
            return x, y
        x, y = (
            NetSide(name, encoder_for(values, name, plain=not isinstance(net, str)))
            for name, values, net in (("X", X, self.x_net), ("Y", Y, self.y_net))
        )
        return x, y

    def _add_known_functions(self, sides: Sides, sample: TrainingArrays, pairs: TrainingPairs) -> Sides:
        if self._is_warm():
            x, y = (replace(side, known=before.known) for side, before in zip(sides, self._nets, strict=True))
            return x, y
        if not all(isinstance(net, str) for net in (self.x_net, self.y_net)):
            return sides
        return models.with_additive(sides, sample, pairs, self.n_components)

    # --- models

    def _choose_model(
        self, sides: Sides, pairs: TrainingPairs, judge: HeldOutJudge
    ) -> tuple[FunctionModel, list[dict[str, Any]], Sides]:
        """The most flexible of the three models that is clearly worth it, the history of training, and the nets."""
        additive = FunctionModel("additive", sides, judge(sides)) if sides[0].known is not None else None
        if additive and judge.validation is None and isinstance(pairs, TrainingArrays) and self.validation_fraction:
            return additive, [], sides
        start = models.with_nets(
            sides, judge.training, (self.x_net, self.y_net), self.n_components, find_device(self.device)
        )
        if self._is_warm():
            for side, before in zip(start, self._nets, strict=True):
                side.network.load_state_dict(before.network.state_dict())
        if not any(p.requires_grad for side in start for p in side.network.parameters()):
            return FunctionModel("net", start, judge(start)), [], start
        baseline = additive.judgement if additive and judge.validation is not None else None
        settings, callbacks = self._make_settings(judge, start), list(self.callbacks or [])
        trainer = Trainer(start, pairs, judge, baseline, settings, callbacks, self.progress)
        nets = trainer.train_nets()
        self.samples_per_second_ = trainer.samples_per_second
        net = FunctionModel("net", nets, judge(nets))
        if additive and not net.is_better_than(additive):
            return additive, trainer.history, nets
        return models.with_index(net, judge) if judge.validation is not None else net, trainer.history, nets

    def _finish_fit(self, model: FunctionModel, data: _TrainingData, X: Any, y_sample: Any) -> None:
        """Whiten once more, on all pairs; what was held out has been judged before."""
        sides, pairs, judge = model.sides, data.pairs, data.judge
        result, before = None, model.judgement.decomposition
        if judge.validation is not None:
            F, G = judge.evaluate_functions(before, sides)
            result = score_pairs(F, G, before.correlations)
            if not is_something_found(F, G, before.correlations):
                self._warn_of_nothing(result)
        if data.everything is not None:
            if model.name == "additive" and not self._is_warm():
                sides = models.with_additive(sides, data.everything, data.everything, self.n_components)
            pairs = data.everything.append_known_functions(sides)
        d = decompose_features(sides, pairs, self.n_components, y_sample)
        if result is None and isinstance(data.pairs, TrainingArrays) and self.validation_fraction:
            warnings.warn(
                f"Nothing is held out of fewer than {MIN_PAIRS_FOR_VALIDATION} pairs, so the training correlations are too high: "
                "evaluate on other pairs, or give `validation`.",
                NotHeldOut,
                stacklevel=find_user_stacklevel(),
            )
        self._set_decomposition(d, X)
        self.validation_, self.model_ = result, model.name
        self._compared = before.correlations

    def _warn_of_nothing(self, result: HeldOut) -> None:
        low, high = result.captured_interval
        warnings.warn(
            f"Nothing was found: of {result.n:g} pairs held out the functions capture {result.captured:.3g} "
            f"[{low:.3g}, {high:.3g}], which may be 0; the correlations on the training pairs may be chance.",
            NothingFound,
            stacklevel=find_user_stacklevel(),
        )

    def summary(self) -> str:
        """Correlations on the pairs of the training and on those held out, side by side.

        Returns
        -------
        str
            A table, with 95 % intervals of the held-out values.
        """
        check_is_fitted(self)
        rows = [f"{self.model_} model, {self.decomposition_.n:g} pairs", "component  training  held out"]
        for i, r in enumerate(self._compared):
            rows.append(f"{i + 1:>9}  {r:>8.4f}")
            if self.validation_ is not None:
                low, high = self.validation_.intervals[i]
                rows[-1] += f"  {self.validation_.correlations[i]:>8.4f} [{low:.4f}, {high:.4f}]"
        if self.validation_ is not None:
            low, high = self.validation_.captured_interval
            rows.append(f"captured, held out: {self.validation_.captured:.4f} [{low:.4f}, {high:.4f}]")
        return "\n".join(rows)

    # --- settings

    def _check_parameters(self) -> None:
        check_whole(self.n_components, "n_components", 1)
        for name in ("batch_size", "max_steps", "evaluate_every", "patience", "checkpoint_every"):
            check_whole(getattr(self, name), name, 1)
        check_whole(self.random_state, "random_state", 0, 2**32 - 1)
        if self.batch_size < processes.count_processes():
            raise ValueError(
                f"batch_size = {self.batch_size} must be at least the number of processes, {processes.count_processes()}."
            )
        if not isinstance(self.loss, str) or self.loss not in LOSS_FUNCTIONS:
            raise ValueError(
                f"loss must be one of {', '.join(map(repr, LOSS_FUNCTIONS))}, got {short_repr(self.loss)}."
            )
        if not isinstance(self.schedule, str) or self.schedule not in SCHEDULE_NAMES:
            raise ValueError(
                f"schedule must be one of {', '.join(map(repr, SCHEDULE_NAMES))}, got {short_repr(self.schedule)}."
            )
        for name, low in (("learning_rate", 1e-12), ("weight_decay", 0.0)):
            value: Any = getattr(self, name)
            if not is_number(value) or value < low:
                raise ValueError(f"{name} must be a number of at least {low:g}, got {short_repr(value)}.")
        fraction: Any = self.validation_fraction
        if not is_number(fraction) or not 0 <= fraction < 1:
            raise ValueError(f"validation_fraction must be a number from 0 to below 1, got {short_repr(fraction)}.")
        for name in ("x_net", "y_net"):
            net = getattr(self, name)
            if not (net == "auto" if isinstance(net, str) else callable(net)):
                raise ValueError(
                    f'{name} must be "auto", a torch.nn.Module or a callable that makes one, got {short_repr(net)}.'
                )
        if self.callbacks is not None and not all(map(callable, _listed(self.callbacks))):
            raise ValueError(
                f"callbacks must be a list of functions of (step, decomposition), got {short_repr(self.callbacks)}."
            )
        find_device(self.device)

    def _make_settings(self, judge: HeldOutJudge, start: Sides) -> TrainingSettings:
        folder = make_checkpoint_folder(self.checkpoint)
        return TrainingSettings(
            n_components=self.n_components,
            loss=self.loss,
            batch_size=self.batch_size,
            learning_rate=float(self.learning_rate),
            weight_decay=float(self.weight_decay),
            max_steps=self.max_steps,
            evaluate_every=self.evaluate_every,
            patience=self.patience,
            schedule=self.schedule,
            seed=int(self.random_state),
            checkpoint=folder,
            checkpoint_every=self.checkpoint_every,
            fingerprint=self._compute_fingerprint(judge, start) if folder is not None else "",
            warm=self._is_warm(),
        )

    def _compute_fingerprint(self, judge: HeldOutJudge, start: Sides) -> str:
        """Of data, settings and untrained nets, so that a checkpoint is not continued with others."""
        outside = ("x_net", "y_net", "checkpoint", "checkpoint_every", "callbacks", "progress", "warm_start", "device")
        settings = {k: str(v) for k, v in self.get_params(deep=False).items() if k not in outside}
        digest = hashlib.sha256(repr(sorted(settings.items())).encode())
        is_drawn = [isinstance(net, str) and not self._is_warm() for net in (self.x_net, self.y_net)]
        for side, drawn in zip(start, is_drawn, strict=True):
            for name, value in side.network.state_dict().items():
                weights = b"" if drawn else value.cpu().numpy().tobytes()  # drawn ones follow from all else
                digest.update(f"{name} {tuple(value.shape)}".encode() + weights)
        for pairs in (judge.training, judge.validation):
            for side, rows in () if pairs is None else zip(start, (pairs.x, pairs.y), strict=True):
                some = rows[:1000]
                if side.known is not None:  # functions whose last digits depend on the number of processes
                    some = some[:, : -side.known.weights.shape[1]]
                digest.update(repr(rows.shape).encode())
                digest.update((some.toarray() if sp.issparse(some) else np.ascontiguousarray(some)).tobytes())
        return digest.hexdigest()

    def _is_small(self, X: Any, Y: Any) -> bool:
        """Whether nets are so small that a second thread costs more than it gains."""
        own = not all(isinstance(net, str) for net in (self.x_net, self.y_net))
        return not own and Y is not None and all(getattr(values, "ndim", 1) < 3 for values in (X, Y))

    def _is_warm(self) -> bool:
        return bool(self.warm_start and getattr(self, "_trained", None) == self._make_warm_start_key())

    def _make_warm_start_key(self) -> tuple[Any, ...]:
        """What must be the same for a fit to go on from the one before."""
        return self.n_components, self.x_net, self.y_net


def is_something_found(F: np.ndarray, G: np.ndarray, correlations: np.ndarray) -> bool:
    """Whether the score or a correlation is above 0, at a level that allows for the choices made."""
    level = 1 - MAX_FALSE_FINDING_RATE / max(1, F.shape[1])
    strict = score_pairs(F, G, correlations, level=level)
    if strict.captured_interval[0] > 0 or (strict.intervals[:, 0] > 0).any():
        return True
    # One pair far out makes the intervals as wide as can be, but it has no more than one rank.
    f, g = (rankdata(values, axis=0) - (len(values) + 1) / 2 for values in (F, G))
    scale = np.sqrt((f**2).sum(axis=0) * (g**2).sum(axis=0))
    agreement = (f * g).sum(axis=0) / np.where(scale > 0, scale, 1)
    return bool((agreement * np.sqrt(len(F) - 1) > norm.ppf(level)).any())


def _listed(callbacks: Any) -> list[Any]:
    return list(callbacks) if isinstance(callbacks, list | tuple) else [None]


def make_checkpoint_folder(checkpoint: Any) -> Path | None:
    if checkpoint is None:
        return None
    try:
        folder = Path(checkpoint)
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, TypeError, ValueError) as error:
        raise ValueError(f"checkpoint: {short_repr(checkpoint)} cannot be made a folder, {error}.") from None
    return folder


def _is_stream(values: Any) -> bool:
    is_table = isinstance(values, np.ndarray | str | torch.Tensor) or sp.issparse(values)
    return isinstance(values, Iterable) and not is_table and as_frame(values, "X") is None


def encode_validation_pairs(sides: Sides, pair: Any) -> TrainingArrays | None:
    if pair is None:
        return None
    if (
        not isinstance(pair, tuple | list)
        or len(pair) != 2
        or count_observations(pair[0], "X") != count_observations(pair[1], "Y")
    ):
        raise ValueError("validation must be a pair (X, Y) of the same length.")
    return TrainingArrays.encode_pairs(sides, pair[0], pair[1])


def find_device(device: Any) -> torch.device:
    if device == "auto":
        own = f":{os.environ.get('LOCAL_RANK', 0)}" if processes.count_processes() > 1 else ""
        return torch.device(f"cuda{own}" if torch.cuda.is_available() else "cpu")
    try:
        return torch.empty(0, device=device).device
    except (RuntimeError, TypeError, AssertionError):
        raise ValueError(
            f'device must be "auto" or one that torch has here, such as "cpu", got {short_repr(device)}.'
        ) from None
