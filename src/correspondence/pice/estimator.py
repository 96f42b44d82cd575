"""PICE: principal functions of anything, learned by two nets."""

from __future__ import annotations

import copy
import hashlib
import inspect
import warnings
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
import torch
from torch import nn

from correspondence.checks import as_frame, check_whole
from correspondence.encoding import Columns, encoder_for
from correspondence.estimator import Estimator
from correspondence.pice.data import Arrays, Pairs, Stream, first_rows, length, take
from correspondence.pice.losses import LOSSES
from correspondence.pice.nets import ColumnNet
from correspondence.pice.sides import Index, Side
from correspondence.pice.training import (
    CLEAR,
    Callback,
    Judge,
    Judgement,
    Settings,
    Sides,
    Trainer,
    check_outputs,
    decompose,
    threads,
)
from correspondence.splines import SplineBasis, fit_additive
from correspondence.validation import HeldOut, gain, held_out

__all__ = ["PICE"]

EXTRA = 4  # outputs of a net beyond n_components: training converges faster with some to spare
SAMPLE = 20_000  # pairs on which nets are judged while they are trained
HELD_OUT = 20  # pairs at least; fewer cannot choose between models
ADDITIVE = 300  # features of a side, beyond which additive functions are not tried

Fitted = tuple[Sides, Judgement]


