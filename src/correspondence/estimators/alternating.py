"""Decompositions by conditional expectations of any scikit-learn regressor, cross-fitted.

The principal functions are fixed points: f is proportional to E[g(Y) | X], and g to E[f(X) | Y]. If a few known
functions span all those of one side (indicators of labels, splines of a number), one regression of these on the other
side is enough. Otherwise the two expectations alternate from a block of start functions, a block power iteration; each
learns from pairs not used by the other, because noise in pairs that both use would grow with every turn. In both cases
the values on a fold come from regressors fitted without the fold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from correspondence._util.progress import make_progress_bar
from correspondence._util.text import short_repr
from correspondence.core.decomposition import Decomposition
from correspondence.core.feature_maps import Additive, Encoded
from correspondence.core.functions import FeatureMap
from correspondence.core.splines import AdditiveFunctions, SplineBasis
from correspondence.data.encoders.base import Encoder
from correspondence.data.encoders.columns import Columns, find_only_category
from correspondence.data.splits import Split, make_splits
from correspondence.estimators.conditional_expectations import (
    MAX_LABELS_REGRESSED,
    ConditionalExpectation,
    CrossFittedExpectation,
    ExpectationModel,
    LabelMeans,
    decompose_functions,
    encode_rows,
    expect_span,
    find_most_correlated,
    find_start,
    suit_rows,
)

__all__ = ["AlternatingExpectations", "check_model"]

N_KNOTS_REGRESSED = 8  # of the splines that are regressed
N_EXTRA_FUNCTIONS = 2  # functions beyond n_components, which make the alternation converge faster


def check_model(model: Any, name: str) -> None:
    """Check a regressor or classifier of scikit-learn, or of its kind."""
    is_model = all(hasattr(model, method) for method in ("fit", "predict", "get_params"))
    if isinstance(model, type) or not is_model:
        raise ValueError(
            f"{name} must be a scikit-learn regressor or classifier such as Ridge(), got {short_repr(model)}."
        )
    if is_classifier(model) and not hasattr(model, "predict_proba"):
        raise ValueError(f"{name} must have predict_proba, got {short_repr(model)}. Choose another classifier.")


@dataclass(frozen=True)
class AlternatingExpectations:
    """Principal functions as conditional expectations by regressors or classifiers.

    Attributes
    ----------
    n_components : int
        The number of components.
    x_regressor, y_regressor : regressor or classifier, optional
        They learn E[g(Y) | X] and E[f(X) | Y]; at least one is given.
    cv : int, splitter or iterable
        The folds of the cross-fitting.
    n_alternations : int
        How often both expectations are learned in turn, where that is necessary.
    random_state : int
        The seed of the folds.
    progress : bool or None
        Show a progress bar; None shows one if it takes longer than two seconds.
    """

    n_components: int
    x_regressor: Any
    y_regressor: Any
    cv: Any
    n_alternations: int
    random_state: int
    progress: bool | None

    def decompose(self, encoders: tuple[Encoder, Encoder], X: Any, Y: Any, groups: np.ndarray | None) -> Decomposition:
        """Decompose pairs in memory.

        Parameters
        ----------
        encoders : pair of Encoder
            They encode the values of the two variables.
        X, Y : array-like, frame, sparse matrix or list of texts
            One row for each pair.
        groups : ndarray of int of shape (n,), optional
            Pairs of the same group stay in the same fold.
        """
        rows = [
            encode_rows(encoder, values, name) for name, encoder, values in zip("XY", encoders, (X, Y), strict=True)
        ]
        labels = next((rows[side].argmax(axis=1) for side in (1, 0) if find_only_category(encoders[side])), None)
        n = rows[0].shape[0]
        cv = self.cv
        if groups is not None and isinstance(cv, int):  # no more folds than there are groups
            cv = min(cv, max(2, len(np.unique(groups))))
        folds = make_splits(cv, n, labels=labels, groups=groups, random_state=self.random_state)
        if not np.array_equal(np.sort(np.concatenate([test for _, test in folds])), np.arange(n)):
            raise ValueError("cv must hold out each pair exactly once, as k-fold splitters do.")
        models = [self._choose_model(side, encoders) for side in (0, 1)]
        x, y = (
            ConditionalExpectation("XY"[side], encoders[side], suit_rows(rows[side], models[side]), models[side])
            for side in (0, 1)
        )
        known = find_known("Y", encoders[1], y.rows) if self.y_regressor is None else None
        if known is not None:
            G = known(Y)
            F, fx = self._regress_functions(x, G, folds)
            return decompose_functions(F, fx, G, known, self.n_components, Y, y.rows, span=expect_span(F, G, "y"))
        known = find_known("X", encoders[0], x.rows) if self.x_regressor is None else None
        if known is not None:
            F = known(X)
            G, gy = self._regress_functions(y, F, folds)
            return decompose_functions(F, known, G, gy, self.n_components, Y, y.rows, span=expect_span(F, G, "x"))
        F, fx, G, gy = self._alternate_expectations(
            x, y, [(*split_in_halves(train, groups, self.random_state), test) for train, test in folds]
        )
        return decompose_functions(F, fx, G, gy, self.n_components, Y, y.rows)

    def _regress_functions(
        self, side: ConditionalExpectation, targets: np.ndarray, folds: list[Split]
    ) -> tuple[np.ndarray, CrossFittedExpectation]:
        """Expect known functions: cross-fitted values, and the mean over the folds for new data."""
        values, models = np.empty_like(targets), []
        with make_progress_bar(len(folds), "ACE", self.progress) as done:
            for train, test in folds:
                models.append(side.fit_model(train, targets[train]))
                values[test] = models[-1](side.rows[test])
                done.update()
        return values, CrossFittedExpectation(side.name, side.encoder, models)

    def _alternate_expectations(
        self,
        x: ConditionalExpectation,
        y: ConditionalExpectation,
        parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]],
    ) -> tuple[np.ndarray, CrossFittedExpectation, np.ndarray, CrossFittedExpectation]:
        """Run a block power iteration for each fold, and rotate its functions on to those of the first."""
        k, start = self.n_components + N_EXTRA_FUNCTIONS, find_start(y.encoder, y.rows)
        F, G = (np.empty((x.rows.shape[0], k)) for _ in range(2))
        runs: list[tuple[ExpectationModel, ExpectationModel]] = []
        with make_progress_bar(len(parts) * self.n_alternations, "ACE", self.progress) as done:
            for for_x, for_y, test in parts:
                targets = start
                for _ in range(self.n_alternations):
                    f = x.fit_model(for_x, targets[for_x])
                    f = f.combine_predictions(find_most_correlated(f(x.rows[for_y]), targets[for_y], k))
                    g = y.fit_model(for_y, f(x.rows[for_y]))
                    g = g.combine_predictions(find_most_correlated(g(y.rows[for_x]), targets[for_x], k))
                    targets = g(y.rows)
                    done.update()
                if runs:
                    f, g = (
                        m.rotate_functions(first, s.rows) for m, first, s in zip((f, g), runs[0], (x, y), strict=True)
                    )
                runs.append((f, g))
                F[test], G[test] = f(x.rows[test]), g(y.rows[test])
        fs, gs = zip(*runs, strict=True)
        return F, CrossFittedExpectation("X", x.encoder, list(fs)), G, CrossFittedExpectation("Y", y.encoder, list(gs))

    def _choose_model(self, side: int, encoders: tuple[Encoder, Encoder]) -> Any:
        """Choose what estimates expectations given X (side 0) or Y (side 1)."""
        own, other = (self.x_regressor, self.y_regressor)[:: -1 if side else 1]
        if own is None and find_only_category(encoders[side]) is not None:
            return LabelMeans()
        model, given = (own, "xy"[side]) if own is not None else (other, "yx"[side])
        if is_classifier(model) and not has_few_labels(encoders[1 - side]):
            if own is None:
                return None  # never asked: the other side has labels
            raise ValueError(
                f"{given}_regressor must be a regressor, got a classifier. A classifier needs labels for {'YX'[side]}, "
                f"at most {MAX_LABELS_REGRESSED} of them."
            )
        return model


def find_known(name: str, encoder: Encoder, rows: Any) -> FeatureMap | None:
    """Find functions that span all those of a variable, or nearly so: the indicators of labels, splines of a number."""
    if has_few_labels(encoder):
        return Encoded(name, encoder)
    if isinstance(encoder, Columns) and encoder.width == 1 and encoder.coordinates.all():
        basis = SplineBasis.for_columns(rows, encoder.coordinates, N_KNOTS_REGRESSED)
        return Additive(name, encoder, AdditiveFunctions(basis, np.zeros(basis.width), np.eye(basis.width)))
    return None


def has_few_labels(encoder: Encoder) -> bool:
    labels = find_only_category(encoder)
    return labels is not None and labels.width <= MAX_LABELS_REGRESSED


def split_in_halves(train: np.ndarray, groups: np.ndarray | None, random_state: int) -> Split:
    """Split some pairs into two parts; the pairs of a group stay together."""
    within = None if groups is None else groups[train]
    if within is not None and len(set(within.tolist())) < 2:
        raise ValueError("groups must contain at least two values in each training part of cv, one for each side.")
    first, second = make_splits(2, len(train), groups=within, random_state=random_state)[0]
    return train[first], train[second]
