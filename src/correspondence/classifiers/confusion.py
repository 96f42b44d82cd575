"""What a fitted analysis of a classifier says of confusion: groups of classes, boundaries and closest calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from correspondence._util.arguments import check_whole
from correspondence._util.labels import to_object_array
from correspondence.classifiers.boundaries import (
    choose_confused_group,
    find_close_calls,
    make_boundary_beliefs,
    measure_overlap,
    measure_shares_of_others,
)
from correspondence.classifiers.class_labels import check_group, find_class_pair, find_classes, parse_shares
from correspondence.core.axis_numbers import check_axis_numbers
from correspondence.core.faithfulness import MAX_POINTS_COMPARED, measure_kept_neighbours
from correspondence.core.functions import LinearFunctions
from correspondence.core.similarity_tree import link_similar
from correspondence.results.class_similarity import ClassSimilarity
from correspondence.results.faithfulness import Faithfulness
from correspondence.results.matches import Confusing

if TYPE_CHECKING:
    from correspondence.classifiers.beliefs import Beliefs

__all__ = ["MIN_MEMBER_BELIEF", "ConfusionAnalysis"]

MIN_MEMBER_BELIEF = 0.5  # in the classes of a group, of an input that is rather of it than of another class


class ConfusionAnalysis:
    """The part of `ClassifierCA` that tells classes apart, two or a group of them at a time."""

    group: Any
    classes_: np.ndarray
    prior_: np.ndarray
    correlations_: np.ndarray
    _second: np.ndarray

    def beliefs_at(self, F: Any) -> np.ndarray:  # noqa: D102 (of `ClassifierCA`, as the next two)
        raise NotImplementedError

    def _get_f_functions(self) -> LinearFunctions:
        raise NotImplementedError

    def _get_beliefs(self) -> Beliefs:
        raise NotImplementedError

    def focus(self, X: Any, classes: Any = None, Y: Any = None, *, n: int = 2, sample_weight: Any = None) -> Self:
        """Analyse a pair or group of classes alone, by axes that separate just these.

        What is decomposed is the distribution of inputs and classes given that the class is one of the group. The
        belief in a class is divided by the belief in the group, and an input counts by its belief in the group:
        inputs of other classes count little, and those without any belief in the group are NaN. A group of k classes
        has k - 1 axes, so that a pair lies on a line. Pictures show only the inputs of `find_members`.

        Parameters
        ----------
        X : array-like, frame, or iterable of batches
            Inputs of any kind that `fit` takes; those of the fit will do. They must be given again because an analysis
            keeps sums over inputs, and not the inputs.
        classes : array-like, optional
            These are the classes of the group; by default the `n` that are most confused among themselves.
        Y : array-like of shape (n,), optional
            The true labels of X give ``held_out_``, as in `fit`: the functions are evaluated on the inputs whose label
            is in the group, however little the model believes in it. Labels neither choose the group nor change the
            functions.
        n : int
            Choose this many classes: those with the largest mean overlap, found by adding one class at a time.
        sample_weight : array-like of shape (n,), optional
            The inputs have these weights.

        Returns
        -------
        ClassifierCA
            The fitted analysis, for pictures, pages, `confusing` and everything else.

        Examples
        --------
        >>> import correspondence as co
        >>> from sklearn.datasets import load_digits
        >>> from sklearn.linear_model import LogisticRegression
        >>> X, y = load_digits(return_X_y=True)
        >>> cca = co.ClassifierCA(LogisticRegression(C=0.001, max_iter=1000).fit(X[::2], y[::2])).fit(X[1::2])
        >>> focused = cca.focus(X[1::2], [4, 9], y[1::2])
        >>> focused.classes_, focused.pics_.shape
        (array([4, 9]), (1,))
        >>> cca.focus(X[1::2], n=3).classes_                        # those most confused among themselves
        array([1, 8, 9])
        """
        check_is_fitted(self)
        if classes is None:
            check_whole(n, "n", 2, len(self.classes_))
            if not np.triu(self.overlap_, 1).any():
                raise ValueError("classes must be given, because no two are believed of the same input.")
            chosen = choose_confused_group(self.overlap_, n)
        else:
            chosen = find_classes(check_group(classes, "classes"), self.classes_, name="classes")
        parameters = self.get_params(deep=False)  # type: ignore[attr-defined]
        parameters |= {"group": self.classes_[chosen], "classes": self._get_beliefs().names, "n_components": None}
        return type(self)(**parameters).fit(X, Y, sample_weight)  # type: ignore[attr-defined]

    def find_members(self, X: Any) -> np.ndarray:
        """Find the inputs that the model believes to be of the group rather than of other classes.

        Parameters
        ----------
        X : array-like, frame, or iterable of batches
            Inputs of any kind that `fit` takes.

        Returns
        -------
        ndarray of bool of shape (n,)
            Whether the belief in the group is more than a half; true for all inputs if no group is analysed.
        """
        beliefs = self._get_beliefs()
        masses = [beliefs.restrict(P)[1] for P in beliefs.iterate_whole(X)]
        return np.concatenate([np.empty(0), *masses]) > MIN_MEMBER_BELIEF

    def class_similarity(self) -> ClassSimilarity:
        """Measure which classes are confused, and join them to a tree of groups.

        Returns
        -------
        ClassSimilarity
            The ``.overlap`` and ``.confusion`` of all pairs of classes, ranked by `to_frame`, their ``.order``, and
            ``.find_groups()``. ``co.plot.class_similarity`` draws it.

        Examples
        --------
        >>> import correspondence as co
        >>> P = [[0.6, 0.4, 0.0], [0.3, 0.7, 0.0], [0.0, 0.1, 0.9], [0.0, 0.0, 1.0]]
        >>> co.ClassifierCA.from_beliefs(P, ["cat", "dog", "car"]).class_similarity().overlap.round(2)[0]
        array([1.  , 0.83, 0.  ])
        """
        overlap, masses = self.overlap_, self._second.sum(axis=1)
        confusion = self._second / np.where(masses > 0, masses, 1)[:, None]
        return ClassSimilarity(self.classes_, overlap, confusion, self.prior_, link_similar(overlap))

    def faithfulness(self, X: Any, axes: tuple[int, ...] = (1, 2), *, n_neighbors: int = 10) -> Faithfulness:
        """Measure how faithful a plane is: the shares of predictions and of nearest neighbours that it preserves.

        Parameters
        ----------
        X : array-like, tensor or frame
            Inputs of any kind that `fit` takes; if a group is analysed, only those of `find_members` count.
        axes : tuple of int
            The components of the plane, counted from 1.
        n_neighbors : int
            Compare this many neighbours of each input, but at most a fourth of the other inputs. Distances are those of
            principal coordinates: in all axes, the chi-square distances between beliefs.

        Returns
        -------
        Faithfulness
            The ``.predictions`` and ``.neighbours`` preserved, and the predictions of each class. `plot.plane` writes
            both shares below the plane.

        Examples
        --------
        >>> import numpy as np
        >>> import correspondence as co
        >>> P = np.random.default_rng(0).dirichlet([0.3] * 3, size=100)
        >>> cca = co.ClassifierCA.from_beliefs(P)
        >>> cca.faithfulness(P).predictions, cca.faithfulness(P, (1,)).predictions
        (1.0, 0.66)
        """
        return self._measure_planes(X, [axes], n_neighbors)[0]

    def _measure_planes(self, X: Any, planes: list[Any], n_neighbors: int = 10) -> list[Faithfulness]:
        """Measure how faithful several planes are to the same inputs."""
        functions = self._get_f_functions()
        check_whole(n_neighbors, "n_neighbors", 1)
        P = np.concatenate([np.empty((0, len(self.classes_))), *self._iterate_members(X)])
        P = P[~np.isnan(P[:, 0])]
        if not len(P):
            raise ValueError("X must have an input that the model believes to be of the group.")
        indices = [check_axis_numbers(functions.width, axes) for axes in planes]
        F, top = functions.of_features(P), P.argmax(axis=1)
        places = F * self.correlations_
        believed = self.prior_ > 0
        if F.shape[1] < believed.sum() - 1:  # what is left of the beliefs is at right angles to the components kept
            rest = (P - self.beliefs_at(F))[:, believed] / np.sqrt(self.prior_[believed])
            places = np.column_stack([places, rest])
        neighbours, k = measure_kept_neighbours(places, indices, n_neighbors)
        chance = k / (min(len(P), MAX_POINTS_COMPARED) - 1) if k else np.nan
        found = []
        for index, share in zip(indices, neighbours, strict=True):
            in_plane = np.zeros_like(F)
            in_plane[:, index] = F[:, index]
            kept = top == self.beliefs_at(in_plane).argmax(axis=1)
            counts = np.bincount(top, minlength=len(self.classes_))
            by_class = np.bincount(top, kept, len(self.classes_)) / np.where(counts > 0, counts, np.nan)
            shares = (float(kept.mean()), share, chance)
            axes = tuple(i + 1 for i in index)
            found.append(Faithfulness(axes, *shares, k, len(P), self.classes_, counts, by_class))
        return found

    @property
    def overlap_(self) -> np.ndarray:
        """The cosine between the beliefs in any two classes: how much they are confused."""
        check_is_fitted(self)
        return measure_overlap(self._second)

    def boundary(self, a: Any, b: Any, n: int = 100, others: Any = None) -> np.ndarray:
        """Find points of the factoring space where the model cannot decide between two classes.

        There a and b are equally likely and no class is more likely (if the beliefs have all k - 1 components; with
        fewer, because of few inputs or `n_components`, the points are projections). They lie on a straight line, and go
        in equal steps of the beliefs from where only a and b are possible to where a third class is as likely.

        With three classes that is the whole boundary. With more there are many ways from one end to the other, because
        the remaining probability can be split among the other classes in any proportion; by default, in the
        proportion the model itself uses when it predicts a or b.

        Parameters
        ----------
        a, b : label
            The boundary lies between these two different classes.
        n : int
            Find n points.
        others : label, mapping or array-like of shape (k,), optional
            The class that gets the remaining probability, or a share for each class.

        Returns
        -------
        ndarray of shape (n, d)
            The points; multiply by ``correlations_`` for principal coordinates. `locate` takes beliefs of your own.
        """
        check_is_fitted(self)
        check_whole(n, "n", 1)
        i, j = find_class_pair((a, b), self.classes_, self.prior_)
        shares = measure_shares_of_others(self._second, i, j) if others is None else parse_shares(others, self.classes_)
        shares = np.where(self.prior_ > 0, shares, 0)
        if not np.delete(shares, [i, j]).any():
            if others is not None:
                raise ValueError("others must give a share to a class other than a and b that is predicted.")
            shares = self.prior_  # neither is ever confused with another class
        return self._get_f_functions().of_features(make_boundary_beliefs(len(self.classes_), i, j, n, shares))

    def confusing(self, X: Any, n: int = 10, between: tuple[Any, Any] | None = None) -> Confusing:
        """Find the most ambiguous inputs: those whose two likeliest classes are almost equally likely.

        Parameters
        ----------
        X : array-like, frame, or iterable of batches
            Choose among these inputs, of any kind that `fit` takes. Of a group, only those of `find_members` count.
        n : int
            Find at most n inputs.
        between : (label, label), optional
            Find only inputs whose two likeliest classes are these.

        Returns
        -------
        Confusing
            The ``.index``, ``.pairs``, ``.margin``, ``.position`` and ``.beliefs``, the closest call first.
        """
        functions = self._get_f_functions()
        check_whole(n, "n", 1)
        classes, prior = self.classes_, self.prior_
        pair = None if between is None else find_class_pair(between, classes, prior, "between")
        index, top, margin, P = find_close_calls(self._iterate_members(X), n, pair)
        pairs = to_object_array(classes.tolist())[top]
        return Confusing(index, pairs, margin, functions.of_features(P), P, classes)

    def _iterate_members(self, X: Any) -> Iterator[np.ndarray]:
        """Yield beliefs about some inputs at a time, which are NaN outside of the group that is analysed."""
        beliefs = self._get_beliefs()
        for whole in beliefs.iterate_whole(X):
            P, mass = beliefs.restrict(whole)
            yield P if self.group is None else np.where((mass > MIN_MEMBER_BELIEF)[:, None], P, np.nan)
