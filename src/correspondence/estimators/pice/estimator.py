"""PICE: principal functions of anything, learned by two nets."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Self

import torch
from sklearn.utils.validation import check_is_fitted

from correspondence._util.constraints import FLAG, SEED, Constraint, Constraints, Real, Whole, check_parameters
from correspondence._util.summaries import WithSummary
from correspondence.core.estimator import MISSING_POLICIES, PairsEstimator, treat_missing
from correspondence.core.scoring import score_pairs
from correspondence.data.encoders.columns import copy_for_expectations
from correspondence.estimators.pice import checkpoint, models, processes
from correspondence.estimators.pice.data import TrainingArrays, read_first_rows
from correspondence.estimators.pice.feature_net import Sides
from correspondence.estimators.pice.judging import (
    MAX_PAIRS_JUDGED,
    HeldOutJudge,
    decompose_features,
    warn_if_nothing_found,
    warn_of_nothing_held_out,
)
from correspondence.estimators.pice.losses import LOSS_FUNCTIONS
from correspondence.estimators.pice.models import FunctionModel
from correspondence.estimators.pice.preparation import Preparation, TrainingData, check_stream
from correspondence.estimators.pice.training import (
    SCHEDULE_NAMES,
    Callback,
    Report,
    Trainer,
    TrainingSettings,
    limit_torch_threads,
)
from correspondence.results.evidence import HeldOut

__all__ = ["PICE"]

NET = (
    "auto",
    Constraint("a torch.nn.Module", lambda value: isinstance(value, torch.nn.Module)),
    Constraint("a callable that makes one", callable),
)
CALLBACKS = Constraint(
    "a list of functions of (step, decomposition)",
    lambda value: isinstance(value, list | tuple) and all(map(callable, value)),
)


class PICE(WithSummary, PairsEstimator):
    """Principal functions of two variables of any kind, learned by two nets, F-Net and G-Net.

    Three models compete, each more flexible than the one before: sums of smooth functions of the columns, in closed
    form; the same with a net added, trained by gradient descent; smooth functions of the leading component that the
    nets have found. Some pairs are held out, and a more flexible model is taken only if it captures clearly more of
    them (by two standard errors). Finally, its functions are whitened on all pairs. Data that are not tables do not
    have the first model.

    Several processes train one model if torch.distributed has a process group when `fit` is called: see Notes.

    Parameters
    ----------
    n_components : int
        The number of components.
    x_net, y_net : "auto", torch.nn.Module, or callable
        "auto" takes a net that suits the data: tables of numbers and categories (arrays, frames, a column of labels),
        sparse matrices, texts, images of shape (n, channels, height, width). Your own module is trained as it is: it
        takes a float32 tensor of the data (numbers unchanged, anything else encoded) and returns a tensor of shape
        (n, k), with k at least `n_components` and the same for both nets. A callable is called with the shape of one
        row and k, and returns a module.
    loss : {"dcca", "lowrank", "pice"}
        "dcca" is the sum of the canonical correlations, "lowrank" the distance from the density ratio, "pice" the
        loss of the paper. The default is, by a little, the most accurate and the fastest over the problems with a bar
        in ``benchmarks/pice.py --losses``; "lowrank" is better on vectors of Gaussians.
    batch_size : int
        The number of pairs in a step, which may be smaller than `n_components`.
    learning_rate, weight_decay : float
        The parameters of AdamW.
    max_steps : int
        The training ends after this many steps, or earlier if nothing improves any more.
    evaluate_every : int
        The number of steps between two evaluations on the held-out pairs.
    patience : int
        After this many evaluations without an improvement the learning rate is lowered, and finally the training ends.
    schedule : {"plateau", "anneal"}
        "plateau" lowers the learning rate when nothing improves any more. "anneal" trains for all of `max_steps` and
        lowers it to 0 over the last 40 % of them, as is always done when nothing is held out; it is better where
        evaluations are expensive or the score is noisy, as with large nets on images.
    validation_fraction : float
        Hold out this share of the pairs, at least 20 of them, if there are 100 or more. With 0 no pair is held out, the
        nets are trained for `max_steps`, and no model is compared with another.
    device : str
        The device of the nets; "auto" takes a GPU if there is one.
    random_state : int
        The seed of all random numbers; equal seeds give equal results on a CPU.
    warm_start : bool
        Whether `fit` goes on from the nets of the fit before.
    checkpoint : str or Path, optional
        The folder for the state of the training. If it holds one, `fit` goes on from there and ends with the same
        numbers as an uninterrupted run.
    checkpoint_every : int
        The number of steps between two writes.
    callbacks : list of callable, optional
        Each is called with (step, Decomposition) every `evaluate_every` steps, and may return True to end training.
    progress : bool or callable
        Show a bar with the held-out score, if the output is a terminal. A callable is called instead with each new
        entry of `history_` and the samples per second so far.
    missing : {"indicator", "drop", "error"}
        "indicator" encodes a missing number as the middle of the others, with an indicator beside it, and a missing
        label as a level of its own; "drop" leaves pairs with missing values out of the fit; "error" refuses them.
    handle_unknown : {"error", "missing"}
        In new data, a label that was not in the fit is an error, or is treated like a missing one.

    Attributes
    ----------
    decomposition_ : Decomposition
        The result; ``pics_`` and ``correlations_`` are those on the training pairs.
    validation_ : HeldOut or None
        The model on the held-out pairs, before the last whitening, which takes all pairs. These pairs chose between
        models, and the encoding (medians, labels, words) takes all pairs: `evaluate` on new data is a little stricter.
    model_ : {"additive", "net", "index"}
        Which of the three models it is: "additive" for tables of fewer than 100 pairs.
    history_ : list of dict
        The step, loss, learning rate, training correlations and held-out score of each evaluation.
    samples_per_second_ : float or None
        The pairs per second that all processes trained on, including evaluations; None if no net was trained.

    Notes
    -----
    `correspondence train --nproc N` trains by N processes, and so does a script that torchrun starts, which calls
    ``torch.distributed.init_process_group("gloo")`` ("nccl" on GPUs) and then `fit`, in all processes alike. Data in
    memory must be the same in all of them (files that all read, say): each computes its share of every batch, the sums
    over the batch are those of all, batch norm included, and so the result is that of one process, up to rounding and
    dropout, whatever their number. From a DataLoader or another stream the r-th of R processes takes the batches r,
    r + R, ..., so that R batches make a step. Every process ends with the same model. Only the first one writes
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
    _constraints: ClassVar[Constraints] = {
        "n_components": Whole(1),
        "x_net": NET,
        "y_net": NET,
        "loss": tuple(LOSS_FUNCTIONS),
        "batch_size": Whole(1),
        "learning_rate": Real(1e-12),
        "weight_decay": Real(0),
        "max_steps": Whole(1),
        "evaluate_every": Whole(1),
        "patience": Whole(1),
        "schedule": SCHEDULE_NAMES,
        "validation_fraction": Real(0, below=1),
        "device": processes.find_device,
        "random_state": SEED,
        "warm_start": FLAG,
        "checkpoint_every": Whole(1),
        "callbacks": (None, CALLBACKS),
        "missing": MISSING_POLICIES,
        "handle_unknown": ("error", "missing"),
    }

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
        missing: str = "indicator",
        handle_unknown: str = "error",
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
        self.missing = missing
        self.handle_unknown = handle_unknown

    def fit(self, X: Any, Y: Any = None, *, validation: tuple[Any, Any] | None = None) -> Self:
        """Learn the principal functions from pairs.

        Parameters
        ----------
        X, Y : array-like, frame, sparse matrix, list of texts or array of images
            One row for each pair. Without Y, X may be a torch DataLoader or another iterable of batches (x, y), for
            data larger than memory; the first 20,000 rows should then show every label that occurs.
        validation : pair (X, Y), optional
            Hold out these pairs instead of `validation_fraction` of X and Y. A DataLoader has no other held-out pairs.

        Returns
        -------
        Self
            The estimator itself.
        """
        check_parameters(self)
        X, Y, _ = treat_missing(self.missing, X, Y)
        n_processes = processes.count_processes()
        if self.batch_size < n_processes:
            raise ValueError(
                f"batch_size must be at least {n_processes}, the number of processes, got {self.batch_size}."
            )
        self.samples_per_second_: float | None = None
        gpus = range(torch.cuda.device_count())
        n_threads = 1 if self._is_small(X, Y) else torch.get_num_threads()
        with (
            torch.random.fork_rng(devices=gpus),
            limit_torch_threads(n_threads),
            processes.limit_warnings_to_first(),
        ):
            torch.manual_seed(self.random_state)
            data = self._prepare_data(X, Y, validation)
            model, history, nets = self._choose_model(data)
            self._finish_fit(model, data, X if Y is not None else None, copy_for_expectations(Y))
        self.history_, self._nets = history, nets
        self._trained = self._make_warm_start_key() if nets[0].net is not None else None
        return self

    def _prepare_data(self, X: Any, Y: Any, validation: Any) -> TrainingData:
        nets, before = (self.x_net, self.y_net), self._nets if self._is_warm() else None
        preparation = Preparation(self.n_components, nets, before, self.validation_fraction, self.random_state)
        if Y is not None:
            return preparation.prepare_arrays(X, Y, self._check_pairs(X, Y), validation)
        check_stream(X)
        sample = read_first_rows(X, MAX_PAIRS_JUDGED)
        self._check_pairs(*sample)
        return preparation.prepare_stream(X, sample, validation)

    def _choose_model(self, data: TrainingData) -> tuple[FunctionModel, list[dict[str, Any]], Sides]:
        """Choose the most flexible of the three models that is clearly worth it; with the history, and the nets."""
        sides, pairs, judge = data.sides, data.pairs, data.judge
        additive = FunctionModel("additive", sides, judge(sides)) if sides[0].known is not None else None
        if additive and judge.validation is None and isinstance(pairs, TrainingArrays) and self.validation_fraction:
            return additive, [], sides
        start = models.add_nets(
            sides, judge.training, (self.x_net, self.y_net), self.n_components, processes.find_device(self.device)
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
        return models.choose_index(net, judge) if judge.validation is not None else net, trainer.history, nets

    def _finish_fit(self, model: FunctionModel, data: TrainingData, X: Any, y_sample: Any) -> None:
        """Whiten once more, on all pairs; the held-out pairs have been judged before."""
        sides, pairs, judge = model.sides, data.pairs, data.judge
        result, before = None, model.judgement.decomposition
        if judge.validation is not None:
            F, G = judge.evaluate_functions(before, sides)
            result = score_pairs(F, G, before.correlations)
            warn_if_nothing_found(F, G, before.correlations, result)
        if data.everything is not None:
            if model.name == "additive" and not self._is_warm():
                sides = models.add_additive_functions(sides, data.everything, data.everything, self.n_components)
            pairs = data.everything.append_known_functions(sides)
        d = decompose_features(sides, pairs, self.n_components, y_sample)
        if result is None and isinstance(data.pairs, TrainingArrays) and self.validation_fraction:
            warn_of_nothing_held_out()
        self._set_decomposition(d, X)
        self.validation_, self.model_ = result, model.name
        self._compared = before.correlations

    def write_summary(self) -> str:
        """Show the correlations on the training pairs and on the held-out pairs side by side.

        Returns
        -------
        str
            A table with 95 % intervals of the held-out values.
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

    def _make_settings(self, judge: HeldOutJudge, start: Sides) -> TrainingSettings:
        folder, is_warm = checkpoint.make_folder(self.checkpoint), self._is_warm()
        fingerprint = ""
        if folder is not None:
            is_drawn = [isinstance(net, str) and not is_warm for net in (self.x_net, self.y_net)]
            fingerprint = checkpoint.compute_fingerprint(self.get_params(deep=False), judge, start, is_drawn)
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
            fingerprint=fingerprint,
            warm=is_warm,
        )

    def _is_small(self, X: Any, Y: Any) -> bool:
        """Whether nets are so small that a second thread costs more than it gains."""
        are_ours = all(isinstance(net, str) for net in (self.x_net, self.y_net))
        return are_ours and Y is not None and all(getattr(values, "ndim", 1) < 3 for values in (X, Y))

    def _is_warm(self) -> bool:
        return bool(self.warm_start and getattr(self, "_trained", None) == self._make_warm_start_key())

    def _make_warm_start_key(self) -> tuple[Any, ...]:
        """What must be the same for a fit to go on from the one before."""
        return self.n_components, self.x_net, self.y_net
