"""Correspondence analysis of a black-box classifier, from its beliefs alone.

Names and the paper's symbols: ``beliefs`` are the rows of P_{Y|X}, ``prior_`` is p_Y (their mean), g is the matrix
G = D_Y^{-1/2} U, and f(x) = sum_y g(y) P(y | x) / sqrt(lambda). With all components, and the constants f_0 = g_0 = 1,

    P_{Y|X} = F diag(sqrt(lambda)) G^T diag(p_Y)

exactly (the paper has lambda instead of its root, and no transpose: `shared/paper/NOTES.md`, erratum 5).
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from correspondence._util.arguments import check_seed, check_weights, check_whole, count_observations, to_floats
from correspondence._util.labels import as_labels, to_object_array
from correspondence._util.progress import make_progress_bar
from correspondence._util.text import short_repr
from correspondence._util.user_warnings import CorrespondenceWarning
from correspondence.classifiers.belief_moments import (
    MIN_BELIEF_FOR_SINGLE_PRECISION,
    decompose_beliefs,
    sum_belief_moments,
)
from correspondence.classifiers.beliefs import Beliefs, apply_temperature, check_beliefs, is_stream
from correspondence.classifiers.boundaries import (
    boundary_beliefs,
    class_index,
    find_smallest_margins,
    given_shares,
    is_column,
    measure_overlap,
    shares_of_others,
)
from correspondence.classifiers.calibration import Calibration, Claims, best_temperature, calibration_error, log_loss
from correspondence.core.decomposition import Decomposition
from correspondence.core.estimator import Estimator
from correspondence.core.functions import MAX_FUNCTION_VALUE, LabelFunctions, LinearFunctions
from correspondence.core.moments import Moments
from correspondence.core.scoring import score_pairs, score_parts
from correspondence.data.pairs.pairs import Pairs, check_source
from correspondence.results.confusing import Confusing
from correspondence.results.held_out import HeldOut

__all__ = ["ClassifierCA", "label_codes"]

ROWS_ASKED_FIRST = 256  # rows that a model is asked before it is sent to workers


class ClassifierCA(Estimator):
    """Correspondence analysis of a classifier: which classes it tells apart, which it confuses, and where.

    X is the input and Y the class that the classifier means: of an input x it is y with the probability P(y | x) that
    the classifier gives it. No labels are needed, and nothing is known of the model but its answers.

    Parameters
    ----------
    model : classifier, torch module, callable or ONNX session, optional
        A fitted classifier or pipeline of scikit-learn (anything with ``predict_proba``), a torch module that returns
        logits or probabilities, a session of onnxruntime, or a function from inputs to an array of shape (n, k).
        Left out, X are the beliefs themselves.
    n_components : int, optional
        How many components are kept; all, one less than there are classes, by default.
    classes : array-like of shape (k,), optional
        Names of the columns of the beliefs; by default ``model.classes_``, or 0, 1, ...
    outputs : {"auto", "probabilities", "logits"}
        What the model returns. "auto" finds out for torch modules and takes everything else for probabilities.
    temperature : float
        By which the logarithms of the beliefs are divided; above 1 they become more cautious. See `calibration`.
    batch_size : int
        How many inputs the model is asked at a time.
    progress : bool, optional
        Whether a bar is shown; in a terminal, from two seconds on, by default.

    Attributes
    ----------
    decomposition_ : Decomposition
        PICs of the belief channel, f (of inputs) and g (of classes).
    classes_ : ndarray of shape (k,)
        Names of the classes.
    prior_ : ndarray of shape (k,)
        Mean beliefs: how often the classifier means each class.
    overlap_ : ndarray of shape (k, k)
        How much two classes are confused: the cosine between their beliefs, 0 if they are never believed of the same
        input, 1 if always in the same proportion.
    held_out_ : HeldOut or None
        f and g on the labels given to `fit`.

    Examples
    --------
    >>> import correspondence as co
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> names = ["setosa", "versicolor", "virginica"]
    >>> model = LogisticRegression(max_iter=1000).fit(X[::2], y[::2])
    >>> cca = co.ClassifierCA(model, classes=names).fit(X[1::2])
    >>> cca.correlations_.round(2)
    array([0.95, 0.7 ])
    >>> cca.boundary("versicolor", "virginica", n=3).round(1)[0]        # where it cannot decide between the two
    array([-0.8,  0. ])
    >>> cca.confusing(X[1::2], n=1).pairs.tolist()
    [['versicolor', 'virginica']]
    """

    def __init__(
        self,
        model: Any = None,
        n_components: int | None = None,
        *,
        classes: Any = None,
        outputs: str = "auto",
        temperature: float = 1.0,
        batch_size: int = 1024,
        progress: bool | None = None,
    ) -> None:
        self.model = model
        self.n_components = n_components
        self.classes = classes
        self.outputs = outputs
        self.temperature = temperature
        self.batch_size = batch_size
        self.progress = progress

    @classmethod
    def from_beliefs(cls, P: Any, classes: Any = None, **parameters: Any) -> ClassifierCA:
        """Analyse beliefs that are there already; everything then takes beliefs for X.

        Parameters
        ----------
        P : array-like of shape (n, k)
            Beliefs of n inputs, each row with sum 1; an array in a file (``np.load(..., mmap_mode="r")``) is read
            some rows at a time.
        classes : array-like of shape (k,), optional
            Names of the columns.
        **parameters
            Others of `ClassifierCA`.

        Returns
        -------
        ClassifierCA
            Fitted.

        Examples
        --------
        >>> P = [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]]
        >>> ClassifierCA.from_beliefs(P, classes=["no", "yes"]).pics_.round(3)
        array([0.335])
        """
        return cls(classes=classes, **parameters).fit(P)

    def fit(self, X: Any, Y: Any = None, sample_weight: Any = None) -> Self:
        """Ask the model for its beliefs of X and decompose them.

        Parameters
        ----------
        X : array-like, frame, or iterable of batches
            Inputs as the model takes them, best such that it was not trained on. Of batches that are tuples, as those
            of a torch DataLoader, the first part. Of `Pairs` the x, for which the model is asked where they are: with
            an array of numbers, a list of labels or texts, or a pandas frame if the columns are not all numbers or if
            it was fitted to a frame. Their y are left for `evaluate`: ``held_out_`` is None.
        Y : array-like of shape (n,), optional
            Their true labels: they change nothing but ``held_out_``, what the functions are worth on them.
        sample_weight : array-like of shape (n,), optional
            Of the inputs.

        Returns
        -------
        ClassifierCA
            Itself.
        """
        if self.n_components is not None:
            check_whole(self.n_components, "n_components", 1)
        beliefs = Beliefs(self.model, self.outputs, self.temperature, self.batch_size, self.classes)
        keep = Y is not None
        if isinstance(X, Pairs):
            check_source(X, Y, sample_weight)
            moments, kept = self._query_pairs(beliefs, X), list[np.ndarray]()
        else:
            moments, kept = self._query_inputs(beliefs, X, sample_weight, keep)
        classes = beliefs.given = beliefs.name_classes(len(moments.mean_f))
        decomposition, second = decompose_beliefs(moments, classes, beliefs, self.n_components)
        P = np.concatenate(kept) if keep else np.empty((0, 0))
        evaluation = (
            evaluate_on_labels(decomposition, P, label_codes(Y, classes, len(P)), sample_weight) if keep else None
        )
        self.classes_, self.prior_ = classes, moments.mean_f / moments.mean_f.sum()
        self.decomposition_, self._second, self.held_out_ = decomposition, second, evaluation
        self._remember_columns(X)
        return self

    def __sklearn_clone__(self) -> ClassifierCA:
        """The same parameters and the same model: scikit-learn would make one that is not fitted of it."""
        copy = type(self)(**self.get_params(deep=False))
        if hasattr(self, "_sklearn_output_config"):
            copy._sklearn_output_config = dict(self._sklearn_output_config)
        return copy

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _query_inputs(
        self, beliefs: Beliefs, X: Any, sample_weight: Any, keep: bool
    ) -> tuple[Moments, list[np.ndarray]]:
        """Moments of the beliefs, and the beliefs themselves if they are to be kept."""
        n = None if is_stream(X) else count_observations(X, "X")
        if sample_weight is not None and n is None:
            raise ValueError("sample_weight cannot be given with batches: repeat rows instead.")
        weights = None if sample_weight is None or n is None else check_weights(sample_weight, n, "sample_weight")
        moments, kept, done = None, [], 0
        with make_progress_bar(n or 0, "beliefs", self.progress) as shown:
            for P in beliefs.iterate_batches(X):
                if moments is None:
                    is_single = P.dtype == np.float32 and P.max(axis=0).min() > MIN_BELIEF_FOR_SINGLE_PRECISION
                    moments = Moments(np.float32, centre=False) if is_single else Moments()
                weight = None if weights is None else weights[done : done + len(P)]
                moments.update(P, np.empty((len(P), 0), P.dtype), weight)
                done += len(P)
                shown.update(len(P))
                if keep:
                    kept.append(P)
        if moments is None or done < 2:
            raise ValueError(f"The beliefs of at least two inputs are needed, got {done} sample(s).")
        return moments, kept

    def _query_pairs(self, beliefs: Beliefs, pairs: Pairs) -> Moments:
        """Moments of the beliefs, in double precision, computed where the pairs are."""
        rows = next(iter(pairs), None)
        if rows is not None:
            next(
                beliefs.iterate_batches(rows[0].slice(0, ROWS_ASKED_FIRST))
            )  # an error is told before workers start; logits are seen
        moments: Moments = pairs.sums(
            partial(sum_belief_moments, beliefs), partial(sum, start=Moments()), "beliefs", numbered=False
        )
        if moments.n < 2:
            raise ValueError(f"The beliefs of at least two inputs are needed, got {moments.n:g} sample(s).")
        return moments

    def _evaluate_g(self, Y: Any) -> np.ndarray:
        return self._get_g_functions().values[label_codes(Y, self.classes_)]

    def evaluate(self, X: Any, Y: Any = None, sample_weight: Any = None) -> HeldOut:
        """Check the functions on true labels: what the beliefs are worth, beside the correlations that they claim.

        Parameters
        ----------
        X, Y : array-like
            Inputs that the model was not trained on, and their labels. One that is never predicted counts as the mean.
            Or X alone, as `Pairs`, whose y are the labels.
        sample_weight : array-like of shape (n,), optional
            Of the inputs.

        Returns
        -------
        HeldOut
            ``.correlations`` of each component, ``.captured``, their intervals and ``.n``.
        """
        check_is_fitted(self)
        if isinstance(X, Pairs):
            check_source(X, Y, sample_weight)
            g = partial(_look_up_label_values, self.classes_, np.nan_to_num(self._get_g_functions().values))
            return score_parts(X.through(self._get_f_functions().without_sample(), g).each, self.correlations_)
        if Y is None:
            raise ValueError("Y is missing: an evaluation needs the true labels of X.")
        P = self.beliefs(X)
        return evaluate_on_labels(self.decomposition_, P, label_codes(Y, self.classes_, len(P)), sample_weight)

    # --- what the model believes, and where that lies

    def beliefs(self, X: Any) -> np.ndarray:
        """Ask the model, with the temperature of this analysis.

        Parameters
        ----------
        X : array-like, tensor or frame
            Inputs.

        Returns
        -------
        ndarray of shape (n, k)
            Beliefs in the order of ``classes_``; each row sums to 1.
        """
        return self._get_f_functions().features(X)  # type: ignore[misc]

    def on_beliefs(self) -> ClassifierCA:
        """The same analysis, fitted, that takes beliefs instead of inputs: a slow model is then asked only once.

        Returns
        -------
        ClassifierCA
            Whose X are what `beliefs` returns.

        Examples
        --------
        >>> import numpy as np
        >>> model = lambda X: np.column_stack([1 - X[:, 0], X[:, 0]])
        >>> cca = ClassifierCA(model).fit(np.linspace(0, 1, 5)[:, None])
        >>> P = cca.beliefs(np.array([[0.3]]))
        >>> bool(np.all(cca.on_beliefs().transform(P) == cca.transform(np.array([[0.3]]))))
        True
        """
        check_is_fitted(self)
        copy = ClassifierCA(n_components=self.n_components, classes=self.classes_, progress=self.progress)
        for name in ("classes_", "prior_", "held_out_", "_second"):
            setattr(copy, name, getattr(self, name))
        copy.n_features_in_ = len(self.classes_)
        f = replace(self._get_f_functions(), features=Beliefs(classes=self.classes_))
        copy.decomposition_ = replace(self.decomposition_, f=f)
        return copy

    def predict(self, X: Any) -> np.ndarray:
        """The likeliest class of each input.

        Parameters
        ----------
        X : array-like, tensor or frame
            Inputs.

        Returns
        -------
        ndarray of shape (n,)
            Of ``classes_``.
        """
        check_is_fitted(self)
        return self.classes_[self.beliefs(X).argmax(axis=1)]

    def locate(self, P: Any) -> np.ndarray:
        """f of inputs of which these beliefs are held: F = P (diag(sqrt(lambda)) G^T diag(p_Y))^{-1}.

        Parameters
        ----------
        P : array-like of shape (n, k)
            Beliefs, in the order of ``classes_``.

        Returns
        -------
        ndarray of shape (n, d)
        """
        functions = self._get_f_functions()
        checked = check_beliefs(P).astype(np.float64, copy=False)
        if checked.shape[1] != len(self.classes_):
            raise ValueError(f"P must have {len(self.classes_)} columns, one for each class, got {checked.shape[1]}.")
        return functions.of_features(checked)

    def beliefs_at(self, F: Any) -> np.ndarray:
        """Beliefs of inputs that lie at F: P = F diag(sqrt(lambda)) G^T diag(p_Y), the inverse of `locate`.

        Parameters
        ----------
        F : array-like of shape (n, d)
            Points of the factoring space.

        Returns
        -------
        ndarray of shape (n, k)
            Exact with k - 1 components; otherwise, and at points where no belief can be, some may be negative.
        """
        check_is_fitted(self)
        F = to_floats(F, "F")
        if not np.isfinite(F).all() or (np.abs(F) > MAX_FUNCTION_VALUE).any():
            raise ValueError(f"F must be finite, and no value larger than {MAX_FUNCTION_VALUE:g}.")
        if F.ndim != 2 or F.shape[1] != len(self.pics_):
            raise ValueError(f"F must have {len(self.pics_)} columns, one for each component, got shape {F.shape}.")
        G = np.nan_to_num(self._get_g_functions().values)
        return self.prior_ * (1 + (F * self.correlations_) @ G.T)

    @property
    def overlap_(self) -> np.ndarray:
        """How much two classes are confused: the cosine between their beliefs."""
        check_is_fitted(self)
        return measure_overlap(self._second)

    # --- boundaries

    def boundary(self, a: Any, b: Any, n: int = 100, others: Any = None) -> np.ndarray:
        """Points of the factoring space where the model cannot decide between two classes.

        On them a and b are equally likely and no class is more likely (if the beliefs have all k - 1 components: with
        fewer, of few inputs or by `n_components`, the points are projections). They lie on a straight line, and go in
        equal steps of the beliefs from where only a and b are possible to where a third class is as likely.

        With three classes that is the whole boundary. With more there are many ways to get from the one to the other,
        because the remaining probability can be split among the other classes in any proportion; by default, in the
        proportion the model itself uses when it predicts a or b.

        Parameters
        ----------
        a, b : label
            Two different classes.
        n : int
            How many points.
        others : label, mapping or array-like of shape (k,), optional
            The class that gets what is left, or a share for each class.

        Returns
        -------
        ndarray of shape (n, d)
            Multiply by ``correlations_`` for principal coordinates. `locate` is the way for beliefs of your own.
        """
        check_is_fitted(self)
        check_whole(n, "n", 1)
        i, j = self._find_pair_positions(a, b)
        shares = shares_of_others(self._second, i, j) if others is None else given_shares(others, self.classes_)
        shares = np.where(self.prior_ > 0, shares, 0)
        if not np.delete(shares, [i, j]).any():
            if others is not None:
                raise ValueError("others must give a share to a class other than a and b that is predicted.")
            shares = self.prior_  # neither is ever mixed up with another class
        return self._get_f_functions().of_features(boundary_beliefs(len(self.classes_), i, j, n, shares))

    def confusing(self, X: Any, n: int = 10, between: tuple[Any, Any] | None = None) -> Confusing:
        """The most ambiguous of some inputs: those whose two likeliest classes are almost equally likely.

        Parameters
        ----------
        X : array-like, frame, or iterable of batches
            Inputs, as for `fit`.
        n : int
            At most so many.
        between : (label, label), optional
            Only inputs whose two likeliest classes are these.

        Returns
        -------
        Confusing
            ``.index``, ``.pairs``, ``.margin``, ``.position`` and ``.beliefs``, the closest call first.
        """
        functions = self._get_f_functions()
        check_whole(n, "n", 1)
        is_pair = isinstance(between, tuple) or is_column(between)
        if between is not None and not (is_pair and len(between) == 2):
            raise ValueError(f"between must be a pair of classes, got {short_repr(between)}.")
        pair = (None, None) if between is None else self._find_pair_positions(*between, names=("between", "between"))
        k = len(self.classes_)
        index, best = np.empty(0, np.intp), np.empty((0, k))
        seen = 0
        for P in functions.features.iterate_batches(X):  # type: ignore[union-attr]
            rows = find_smallest_margins(P, n, *pair)[0]
            index, best = np.concatenate([index, rows + seen]), np.concatenate([best, P[rows].astype(np.float64)])
            seen += len(P)
            order = find_smallest_margins(best, n, *pair)[0]
            index, best = index[order], best[order]
        if not seen:
            raise ValueError("X is empty: beliefs need at least one input.")
        _, top, margin = find_smallest_margins(best, n, *pair)
        names = to_object_array(self.classes_.tolist())
        return Confusing(index, names[top], margin, functions.of_features(best), best, self.classes_)

    def calibration(self, X: Any, Y: Any, *, cv: int = 2, random_state: int = 0) -> Calibration:
        """Compare what the model claims with what its beliefs are worth on labels, and find the temperature that helps.

        An overconfident model claims larger correlations than the labels show. The temperature of each part of the data
        is found on the other parts, so the figures after it are held out as well.

        Parameters
        ----------
        X, Y : array-like
            Inputs that the model was not trained on, and their true labels.
        cv : int
            Into how many parts the data are split.
        random_state : int
            Of the split.

        Returns
        -------
        Calibration
            ``.temperature``, and ``.before`` and ``.after`` it: correlations claimed and held out, log loss,
            calibration error. Use it by ``ClassifierCA(model, temperature=...)``.
        """
        P = self.beliefs(X)
        codes = label_codes(Y, self.classes_, len(P))
        check_whole(cv, "cv", 2, len(P))
        part = check_seed(random_state).permutation(len(P)) % cv
        Q = np.empty_like(P)
        for i in range(cv):
            Q[part == i] = apply_temperature(P[part == i], best_temperature(P[part != i], codes[part != i]))
        temperature = self.temperature * best_temperature(P, codes)
        before, after = (measure_claims(beliefs, codes, self.classes_) for beliefs in (P, Q))
        return Calibration(temperature, before, after, len(P))

    def summary(self) -> str:
        """Text: the classes that each component tells apart, the claims beside what labels say, the confused pairs.

        Returns
        -------
        str
            Some lines, to be printed.
        """
        check_is_fitted(self)
        lines = [
            f"{len(self.classes_)} classes, beliefs of {self.decomposition_.n:,.10g} inputs",
            self._format_components(),
        ]
        overlaps = np.triu(self.overlap_, 1)
        order = np.argsort(-overlaps, axis=None, kind="stable")[: min(5, int((overlaps > 0).sum()))]
        names = self.classes_
        for a, b in zip(*np.unravel_index(order, overlaps.shape), strict=True):
            lines.append(f"  confused: {names[a]} and {names[b]}, overlap {overlaps[a, b]:.3f}")
        return "\n".join(lines)

    def _format_components(self) -> str:
        held = self.held_out_
        lines = ["  component   claimed" + ("   on labels" if held is not None else "") + "   tells apart"]
        G = self._get_g_functions().values
        for i, r in enumerate(self.correlations_[:10]):
            label = "" if held is None else f"   {held.correlations[i]:9.4f}"
            low, high = self.classes_[np.nanargmin(G[:, i])], self.classes_[np.nanargmax(G[:, i])]
            lines.append(f"  {i + 1:9d}   {r:7.4f}{label}   {low} and {high}")
        if len(self.correlations_) > 10:
            lines.append(f"  ... and {len(self.correlations_) - 10} more components")
        return "\n".join(lines)

    def _find_pair_positions(self, a: Any, b: Any, names: tuple[str, str] = ("a", "b")) -> tuple[int, int]:
        position = {label: i for i, label in enumerate(self.classes_.tolist())}
        i, j = class_index(position, a, names[0]), class_index(position, b, names[1])
        if i == j:
            raise ValueError(f"a and b must be two different classes, got {short_repr(a)} twice.")
        for index, label in ((i, a), (j, b)):
            if self.prior_[index] == 0:
                raise ValueError(f"The class {short_repr(label)} is never predicted: it has no boundary.")
        return i, j

    def _get_f_functions(self) -> LinearFunctions:
        check_is_fitted(self)
        f = self.decomposition_.f
        assert isinstance(f, LinearFunctions)
        return f

    def _get_g_functions(self) -> LabelFunctions:
        g = self.decomposition_.g
        assert isinstance(g, LabelFunctions)
        return g


def label_codes(Y: Any, classes: np.ndarray, n: int | None = None, name: str = "Y") -> np.ndarray:
    """Position of each label among the classes; there must be n labels."""
    labels = as_labels(Y, name).tolist()
    if n is not None and len(labels) != n:
        raise ValueError(f"X and {name} must have the same length, got {n} and {len(labels)}.")
    position = {label: i for i, label in enumerate(classes.tolist())}
    return np.array([class_index(position, label, name) for label in labels], dtype=np.intp)


def _look_up_label_values(classes: np.ndarray, values: np.ndarray, Y: Any) -> np.ndarray:
    return values[label_codes(Y, classes)]


def evaluate_on_labels(d: Decomposition, P: np.ndarray, codes: np.ndarray, sample_weight: Any = None) -> HeldOut:
    """The functions on labels; a class that is never predicted counts as the mean of the others."""
    assert isinstance(d.f, LinearFunctions)
    assert isinstance(d.g, LabelFunctions)
    G = np.nan_to_num(d.g.values)[codes]
    weights = None if sample_weight is None else check_weights(sample_weight, len(P), "sample_weight")
    return score_pairs(d.f.of_features(P.astype(np.float64, copy=False)), G, d.correlations, weights)


def measure_claims(P: np.ndarray, codes: np.ndarray, classes: np.ndarray) -> Claims:
    with warnings.catch_warnings(
        action="ignore", category=CorrespondenceWarning
    ):  # of classes never predicted: fit has told
        d = ClassifierCA.from_beliefs(P, classes).decomposition_
    return Claims(d.correlations, evaluate_on_labels(d, P, codes), log_loss(P, codes), calibration_error(P, codes))