class PICE(Estimator):
    """Principal functions of two variables of any kind, learned by two nets, F-Net and G-Net.

    Three models compete, each more flexible than the one before: sums of smooth functions of the columns, in closed
    form; the same with a net added, trained by gradient descent; smooth functions of the leading pair of functions
    that the nets have found. A part of the pairs is held out, and a more flexible model is taken only if it captures
    clearly more of them (by two standard errors). Data that are not tables have no first model.

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
        paper's. The default is the most accurate one over the problems of ``benchmarks/pice.py --losses``.
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
    validation_fraction : float
        Share of the pairs that is held out. With 0 nothing is, the nets are trained for `max_steps`, and no model
        is compared with another.
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
    progress : bool
        Show a bar with the held-out score, if the output is a terminal.

    Attributes
    ----------
    decomposition_ : Decomposition
        The result.
    pics_, correlations_ : ndarray of shape (n_components,)
        On the training pairs.
    validation_ : HeldOut or None
        The same functions on the pairs held out. They chose between models, so `evaluate` on new data is a little
        stricter.
    model_ : {"additive", "net", "index"}
        Which of the three models it is.
    history_ : list of dict
        Step, loss, learning rate, training correlations and held-out score of each evaluation.

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
        patience: int = 4,
        validation_fraction: float = 0.15,
        device: str = "auto",
        random_state: int = 0,
        warm_start: bool = False,
        checkpoint: str | Path | None = None,
        checkpoint_every: int = 500,
        callbacks: list[Callback] | None = None,
        progress: bool = True,
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
        single = all(isinstance(net, str) for net in (self.x_net, self.y_net)) and np.ndim(X) < 3
        with torch.random.fork_rng(devices=[]), threads(1 if single else torch.get_num_threads()):
            torch.manual_seed(self.random_state)
            sides, pairs, judge, y_sample = self._prepare(X, Y, validation)
            model, (sides, judgement), history, nets = self._choose(sides, pairs, judge)
        self._finish(model, sides, pairs, judge, y_sample)
        self.history_, self._nets = history, nets
        if X is not None and Y is not None:
            self._remember_columns(X)
        return self

    # --- data

    def _prepare(self, X: Any, Y: Any, validation: Any) -> tuple[Sides, Pairs, Judge, Any]:
        if Y is None:
            return self._prepare_stream(X, validation)
        n = _check_lengths(X, Y, self.n_components)
        order = np.random.default_rng(self.random_state).permutation(n)
        n_held_out = 0 if validation is not None else round(n * self.validation_fraction)
        held, rest = order[:n_held_out], np.sort(order[n_held_out:])
        sides = self._sides(X, Y)
        pairs = Arrays.encoded(sides, X, Y, rest)
        sides, pairs = self._with_known(sides, pairs)
        if validation is not None:
            held_out_pairs = _held_out(sides, *validation)
        elif n_held_out:
            held_out_pairs = Arrays.encoded(sides, X, Y, np.sort(held))
        else:
            held_out_pairs = None
        return sides, pairs, Judge(pairs.first(SAMPLE), held_out_pairs, self.n_components), Y

    def _prepare_stream(self, X: Any, validation: Any) -> tuple[Sides, Pairs, Judge, Any]:
        if (
            not isinstance(X, Iterable)
            or isinstance(X, np.ndarray | str)
            or as_frame(X, "X") is not None
            or sp.issparse(X)
        ):
            raise ValueError(
                "Y is missing: requires y to be passed, but the target y is None; give Y, or batches (x, y) for X."
            )
        first = first_rows(X, SAMPLE)
        sides = self._sides(*first)
        stream = Stream(sides, X)
        sample = Arrays.encoded(sides, *first, np.arange(length(first[0], "X")))
        sides, sample = self._with_known(sides, sample, stream)
        held = None if validation is None else _held_out(sides, *validation)
        return sides, Stream(sides, X), Judge(sample, held, self.n_components), None

    def _sides(self, X: Any, Y: Any) -> Sides:
        if self._is_warm():
            return tuple(replace(side, known=None, net=None) for side in self._nets)  # type: ignore[return-value]
        x, y = (
            Side(name, encoder_for(values, name, plain=not isinstance(net, str)))
            for name, values, net in (("X", X, self.x_net), ("Y", Y, self.y_net))
        )
        return x, y

    def _with_known(self, sides: Sides, sample: Arrays, pairs: Pairs | None = None) -> tuple[Sides, Arrays]:
        """Additive functions in closed form, if both sides are tables of a moderate number of columns."""
        own = [net for net in (self.x_net, self.y_net) if not isinstance(net, str)]
        if own or not all(isinstance(side.encoder, Columns) and side.encoder.width <= ADDITIVE for side in sides):
            return sides, sample
        if self._is_warm():
            fitted = [side.known for side in self._nets]
        else:
            bases = [
                SplineBasis.for_columns(rows, side.encoder.coordinates)
                for side, rows in zip(sides, (sample.x, sample.y), strict=True)
            ]
            fit = fit_additive((pairs or sample).blocks(), *bases, n_components=self.n_components)
            fitted = [fit.f, fit.g]
        x, y = (replace(side, known=known) for side, known in zip(sides, fitted, strict=True))
        return (x, y), Arrays(*(np.hstack([rows, s.known(rows)]) for s, rows in ((x, sample.x), (y, sample.y))))

    # --- models

    def _choose(self, sides: Sides, pairs: Pairs, judge: Judge) -> tuple[str, Fitted, list[dict[str, Any]], Sides]:
        """The most flexible of the three models that is clearly worth it."""
        additive = (sides, judge(sides)) if sides[0].known is not None else None
        held = judge.validation
        if additive and held is None and self.validation_fraction:
            return "additive", additive, [], sides
        start = self._with_nets(sides, judge)
        baseline = additive[1] if additive and held is not None else None
        trainer = Trainer(
            start, pairs, judge, baseline, self._settings(judge), list(self.callbacks or []), self.progress
        )
        nets = trainer.run()
        net = (nets, judge(nets))
        if additive and not _is_better(additive[1], net[1]):
            return "additive", additive, trainer.history, nets
        index = self._index(nets, judge, net[1]) if held is not None else None
        if index is not None and _is_better(net[1], index[1]):
            return "index", index, trainer.history, nets
        return "net", net, trainer.history, nets

    def _with_nets(self, sides: Sides, judge: Judge) -> Sides:
        outputs = self.n_components + EXTRA
        device = _device(self.device)
        made = []
        for side, rows, own in zip(sides, (judge.training.x, judge.training.y), (self.x_net, self.y_net), strict=True):
            new = (
                side.with_net(outputs)
                if isinstance(own, str)
                else replace(side, net=_own_net(own, rows, outputs, side))
            )
            if isinstance(new.net, ColumnNet):
                new.net.standardise(new.tensors(rows))
            assert new.net is not None
            new.net.to(device)
            made.append(new)
        widths = [
            check_outputs(side, rows[:8], self.n_components)
            for side, rows in zip(made, (judge.training.x, judge.training.y), strict=True)
        ]
        if widths[0] != widths[1]:
            made = self._matched(made, widths, device)
        if self._is_warm():
            for side, before in zip(made, self._nets, strict=True):
                side.net.load_state_dict(before.net.state_dict())
        return made[0], made[1]

    def _matched(self, made: list[Side], widths: list[int], device: torch.device) -> list[Side]:
        """Give the automatic net the width of the user's own."""
        automatic = [isinstance(net, str) for net in (self.x_net, self.y_net)]
        if not any(automatic):
            raise ValueError(f"x_net and y_net must return as many columns, got {widths[0]} and {widths[1]}.")
        i = automatic.index(True)
        made[i] = made[i].with_net(widths[1 - i])
        made[i].net.to(device)  # type: ignore[union-attr]
        return made

    def _index(self, sides: Sides, judge: Judge, judgement: Judgement) -> Fitted | None:
        """Smooth functions of the leading pair that the nets have found."""
        d = judgement.decomposition
        if not d.n_components:
            return None
        leading = [
            Index(f.mean, f.weights[:, :1], None)  # type: ignore[arg-type]
            for f in (d.f, d.g)
        ]
        values = [
            index.values(side.outputs(rows))
            for index, side, rows in zip(leading, sides, (judge.training.x, judge.training.y), strict=True)
        ]
        bases = [SplineBasis.for_columns(v, np.array([True])) for v in values]
        fit = fit_additive([tuple(values)], *bases, n_components=self.n_components)  # type: ignore[list-item]
        x, y = (
            replace(side, index=replace(index, functions=functions))
            for side, index, functions in zip(sides, leading, (fit.f, fit.g), strict=True)
        )
        return (x, y), judge((x, y))

    def _finish(self, model: str, sides: Sides, pairs: Pairs, judge: Judge, y_sample: Any) -> None:
        if model == "additive":
            sides = (replace(sides[0], net=None), replace(sides[1], net=None))
        d = decompose(sides, pairs, self.n_components, y_sample)
        if d.n_components < self.n_components:
            warnings.warn(
                f"There are only {d.n_components} components, fewer than n_components = {self.n_components}: "
                "one of the variables has too few different values.",
                UserWarning,
                stacklevel=3,
            )
        result = _on_held_out(sides, judge, d)
        if result is not None and result.captured_interval[0] <= 0:
            low, high = result.captured_interval
            warnings.warn(
                f"Nothing was found: of {result.n:g} pairs held out, the functions capture {result.captured:.3g} "
                f"[{low:.3g}, {high:.3g}], which may be 0; the correlations on the training pairs are chance.",
                UserWarning,
                stacklevel=3,
            )
        self.decomposition_, self.validation_, self.model_ = d, result, model

    def summary(self) -> str:
        """Training and held-out correlations side by side.

        Returns
        -------
        str
            A table, with 95 % intervals of the held-out values.
        """
        rows = [f"{self.model_} model, {self.decomposition_.n:g} training pairs", "component  training  held out"]
        for i, r in enumerate(self.correlations_):
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
        check_whole(self.random_state, "random_state", 0)
        if self.loss not in LOSSES:
            raise ValueError(f"loss must be one of {', '.join(map(repr, LOSSES))}, got {self.loss!r}.")
        for name, low in (("learning_rate", 1e-12), ("weight_decay", 0.0)):
            value = getattr(self, name)
            if not isinstance(value, int | float) or not np.isfinite(value) or value < low:
                raise ValueError(f"{name} must be a number of at least {low:g}, got {value!r}.")
        fraction = self.validation_fraction
        if not isinstance(fraction, int | float) or not 0 <= fraction < 1:
            raise ValueError(f"validation_fraction must be a number from 0 to below 1, got {fraction!r}.")
        for name in ("x_net", "y_net"):
            net = getattr(self, name)
            if not (net == "auto" if isinstance(net, str) else callable(net)):
                raise ValueError(f'{name} must be "auto", a torch.nn.Module or a callable that makes one, got {net!r}.')
        _device(self.device)

    def _settings(self, judge: Judge) -> Settings:
        folder = None if self.checkpoint is None else Path(self.checkpoint)
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        return Settings(
            n_components=self.n_components,
            loss=self.loss,
            batch_size=self.batch_size,
            learning_rate=float(self.learning_rate),
            weight_decay=float(self.weight_decay),
            max_steps=self.max_steps,
            evaluate_every=self.evaluate_every,
            patience=self.patience,
            seed=int(self.random_state),
            checkpoint=folder,
            checkpoint_every=self.checkpoint_every,
            fingerprint=self._fingerprint(judge) if folder is not None else "",
        )

    def _fingerprint(self, judge: Judge) -> str:
        """Of data and settings, so that a checkpoint is not continued with others."""
        outside = ("checkpoint", "checkpoint_every", "callbacks", "progress", "warm_start", "device")
        settings = {k: str(v) for k, v in self.get_params(deep=False).items() if k not in outside}
        digest = hashlib.sha256(repr(sorted(settings.items())).encode())
        for pairs in (judge.training, judge.validation):
            for rows in () if pairs is None else (pairs.x, pairs.y):
                some = rows[:1000]
                digest.update(repr(rows.shape).encode())
                digest.update((some.toarray() if sp.issparse(some) else np.ascontiguousarray(some)).tobytes())
        return digest.hexdigest()

    def _is_warm(self) -> bool:
        return bool(self.warm_start and hasattr(self, "_nets") and self._nets[0].net is not None)

    def _remember_columns(self, X: Any) -> None:
        frame = as_frame(X, "X")
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        if frame is not None and all(isinstance(name, str) for name in frame.columns):
            self.feature_names_in_ = np.array(frame.columns, dtype=object)
        if frame is not None or np.ndim(X) == 2 or sp.issparse(X):
            self.n_features_in_ = X.shape[1]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags


