"""Correspondence analysis of a black-box classifier, from its beliefs alone.

Names and the paper's symbols: ``beliefs`` are the rows of P_{Y|X}, ``prior_`` is p_Y (their mean), g is the matrix
G = D_Y^{-1/2} U, and f(x) = sum_y g(y) P(y | x) / sqrt(lambda). With all components, and the constants f_0 = g_0 = 1,

    P_{Y|X} = F diag(sqrt(lambda)) G^T diag(p_Y)

exactly (the paper has lambda instead of its root, and no transpose: `shared/paper/NOTES.md`, erratum 5).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from correspondence._util.arguments import check_seed, check_whole, to_floats
from correspondence._util.labels import to_object_array
from correspondence._util.summaries import WithSummary
from correspondence.classifiers.belief_moments import decompose_beliefs, sum_over_inputs, sum_over_pairs
from correspondence.classifiers.beliefs import Beliefs, check_beliefs
from correspondence.classifiers.calibration import (
    Calibration,
    calibrate_beliefs,
    check_group_rows,
    evaluate_on_labels,
)
from correspondence.classifiers.class_labels import find_group_classes, look_up_values
from correspondence.classifiers.confusion import MIN_MEMBER_BELIEF, ConfusionAnalysis
from correspondence.classifiers.summary import format_summary
from correspondence.core.estimator import Estimator
from correspondence.core.functions import MAX_FUNCTION_VALUE, LabelFunctions, LinearFunctions
from correspondence.core.scoring import score_parts
from correspondence.data.pairs.pairs import Pairs, check_source
from correspondence.results.evidence import HeldOut

__all__ = ["ClassifierCA"]


class ClassifierCA(WithSummary, ConfusionAnalysis, Estimator):
    """Correspondence analysis of a classifier: which classes it separates, which it confuses, and where.

    X is the input and Y the class that the classifier means: given an input x it is y with the probability P(y | x)
    that the classifier assigns. No labels are needed, and only the answers of the model are used.

    Parameters
    ----------
    model : classifier, booster, torch module, callable or ONNX session, optional
        A fitted classifier or pipeline of scikit-learn (anything with ``predict_proba``), a booster of xgboost or
        lightgbm, a torch module that returns logits or probabilities, a model of Keras, a session of onnxruntime, or a
        function from inputs to an array of shape (n, k). Of a tuple or an object with ``.logits`` that it returns, the
        matrix is taken. Without a model, X contains the beliefs themselves.
    n_components : int, optional
        Keep this many components; by default all, one less than there are classes.
    classes : array-like of shape (k,), optional
        The columns of the beliefs have these names; by default ``model.classes_``, or 0, 1, ...
    outputs : {"auto", "probabilities", "logits"}
        What the model returns. "auto" finds out for torch modules and takes everything else for probabilities.
    temperature : float
        Divide the logarithms of the beliefs by this number; above 1 they become more cautious. See `calibration`.
    batch_size : int
        Ask the model about this many inputs at a time.
    group : array-like, optional
        Analyse only these classes, at least two: the beliefs given that it is one of them. An input counts by its
        belief in the group. See `focus`.
    progress : bool, optional
        Whether to show a progress bar; by default in a terminal, after two seconds.

    Attributes
    ----------
    decomposition_ : Decomposition
        The PICs of the belief channel, f (of inputs) and g (of classes).
    classes_ : ndarray of shape (k,)
        The names of the classes.
    prior_ : ndarray of shape (k,)
        The mean beliefs, or how often the classifier means each class.
    overlap_ : ndarray of shape (k, k)
        How much two classes are confused: the cosine between the beliefs in them, 0 if they are never believed of the
        same input, 1 if always in the same proportion.
    held_out_ : HeldOut or None
        The evaluation of f and g on the labels given to `fit`.

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
        group: Any = None,
        progress: bool | None = None,
    ) -> None:
        self.model = model
        self.n_components = n_components
        self.classes = classes
        self.outputs = outputs
        self.temperature = temperature
        self.batch_size = batch_size
        self.group = group
        self.progress = progress

    @classmethod
    def from_beliefs(cls, P: Any, classes: Any = None, **parameters: Any) -> ClassifierCA:
        """Analyse given beliefs; all methods then take beliefs for X.

        Parameters
        ----------
        P : array-like of shape (n, k)
            The beliefs about n inputs, whose rows sum to 1. An array in a file (``np.load(..., mmap_mode="r")``) is
            read some rows at a time.
        classes : array-like of shape (k,), optional
            The columns have these names.
        **parameters
            These are passed to `ClassifierCA`.

        Returns
        -------
        ClassifierCA
            The fitted analysis.

        Examples
        --------
        >>> P = [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]]
        >>> ClassifierCA.from_beliefs(P, classes=["no", "yes"]).pics_.round(3)
        array([0.335])
        """
        return cls(classes=classes, **parameters).fit(P)

    def fit(self, X: Any, Y: Any = None, sample_weight: Any = None) -> Self:
        """Ask the model for its beliefs about X and decompose them.

        Parameters
        ----------
        X : array-like, frame, or iterable of batches
            Inputs as the model takes them, ideally inputs it was not trained on. If batches are tuples, as those of a
            torch DataLoader, their first part is used. The x of `Pairs` are passed to the model where they are: as
            an array of numbers, a list of labels or texts, or a pandas frame if the columns are not all numbers or if
            the model was fitted to a frame. Their y are left for `evaluate`, so ``held_out_`` is None.
        Y : array-like of shape (n,), optional
            The true labels change nothing but ``held_out_``, the evaluation of the functions on them.
        sample_weight : array-like of shape (n,), optional
            The inputs have these weights.

        Returns
        -------
        ClassifierCA
            The estimator itself.
        """
        if self.n_components is not None:
            check_whole(self.n_components, "n_components", 1)
        beliefs = Beliefs(self.model, self.outputs, self.temperature, self.batch_size, self.classes, self.group)
        if isinstance(X, Pairs):
            check_source(X, Y, sample_weight)
            moments, kept = sum_over_pairs(beliefs, X), list[np.ndarray]()
        else:
            moments, kept = sum_over_inputs(beliefs, X, sample_weight, Y is not None, self.progress)
        beliefs.given = beliefs.names
        classes = beliefs.names_of_features
        decomposition, second = decompose_beliefs(moments, classes, beliefs, self.n_components)
        evaluation = None
        if Y is not None:
            P = np.concatenate(kept)
            codes = find_group_classes(Y, beliefs.names, classes, len(P))
            evaluation = evaluate_on_labels(decomposition, P, codes, sample_weight)
        self.classes_, self.prior_ = classes, moments.mean_f / moments.mean_f.sum()
        self.decomposition_, self._second, self.held_out_ = decomposition, second, evaluation
        self._remember_columns(X)
        return self

    def __sklearn_clone__(self) -> ClassifierCA:
        """Keep the model as it is: scikit-learn would copy it without its fit."""
        copy = type(self)(**self.get_params(deep=False))
        if hasattr(self, "_sklearn_output_config"):
            copy._sklearn_output_config = dict(self._sklearn_output_config)
        return copy

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _evaluate_g(self, Y: Any) -> np.ndarray:
        return look_up_values(self.classes_, self._get_g_functions().values, Y)

    def evaluate(self, X: Any, Y: Any = None, sample_weight: Any = None) -> HeldOut:
        """Evaluate the functions on true labels: what the beliefs are worth, beside the correlations that they claim.

        Parameters
        ----------
        X, Y : array-like
            Inputs that the model was not trained on, and their labels. A label that is never predicted counts as the
            mean. X may also be `Pairs`, whose y are the labels, without Y.
        sample_weight : array-like of shape (n,), optional
            The inputs have these weights.

        Returns
        -------
        HeldOut
            The ``.correlations`` of each component, ``.captured``, their intervals and ``.n``.
        """
        check_is_fitted(self)
        if isinstance(X, Pairs):
            check_source(X, Y, sample_weight)
            if self.group is not None:  # whose labels are only some of those of the pairs
                raise ValueError("X must be in memory to evaluate a group of classes, got Pairs. Give X and Y.")
            g = partial(look_up_values, self.classes_, np.nan_to_num(self._get_g_functions().values))
            return score_parts(X.through(self._get_f_functions().without_sample(), g).each, self.correlations_)
        if Y is None:
            raise ValueError("Y is missing. Pass the true labels of X.")
        P = self.beliefs(X)
        return evaluate_on_labels(self.decomposition_, P, self._encode_labels(Y, len(P)), sample_weight)

    def _encode_labels(self, Y: Any, n: int) -> np.ndarray:
        """Return the positions of labels among the classes, -1 for those outside of the group."""
        return find_group_classes(Y, self._get_beliefs().names, self.classes_, n)

    # --- beliefs, and where they lie in the factoring space

    def beliefs(self, X: Any, *, whole: bool = False) -> np.ndarray:
        """Ask the model for its beliefs, with the temperature of this analysis.

        Parameters
        ----------
        X : array-like, tensor or frame
            Ask about these inputs.
        whole : bool
            Of an analysis of a group of classes, return the beliefs in all classes of the model, as `on_beliefs` takes
            them, and not those given that it is a class of the group.

        Returns
        -------
        ndarray of shape (n, k)
            The beliefs in the order of ``classes_``; each row sums to 1. Given a group, rows without any belief in it
            are NaN.
        """
        beliefs = self._get_beliefs()
        return beliefs.ask_whole(X) if whole else beliefs(X)

    def on_beliefs(self, *, members_only: bool = False) -> ClassifierCA:
        """Return the same analysis, which takes beliefs instead of inputs, so that a slow model is asked only once.

        Parameters
        ----------
        members_only : bool
            Of an analysis of a group, give NaN to inputs that the model rather believes to be of other classes (see
            `find_members`), as pictures do.

        Returns
        -------
        ClassifierCA
            An analysis that takes what ``beliefs(X, whole=True)`` returns for X.

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
        names = self._get_beliefs().names
        copy = ClassifierCA(n_components=self.n_components, classes=names, group=self.group, progress=self.progress)
        for name in ("classes_", "prior_", "held_out_", "_second"):
            setattr(copy, name, getattr(self, name))
        beliefs = Beliefs(classes=names, group=self.group)
        copy.n_features_in_ = beliefs.width = len(names)
        beliefs.min_mass = MIN_MEMBER_BELIEF if members_only else 0.0
        copy.decomposition_ = replace(self.decomposition_, f=replace(self._get_f_functions(), features=beliefs))
        return copy

    def predict(self, X: Any) -> np.ndarray:
        """Predict the likeliest class of each input.

        Parameters
        ----------
        X : array-like, tensor or frame
            Predict the classes of these inputs.

        Returns
        -------
        ndarray of shape (n,)
            The elements of ``classes_``; None for an input without any belief in the group that is analysed.
        """
        check_is_fitted(self)
        P = self.beliefs(X)
        labels, is_unknown = self.classes_[P.argmax(axis=1)], np.isnan(P[:, 0])
        if is_unknown.any():
            labels = to_object_array(labels.tolist())
            labels[is_unknown] = None
        return labels

    def locate(self, P: Any) -> np.ndarray:
        """Find f of inputs with these beliefs: F = P (diag(sqrt(lambda)) G^T diag(p_Y))^{-1}.

        Parameters
        ----------
        P : array-like of shape (n, k)
            The beliefs are in the order of ``classes_``.

        Returns
        -------
        ndarray of shape (n, d)
            The points of the factoring space.
        """
        functions = self._get_f_functions()
        checked = check_beliefs(P).astype(np.float64, copy=False)
        if checked.shape[1] != len(self.classes_):
            raise ValueError(f"P must have {len(self.classes_)} columns, one for each class, got {checked.shape[1]}.")
        return functions.of_features(checked)

    def beliefs_at(self, F: Any) -> np.ndarray:
        """Find the beliefs about inputs at F: P = F diag(sqrt(lambda)) G^T diag(p_Y), the inverse of `locate`.

        Parameters
        ----------
        F : array-like of shape (n, d)
            The inputs lie at these points of the factoring space.

        Returns
        -------
        ndarray of shape (n, k)
            The beliefs, exact with k - 1 components. With fewer, and at points where no belief can be, some may be
            negative.
        """
        check_is_fitted(self)
        F = to_floats(F, "F")
        if not np.isfinite(F).all() or (np.abs(F) > MAX_FUNCTION_VALUE).any():
            raise ValueError(f"F must be finite, with no value above {MAX_FUNCTION_VALUE:g}.")
        if F.ndim != 2 or F.shape[1] != len(self.pics_):
            raise ValueError(f"F must have {len(self.pics_)} columns, one for each component, got shape {F.shape}.")
        G = np.nan_to_num(self._get_g_functions().values)
        return self.prior_ * (1 + (F * self.correlations_) @ G.T)

    def calibration(self, X: Any, Y: Any, *, cv: int = 2, random_state: int = 0) -> Calibration:
        """Compare what the model claims with what its beliefs are worth on labels, and find the temperature that helps.

        An overconfident model claims larger correlations than the labels show. The temperature of each fold is found on
        the other folds, so the figures after it are held out as well.

        Parameters
        ----------
        X, Y : array-like
            Inputs that the model was not trained on, and their true labels.
        cv : int
            Split the data into this many folds.
        random_state : int
            The seed of the split.

        Returns
        -------
        Calibration
            The ``.temperature``, and ``.before`` and ``.after`` it the correlations claimed and held out, the log loss
            and the calibration error. Use the temperature in ``ClassifierCA(model, temperature=...)``.
        """
        P = self.beliefs(X)
        codes = self._encode_labels(Y, len(P))
        if self.group is not None:
            rows = check_group_rows(np.where(np.isnan(P[:, 0]), -1, codes))
            P, codes = P[rows], codes[rows]
        check_whole(cv, "cv", 2, len(P))
        return calibrate_beliefs(P, codes, self.classes_, self.temperature, cv, check_seed(random_state))

    def write_summary(self) -> str:
        """Summarise the classes that each component separates, the claims beside what labels show, the confused pairs.

        Returns
        -------
        str
            Some lines, to be printed.
        """
        check_is_fitted(self)
        return format_summary(self)

    def _get_beliefs(self) -> Beliefs:
        beliefs = self._get_f_functions().features
        assert isinstance(beliefs, Beliefs)
        return beliefs

    def _get_f_functions(self) -> LinearFunctions:
        check_is_fitted(self)
        f = self.decomposition_.f
        assert isinstance(f, LinearFunctions)
        return f

    def _get_g_functions(self) -> LabelFunctions:
        g = self.decomposition_.g
        assert isinstance(g, LabelFunctions)
        return g