def _check_lengths(X: Any, Y: Any, n_components: int) -> int:
    n, m = length(X, "X"), length(Y, "Y")
    if n != m:
        raise ValueError(f"X and Y must have the same length, got {n} and {m}.")
    if n <= n_components:
        raise ValueError(f"n_components = {n_components} needs more than as many samples, got {n} sample(s).")
    return n


def _held_out(sides: Sides, X: Any, Y: Any) -> Arrays:
    n = length(X, "validation")
    if n != length(Y, "validation"):
        raise ValueError(f"validation must be a pair (X, Y) of the same length, got {n} and {length(Y, 'validation')}.")
    return Arrays.encoded(sides, X, Y, np.arange(n))


def _is_better(simple: Judgement, flexible: Judgement) -> bool:
    return simple.terms is None or flexible.terms is None or gain(simple.terms, flexible.terms) > CLEAR


def _on_held_out(sides: Sides, judge: Judge, d: Any) -> HeldOut | None:
    if judge.validation is None:
        return None
    parts = [(sides[0].features(x), sides[1].features(y)) for x, y in judge.validation.blocks()]
    F, G = (np.vstack(part) for part in zip(*parts, strict=True))
    return held_out((F - d.f.mean) @ d.f.weights, (G - d.g.mean) @ d.g.weights, d.correlations)


def _own_net(own: Any, rows: Any, outputs: int, side: Side) -> nn.Module:
    """Copy of the user's module, or what the user's function makes."""
    if isinstance(own, nn.Module):
        return copy.deepcopy(own)
    shape = rows.shape[1:]
    made = own(shape[0] if len(shape) == 1 else shape, outputs)
    if not isinstance(made, nn.Module):
        name = f"{side.name.lower()}_net"
        raise ValueError(
            f"{name} must be or make a torch.nn.Module, but {inspect.getattr_static(own, '__name__', own)!r} made {type(made).__name__}."
        )
    return made


def _device(device: Any) -> torch.device:
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        return torch.device(device)
    except (RuntimeError, TypeError):
        raise ValueError(
            f'device must be "auto" or one that torch knows, such as "cpu" or "cuda:0", got {device!r}.'
        ) from None
