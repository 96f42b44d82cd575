"""The public entry points by name, each a function that gives one hostile input to one argument.

It returns the numbers that come out and must be finite. What is not given is good data of the same length.
"""

import functools
import warnings

import numpy as np
import pandas as pd
import scipy.sparse as sp
from hostile import N
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB

import correspondence as co

once = functools.cache
TABLE = np.array([[5, 1, 2], [0, 4, 3], [2, 2, 9], [1, 6, 1]])


def _length(values):
    """Number of rows, N if it has none."""
    try:
        return values.shape[0] if hasattr(values, "shape") else len(values)
    except (TypeError, IndexError):
        return N


def numbers(values=None, columns=2):
    """Good numbers for each row of the values."""
    n = N if values is None else _length(values)
    return np.random.default_rng(n).normal(size=(n, columns))


def labels(values=None):
    n = N if values is None else _length(values)
    return np.array(["a", "b", "c"], dtype=object)[np.arange(n) * 7 // 2 % 3]


def beliefs(values=None):
    P = np.abs(numbers(values, 3)) + 0.01
    return P / P.sum(axis=1, keepdims=True)


def dependent():
    X = numbers(columns=3)
    return X, X[:, :2] + 0.5 * np.random.default_rng(1).normal(size=(N, 2))


def mixed_frame():
    return pd.DataFrame({"a": numbers()[:, 0], "b": labels()})


# --- fits


def _all(est, X, Y):
    """Everything that a fitted estimator says of the pairs of its fit."""
    d = est.decomposition_
    return [d, d.f(X), d.g(Y), est.transform(X, Y), est.evaluate(X, Y), d.density_ratio(X, Y)]


def _fit(make, x_good=numbers, y_good=numbers):
    return {
        "X": lambda v: _fit_pairs(make(), v, y_good(v)),
        "Y": lambda v: _fit_pairs(make(), x_good(v), v),
        "X and Y": lambda v: _fit_pairs(make(), v, v),
        "Y labels": lambda v: _fit_pairs(make(), v, labels(v)),
        "groups": lambda v: make().fit(*dependent(), groups=v).decomposition_,
    }


def _fit_pairs(est, X, Y):
    return _all(est.fit(X, Y), X, Y)


def _ca_points(ca):
    """Coordinates of rows and columns with counts; the others are documented to lie at NaN."""
    sides = (ca.rows_, ca.columns_)
    return [ca.decomposition_, list(ca.chi2_test_)] + [
        [p.principal[p.mass > 0], p.contributions[p.mass > 0]] for p in sides
    ]


def _answers():
    return pd.DataFrame({"a": labels(), "b": np.roll(labels(), 1), "c": labels()[::-1]})


def _many(est, X, **options):
    """Everything finite that an estimator of many columns says of the rows of its fit."""
    est.fit(X, **options)
    return [est.decomposition_, est.rows_.principal, est.columns_.principal, est.columns_.contributions, est.eta2_]


def _pice(**options):
    from correspondence import PICE

    settings = {"n_components": 1, "max_steps": 2, "evaluate_every": 1, "batch_size": 16, "progress": False}
    return PICE(**(settings | options))


def _named(prefix, entries):
    return {f"{prefix}: {name}": call for name, call in entries.items()}


FITS = (
    {
        "CA table": lambda v: _ca_points(co.CA().fit(v)),
        "CA sample_weight": lambda v: _ca_points(co.CA().fit(labels(), labels()[::-1], sample_weight=v)),
        "CA X": lambda v: _all(co.CA().fit(v, labels(v)), v, labels(v)),
        "CA Y": lambda v: _all(co.CA().fit(labels(v), v), labels(v), v),
        "CA row_weights": lambda v: _ca_points(co.CA().fit(TABLE, row_weights=v)),
        "CA column_weights": lambda v: _ca_points(co.CA().fit(TABLE, column_weights=v)),
        "CA subset_rows": lambda v: _ca_points(co.CA(subset_rows=v).fit(TABLE)),
        "CA subset_columns": lambda v: _ca_points(co.CA(subset_columns=v).fit(TABLE)),
        "MCA X": lambda v: _many(co.MCA(2), v),
        "MCA X passive": lambda v: _many(co.MCA(2, missing="passive"), v),
        "MCA column": lambda v: _many(co.MCA(2), _two_columns(v)),
        "MCA sample_weight": lambda v: _many(co.MCA(2), _answers(), sample_weight=v),
        "MCA supplementary": lambda v: _many(co.MCA(1), _answers(), supplementary=v),
        "MCA supplementary_rows": lambda v: _many(co.MCA(1), _answers(), supplementary_rows=v),
        "MCA exclude": lambda v: _many(co.MCA(1, exclude=v), _answers()),
        "MCA transform": lambda v: co.MCA(1, handle_unknown="missing").fit(_answers()).transform(v),
        "Moments F": lambda v: _moments(co.Moments().update(v, numbers(v))),
        "Moments G": lambda v: _moments(co.Moments().update(numbers(v), v)),
        "Moments sample_weight": lambda v: _moments(co.Moments().update(*dependent(), v)),
        "Moments of float32": lambda v: _moments(co.Moments(np.float32).update(v, numbers(v))),
        "Moments y_sample": lambda v: (
            _good_moments().decompose(y_sample=v).conditional_expectation(np.ones(N), numbers(columns=3))
        ),
        "Moments y_weight": lambda v: (
            _good_moments()
            .decompose(y_sample=numbers(), y_weight=v)
            .conditional_expectation(np.ones(N), numbers(columns=3))
        ),
        "Moments span": lambda v: _good_moments().decompose(span=(v, v)),
        "Moments features": lambda v: _good_moments().decompose(x_features=lambda x: v).f(numbers()),
        "ClassifierCA X": lambda v: _classifier(co.ClassifierCA().fit(v)),
        "ClassifierCA Y": lambda v: _classifier(co.ClassifierCA().fit(beliefs(v), v)),
        "ClassifierCA sample_weight": lambda v: _classifier(co.ClassifierCA().fit(beliefs(), sample_weight=v)),
        "ClassifierCA.from_beliefs P": lambda v: _classifier(co.ClassifierCA.from_beliefs(v)),
        "ClassifierCA.from_beliefs classes": lambda v: _classifier(co.ClassifierCA.from_beliefs(beliefs(), classes=v)),
        "ClassifierCA scikit-learn": lambda v: _classifier(co.ClassifierCA(_bayes()).fit(v)),
        "ClassifierCA torch": lambda v: _classifier(co.ClassifierCA(_module()).fit(v)),
        "ClassifierCA torch ids": lambda v: _classifier(co.ClassifierCA(_embedding()).fit(v)),
        "ClassifierCA callable": lambda v: _classifier(co.ClassifierCA(lambda X: v).fit(numbers())),
        "ClassifierCA callable logits": lambda v: _classifier(
            co.ClassifierCA(lambda X: v, outputs="logits").fit(numbers())
        ),
        "ClassifierCA callable probabilities": lambda v: _classifier(
            co.ClassifierCA(lambda X: v, outputs="probabilities").fit(numbers())
        ),
        "ClassifierCA model": lambda v: _classifier(co.ClassifierCA(v).fit(numbers())),
        "ClassifierCA temperature": lambda v: _classifier(co.ClassifierCA(temperature=0.001).fit(v)),
        "compare_classifiers X": lambda v: _compared(co.compare_classifiers([_bayes(), _module()], v)),
        "compare_classifiers y": lambda v: _compared(co.compare_classifiers([_bayes(), _bayes()], numbers(v), v)),
        "compare_classifiers classes": lambda v: _compared(
            co.compare_classifiers([_module(), _module()], numbers(), classes=v)
        ),
        "compare_classifiers models": lambda v: _compared(co.compare_classifiers(v, numbers())),
    }
    | _named("CCA", _fit(lambda: co.CCA(1)))
    | _named("KernelCCA", _fit(lambda: co.KernelCCA(1)))
    | _named("KernelCCA poly", _fit(lambda: co.KernelCCA(1, "poly")))
    | _named("KernelCCA landmarks", _fit(lambda: co.KernelCCA(1, "linear", n_landmarks=10)))
    | _named("ACE", _fit(lambda: co.ACE(1)))
    | _named("ACE ridge", _fit(lambda: co.ACE(1, Ridge(), cv=2, n_alternations=1)))
    | _named("ACE logistic", _fit(lambda: co.ACE(1, LogisticRegression(C=0.1), cv=2), y_good=labels))
)


def _moments(m):
    return [m.mean_f, m.mean_g, m.cov_f, m.cov_g, m.cov_fg, (d := m.decompose()), d.f.weights, d.g.weights]


@once
def _good_moments():
    return co.Moments().update(*dependent())


def _classifier(cca):
    """What is documented to be finite: g of classes that are never believed is NaN."""
    held = [] if cca.held_out_ is None else [cca.held_out_]
    return [cca.decomposition_, cca.prior_, cca.overlap_, cca.decomposition_.f.weights, *held]


def _compared(c):
    return [c.beliefs, c.disagreement, c.scores, c.agreement, c.positions(c.names[0])]


class Bayes(GaussianNB):
    """Model of a user's: what it warns of, such as names of columns, is its own matter."""

    def predict_proba(self, X):
        with warnings.catch_warnings(action="ignore"):
            return super().predict_proba(X)


@once
def _bayes():
    return Bayes().fit(numbers(), labels())


@once
def _module():
    import torch

    torch.manual_seed(0)
    return torch.nn.Linear(2, 3)


@once
def _embedding():
    import torch

    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Embedding(9, 3), torch.nn.Flatten(1), torch.nn.LazyLinear(3))


# --- fits of nets


PICE_FITS = {
    "PICE: X": lambda v: _fit_pairs(_pice(), v, numbers(v)),
    "PICE: Y": lambda v: _fit_pairs(_pice(), numbers(v), v),
    "PICE: X and Y": lambda v: _fit_pairs(_pice(), v, v),
    "PICE: Y labels": lambda v: _fit_pairs(_pice(), v, labels(v)),
    "PICE: validation": lambda v: _pice().fit(*dependent(), validation=(v, numbers(v))).decomposition_,
    "PICE: validation Y": lambda v: _pice().fit(*dependent(), validation=(numbers(v, 3), v)).decomposition_,
    "PICE: validation pair": lambda v: _pice().fit(*dependent(), validation=v).decomposition_,
    "PICE: batches": lambda v: _pice().fit(v).decomposition_,
    "PICE: batches of": lambda v: _pice().fit([(v, numbers(v))]).decomposition_,
    "PICE: own net": lambda v: _pice(x_net=_lazy()).fit(v, numbers(v)).decomposition_,
}


def _lazy():
    import torch

    return torch.nn.Sequential(torch.nn.Flatten(1), torch.nn.LazyLinear(1))


# --- functions of pairs


FUNCTIONS = {
    f"{name} {argument}": call
    for name, run in {
        "compare": lambda X, Y, **o: co.compare(X, Y, ["cca", "ace"], 1, 2, **o).results,
        "crossfit": lambda X, Y, **o: co.crossfit(co.CCA(1), X, Y, 2, **o),
        "permutation_test": lambda X, Y, **o: co.permutation_test(co.CCA(1), X, Y, 19, **o),
        "permutation_test refit": lambda X, Y, **o: co.permutation_test(co.CCA(1), X, Y, 19, refit=True, **o),
        "pic_intervals": lambda X, Y, **o: co.pic_intervals(co.CCA(1), X, Y, 5, **o),
        "latent_dimension": lambda X, Y, **o: co.latent_dimension(co.CCA(1), X, Y, **o),
        "decompose": lambda X, Y, **o: co.decompose(X, Y, 1, verbose=False, **o),
        "decompose kernel": lambda X, Y, **o: co.decompose(X, Y, 1, "kernel", verbose=False, **o),
        "decompose ca": lambda X, Y, **o: co.decompose(X, Y, 1, "ca", verbose=False, **o),
        "crossfit CA": lambda X, Y, **o: co.crossfit(co.CA(1), X, Y, 2, **o),
        "pic_intervals CA": lambda X, Y, **o: co.pic_intervals(co.CA(1), X, Y, 5, **o),
    }.items()
    for argument, call in {
        "X": lambda v, run=run: run(v, labels(v)),
        "Y": lambda v, run=run: run(numbers(v), v),
        "X and Y": lambda v, run=run: run(v, v),
        "Y with labels": lambda v, run=run: run(labels(v), v),
        "groups": lambda v, run=run: run(*dependent(), groups=v),
    }.items()
} | {
    "decompose table": lambda v: co.decompose(v, verbose=False),
    "crossfit cv": lambda v: co.crossfit(co.CCA(1), *dependent(), v),
    "crossfit est": lambda v: co.crossfit(v, *dependent(), 2),
    "compare methods": lambda v: co.compare(*dependent(), v, 1, 2).results,
    "compare estimators": lambda v: co.compare(*dependent(), {"a": v}, 1, 2).results,
    "latent_dimension est": lambda v: co.latent_dimension(v, *dependent()),
    "describe_groups frame": lambda v: _frames(co.describe_groups(v, labels(v))),
    "describe_groups by": lambda v: _frames(co.describe_groups(mixed_frame(), v)),
    "describe_groups weights": lambda v: _frames(co.describe_groups(mixed_frame(), "b", sample_weight=v)),
    "describe_groups held out": lambda v: _frames(co.describe_groups(mixed_frame(), "b", held_out=v)),
    "describe_axes est": lambda v: _frames(co.describe_axes(v, *dependent())),
    "describe_axes X": lambda v: _frames(co.describe_axes(co.CCA(1).fit(*dependent()), v, dependent()[1])),
    "describe_axes held out": lambda v: _frames(
        co.describe_axes(co.CCA(1).fit(*dependent()), *dependent(), held_out=v)
    ),
    "axis_tests ca": lambda v: _frames(co.axis_tests(v, 9)),
    "associations frame": lambda v: _frames(co.associations(v)),
    "associations target": lambda v: _frames(co.associations(mixed_frame(), v)),
    "associations weights": lambda v: _frames(co.associations(mixed_frame(), sample_weight=v)),
    "associations groups": lambda v: _frames(co.associations(mixed_frame(), groups=v)),
    "Clusters est": lambda v: _frames(co.Clusters(2, n_resamples=0).fit(v)),
    "Clusters X": lambda v: _frames(co.Clusters(2, n_resamples=0).fit(co.CCA(1).fit(*dependent()), v)),
}


# --- tables and labels


TABLES = {
    # A table holds what it is given; its cells are checked where it is used, as those of anything else.
    "Table counts": lambda v: repr(co.Table(v, range(_length(v)), range(_width(v))).T),
    "Table rows": lambda v: _frames(
        co.Table(TABLE if _length(v) != N else np.ones((N, 2)), v, ["x", "y", "z"] if _length(v) != N else ["x", "y"])
    ),
    "Table columns": lambda v: _frames(co.Table(np.ones((2, N)), ["x", "y"], v)),
    "Table of CA": lambda v: _ca_points(co.CA().fit(co.Table(v, range(_length(v)), range(_width(v))))),
    "count_pairs frame": lambda v: co.count_pairs(v, 0, 1).toarray(),
    "count_pairs frame by name": lambda v: co.count_pairs(v, "a", "a").toarray(),
    "count_pairs x": lambda v: co.count_pairs(mixed_frame(), v, "b").toarray(),
    "count_pairs weights": lambda v: co.count_pairs(mixed_frame(), "b", "b", v).toarray(),
    "count_pairs of columns": lambda v: co.count_pairs(_two_columns(v), "x", "y").toarray(),
    "count_pairs column of weights": lambda v: co.count_pairs(_two_columns(v), "y", "y", "x").toarray(),
    "indicator_table frame": lambda v: co.indicator_table(v).toarray(),
    "indicator_table columns": lambda v: co.indicator_table(mixed_frame()[["b"]], v).toarray(),
    "CA points to_frame": lambda v: _frames(co.CA().fit(v, labels(v)).rows_),
}


def _width(values):
    try:
        return np.shape(values)[1]
    except Exception:
        return 2


def _frames(holder):
    """Frames of all libraries, of which the labels may be refused by one."""
    return [len(holder.to_frame(backend)) for backend in ("pandas", "polars", "pyarrow")]


def _two_columns(values):
    try:
        return pd.DataFrame({"x": values, "y": labels(values)})
    except Exception:  # pandas itself refuses
        return values


# --- uses of good fits


TEXTS = [f"word{i % 3} and word{i % 5} again" for i in range(N)]
GOOD = {
    "CA of labels": (co.CA, labels, lambda: np.roll(labels(), 1)),
    "CA of labels, nan": (lambda: co.CA(handle_unknown="nan"), labels, lambda: np.roll(labels(), 1)),
    "CCA": (lambda: co.CCA(1), lambda: dependent()[0], lambda: dependent()[1]),
    "CCA of frames": (lambda: co.CCA(1), mixed_frame, lambda: mixed_frame().rename(columns={"a": "c", "b": "d"})),
    "KernelCCA": (lambda: co.KernelCCA(1), lambda: dependent()[0], lambda: dependent()[1]),
    "KernelCCA of bags": (lambda: co.KernelCCA(1), lambda: sp.csr_array(np.abs(numbers(columns=3)).round()), numbers),
    "KernelCCA of texts": (lambda: co.KernelCCA(1), lambda: TEXTS, labels),
    "KernelCCA of images": (lambda: co.KernelCCA(1), lambda: numbers(columns=4).reshape(N, 1, 2, 2), labels),
    "KernelCCA poly": (lambda: co.KernelCCA(1, "poly"), lambda: dependent()[0], lambda: dependent()[1]),
    "ACE": (lambda: co.ACE(1), lambda: dependent()[0], lambda: dependent()[1]),
    "ACE of labels": (lambda: co.ACE(1), mixed_frame, labels),
    "ACE ridge": (lambda: co.ACE(1, Ridge(), cv=2), lambda: dependent()[0], lambda: dependent()[1]),
    "PICE": (lambda: _pice(), lambda: dependent()[0], lambda: dependent()[1]),
    "PICE of frames": (lambda: _pice(), mixed_frame, labels),
    "ClassifierCA": (co.ClassifierCA, beliefs, lambda: np.arange(N) % 3),
    "ClassifierCA bayes": (lambda: co.ClassifierCA(_bayes()), numbers, labels),
    "ClassifierCA torch": (lambda: co.ClassifierCA(_module(), classes=list("abc")), numbers, labels),
}


@once
def fit(name):
    """Estimator fitted to good data, with good X and Y."""
    make, X, Y = GOOD[name]
    X, Y = X(), Y()
    with warnings.catch_warnings(action="ignore"):
        return make().fit(X, Y), X, Y


@once
def table_fit():
    frame = pd.DataFrame(TABLE, index=list("pqrs"), columns=list("uvw"))
    return co.CA().fit(frame)


def _good(name, side, values):
    """Good values of one side of a fit, as many as the hostile ones have rows."""
    from correspondence._util.arguments import take_rows

    return take_rows(fit(name)[side], np.arange(_length(values)) % N)


def _uses(name):
    def est():
        return fit(name)[0]

    def d():
        return est().decomposition_

    X, Y = (lambda v: _good(name, 1, v)), (lambda v: _good(name, 2, v))
    # documented: NaN for a label that is unknown if that is asked for, and for a row without any count
    finite = np.nan_to_num if name == "CA of labels, nan" else lambda values: values
    return {
        "transform": lambda v: np.nan_to_num(est().transform(v)) if name.startswith("CA") else est().transform(v),
        "transform_y": lambda v: finite(est().transform_y(v)),
        "evaluate X": lambda v: est().evaluate(v, Y(v)),
        "evaluate Y": lambda v: est().evaluate(X(v), v),
        "evaluate X alone": lambda v: est().evaluate(v),
        "score sample_weight": lambda v: est().score(X(None), Y(None), sample_weight=v),
        "f": lambda v: finite(d().f(v)),
        "g": lambda v: finite(d().g(v)),
        "d.evaluate": lambda v: finite(d().evaluate(v, Y(v)).captured),
        "density_ratio": lambda v: finite(d().density_ratio(v, Y(v))),
        "density_ratio pairwise": lambda v: finite(d().density_ratio(X(None), v, pairwise=True)),
        "conditional_expectation h": lambda v: d().conditional_expectation(v, X(None)),
        "conditional_expectation of h": lambda v: d().conditional_expectation(lambda y: v, X(None)),
        "conditional_expectation X": lambda v: finite(d().conditional_expectation(lambda y: np.ones(len(y)), v)),
        "conditional_expectation Y": lambda v: d().conditional_expectation(lambda y: np.ones(_length(y)), X(None), v),
        "conditional_expectation Y and h": lambda v: d().conditional_expectation(np.ones(_length(v)), X(None), v),
    }


USES = {f"{name}: {use}": (lambda v, name=name, use=use: _uses(name)[use](v)) for name in GOOD for use in _uses(name)}

OTHER_USES = {
    "CA of a table: transform": lambda v: np.nan_to_num(table_fit().transform(v)),
    "CA of a table: transform_y": lambda v: np.nan_to_num(table_fit().transform_y(v)),
    "CA of a table: supplementary rows": lambda v: np.nan_to_num(table_fit().supplementary(rows=v).principal),
    "CA of a table: supplementary numbers": lambda v: np.nan_to_num(table_fit().supplementary(numbers=v).correlations),
    "CA of a table: supplementary categories": lambda v: np.nan_to_num(
        table_fit().supplementary(categories=v).principal
    ),
    "CA of a table: supplementary columns": lambda v: np.nan_to_num(table_fit().supplementary(columns=v).principal),
    "CA of a table: evaluate": lambda v: table_fit().evaluate(v),
    "CA of a table: evaluate labels": lambda v: table_fit().evaluate(v, v),
    "CA of a table: score": lambda v: table_fit().score(TABLE, sample_weight=v),
    "CA of a table: h": lambda v: table_fit().decomposition_.conditional_expectation(v, ["p"]),
    "CA of a table: h of a dictionary": lambda v: table_fit().decomposition_.conditional_expectation(
        {"u": v, "v": 1, "w": 2}, ["p"]
    ),
    "ClassifierCA beliefs": lambda v: _cca().beliefs(v),
    "ClassifierCA predict": lambda v: len(_cca().predict(v)),
    "ClassifierCA locate": lambda v: _cca().locate(v),
    "ClassifierCA beliefs_at": lambda v: _cca().beliefs_at(v),
    "ClassifierCA boundary a": lambda v: _cca().boundary(v, 0),
    "ClassifierCA boundary others": lambda v: _cca().boundary(0, 1, 3, v),
    "ClassifierCA boundary others of a dictionary": lambda v: _cca().boundary(0, 1, 3, {2: v}),
    "ClassifierCA confusing X": lambda v: _cca().confusing(v),
    "ClassifierCA confusing between": lambda v: _cca().confusing(beliefs(), between=v),
    "ClassifierCA calibration X": lambda v: _calibrated(_cca().calibration(v, np.arange(_length(v)) % 3)),
    "ClassifierCA calibration Y": lambda v: _calibrated(_cca().calibration(beliefs(v), v)),
    "ClassifierCA bayes predict": lambda v: len(fit("ClassifierCA bayes")[0].predict(v)),
    "ClassifierCA bayes confusing": lambda v: fit("ClassifierCA bayes")[0].confusing(v),
    "CrossModalIndex Y": lambda v: _matches(co.CrossModalIndex(_d(), None, v).tags(numbers(columns=3))),
    "CrossModalIndex items_y": lambda v: _matches(co.CrossModalIndex(_d(), v, numbers()).tags(numbers(columns=3))),
    "CrossModalIndex X": lambda v: _matches(co.CrossModalIndex(_d(), None, numbers(), None, v).items(numbers())),
    "CrossModalIndex items_x": lambda v: _matches(
        co.CrossModalIndex(_d(), None, numbers(), v, numbers(columns=3)).items(numbers())
    ),
    "CrossModalIndex prior": lambda v: _matches(
        co.CrossModalIndex(_d(), None, numbers(), prior=v).tags(numbers(columns=3))
    ),
    "CrossModalIndex d": lambda v: co.CrossModalIndex(v, None, numbers()).prior,
    "CrossModalIndex tags x": lambda v: _matches(_index().tags(v)),
    "CrossModalIndex tags x within": lambda v: _matches(_index().tags(v, radius=1.0)),
    "CrossModalIndex items y": lambda v: _matches(_index().items(v)),
    "CrossModalIndex items tags": lambda v: _matches(_index().items(tags=v)),
    "CrossModalIndex of_tags": lambda v: co.CrossModalIndex.of_tags(_d(), ["a", "b", "c"], numbers(), v).prior,
    "CrossModalIndex of_tags tags": lambda v: co.CrossModalIndex.of_tags(_d(), v, numbers(), np.ones((N, N))).prior,
    "CrossModalIndex of_tags Y": lambda v: co.CrossModalIndex.of_tags(_d(), ["a"], v, np.ones((_length(v), 1))).g,
    "CrossModalIndex of labels": lambda v: _matches(co.CrossModalIndex(table_fit(), list("uvw"), list("uvw")).tags(v)),
    "TrainingRecorder X_probe": lambda v: _recorded(co.TrainingRecorder(_module(), v)),
    "TrainingRecorder y": lambda v: _recorded(co.TrainingRecorder(_module(), numbers(v), v)),
    "TrainingRecorder classes": lambda v: _recorded(co.TrainingRecorder(_module(), numbers(), classes=v)),
    "TrainingRecorder model": lambda v: _recorded(co.TrainingRecorder(v, numbers())),
    "TrainingRecorder beliefs": lambda v: _recorded(co.TrainingRecorder(lambda X: v, numbers())),
}


@once
def _cca():
    return co.ClassifierCA.from_beliefs(beliefs())


def _calibrated(c):
    return [c.temperature, c.before.held_out, c.after.held_out, c.before.log_loss, c.after.log_loss]


def _d():
    return fit("CCA")[0]


@once
def _index():
    return co.CrossModalIndex(_d(), None, numbers(), None, numbers(columns=3))


def _matches(m):
    return [m.distances, m.ratios, m.scores]


def _recorded(r):
    return [r.beliefs(), r.coordinates(), r.steps] + ([] if r.accuracy is None else [r.accuracy])


# --- parameters: an entry is (name, function of a hostile scalar)


def _parameters(make, fit, leave_out=()):
    """One entry for each parameter of an estimator."""
    return {
        f"{type(make()).__name__}({name}=...)": (lambda v, name=name: fit(make().set_params(**{name: v})))
        for name in make().get_params(deep=False)
        if name not in (*leave_out, "progress")  # shows a bar if it is true, whatever it is
    }


def _decomposed(est):
    return est.fit(*dependent()).decomposition_


PARAMETERS = {
    **_parameters(co.CA, lambda est: est.fit(TABLE).decomposition_),
    **_parameters(lambda: co.CCA(1), _decomposed),
    **_parameters(lambda: co.KernelCCA(1), _decomposed),
    **_parameters(lambda: co.KernelCCA(1, "poly"), _decomposed, ("kernel", "y_kernel", "random_state")),
    **_parameters(lambda: co.ACE(1), _decomposed),
    **_parameters(lambda: co.ACE(1, Ridge(), cv=2, n_alternations=1), _decomposed, ("n_alternations",)),
    **_parameters(lambda: co.ClassifierCA(), lambda est: est.fit(beliefs()).decomposition_),
    "crossfit(cv=...)": lambda v: co.crossfit(co.CCA(1), *dependent(), v),
    "crossfit(random_state=...)": lambda v: co.crossfit(co.CCA(1), *dependent(), 2, random_state=v),
    "permutation_test(n_permutations=...)": lambda v: co.permutation_test(co.CCA(1), *dependent(), v),
    "permutation_test(refit=...)": lambda v: co.permutation_test(co.CCA(1), *dependent(), 19, refit=v),
    "pic_intervals(n_resamples=...)": lambda v: co.pic_intervals(co.CCA(1), *dependent(), v),
    "pic_intervals(level=...)": lambda v: co.pic_intervals(co.CCA(1), *dependent(), 5, level=v),
    "latent_dimension(alpha=...)": lambda v: co.latent_dimension(co.CCA(1), *dependent(), alpha=v),
    "decompose(n_components=...)": lambda v: co.decompose(*dependent(), v, "cca", verbose=False),
    "decompose(method=...)": lambda v: co.decompose(*dependent(), 1, v, verbose=False),
    "decompose(random_state=...)": lambda v: co.decompose(*dependent(), 1, verbose=False, random_state=v),
    "compare(methods=...)": lambda v: co.compare(*dependent(), v, 1, 2).results,
    "compare(n_components=...)": lambda v: co.compare(*dependent(), ["cca"], v, 2).results,
    "compare(cv=...)": lambda v: co.compare(*dependent(), ["cca"], 1, v).results,
    "count_pairs(x=...)": lambda v: co.count_pairs(mixed_frame(), v, "b").toarray(),
    "count_pairs(x=...) of an array": lambda v: co.count_pairs(TABLE, v, 1).toarray(),
    "count_pairs(weights=...)": lambda v: co.count_pairs(TABLE, 0, 1, v).toarray(),
    "indicator_table(columns=...)": lambda v: co.indicator_table(mixed_frame()[["b"]], v).toarray(),
    "Table.to_frame(...)": lambda v: len(co.Table(TABLE, range(4), range(3)).to_frame(v)),
    "Moments(dtype=...)": lambda v: _moments(co.Moments(v).update(*dependent())),
    "Moments(centre=...)": lambda v: _moments(co.Moments(centre=v).update(*dependent())),
    "Moments.decompose(n_components=...)": lambda v: _good_moments().decompose(v),
    "Moments.decompose(tol=...)": lambda v: _good_moments().decompose(tol=v),
    "Moments.decompose(span=...)": lambda v: _good_moments().decompose(span=v),
    "Moments + ...": lambda v: _moments(sum([_good_moments(), _good_moments()])) if v is None else None,
    "truncate(...)": lambda v: fit("CCA")[0].decomposition_.truncate(v),
    "k_correlation(...)": lambda v: fit("CCA")[0].decomposition_.k_correlation(v),
    "conditional_expectation(h=...)": lambda v: fit("CCA")[0].decomposition_.conditional_expectation(
        v, numbers(columns=3)
    ),
    "bootstrap(n_resamples=...)": lambda v: _booted(table_fit().bootstrap(v, random_state=0)),
    "bootstrap(n_components=...)": lambda v: _booted(table_fit().bootstrap(5, n_components=v, random_state=0)),
    "bootstrap(n=...)": lambda v: _booted(table_fit().bootstrap(5, n=v, random_state=0)),
    "bootstrap(random_state=...)": lambda v: _booted(table_fit().bootstrap(5, random_state=v)),
    "boundary(a=...)": lambda v: _cca().boundary(v, 0),
    "boundary(n=...)": lambda v: _cca().boundary(0, 1, v),
    "boundary(others=...)": lambda v: _cca().boundary(0, 1, 3, v),
    "confusing(n=...)": lambda v: _cca().confusing(beliefs(), v),
    "confusing(between=...)": lambda v: _cca().confusing(beliefs(), between=v),
    "confusing(between=(..., ...))": lambda v: _cca().confusing(beliefs(), between=(0, v)),
    "calibration(cv=...)": lambda v: _calibrated(_cca().calibration(beliefs(), np.arange(N) % 3, cv=v)),
    "calibration(random_state=...)": lambda v: _calibrated(
        _cca().calibration(beliefs(), np.arange(N) % 3, random_state=v)
    ),
    "compare_classifiers(models=...)": lambda v: _compared(co.compare_classifiers(v, numbers())),
    "compare_classifiers(models=[...])": lambda v: _compared(co.compare_classifiers([_module(), v], numbers())),
    "compare_classifiers(batch_size=...)": lambda v: _compared(
        co.compare_classifiers([_bayes(), _bayes()], numbers(), batch_size=v)
    ),
    "ClassifierComparison.most(...)": lambda v: len(_comparison().most(v)),
    "ClassifierComparison.most(backend=...)": lambda v: len(_comparison().most(3, v)),
    "ClassifierComparison.positions(...)": lambda v: _comparison().positions(v),
    "ClassifierComparison.table(...)": lambda v: _comparison().table(v).toarray(),
    "CrossModalIndex(by=...)": lambda v: _matches(
        co.CrossModalIndex(_d(), None, numbers(), by=v).tags(numbers(columns=3))
    ),
    "CrossModalIndex(scaled=...)": lambda v: co.CrossModalIndex(_d(), None, numbers(), scaled=v).g,
    "CrossModalIndex(engine=...)": lambda v: co.CrossModalIndex(_d(), None, numbers(), engine=v).g,
    "CrossModalIndex(d=...)": lambda v: co.CrossModalIndex(v, None, numbers()).g,
    "tags(k=...)": lambda v: _matches(_index().tags(numbers(columns=3), k=v)),
    "tags(radius=...)": lambda v: _matches(_index().tags(numbers(columns=3), radius=v)),
    "TrainingRecorder(every=...)": lambda v: _recorded(co.TrainingRecorder(_module(), numbers(), every=v)),
    "TrainingRecorder(max_frames=...)": lambda v: _recorded(co.TrainingRecorder(_module(), numbers(), max_frames=v)),
    "TrainingRecorder(batch_size=...)": lambda v: _recorded(co.TrainingRecorder(_module(), numbers(), batch_size=v)),
    "TrainingRecorder(outputs=...)": lambda v: _recorded(co.TrainingRecorder(_module(), numbers(), outputs=v)),
    "TrainingRecorder.beliefs(...)": lambda v: co.TrainingRecorder(_module(), numbers()).beliefs(v),
    "TrainingRecorder.coordinates(...)": lambda v: co.TrainingRecorder(_module(), numbers()).coordinates(v),
}

# max_steps and the like: 2**40 steps are what was asked for, and no hang
PICE_PARAMETERS = _parameters(
    _pice, _decomposed, ("max_steps", "checkpoint", "evaluate_every", "patience", "checkpoint_every", "batch_size")
)


@once
def _comparison():
    return co.compare_classifiers([_bayes(), _bayes()], numbers())


def _booted(b):
    return [b.row_covariance, b.column_covariance]


# --- what is left out

# How much work is done is said by the user: 2**40 of these take as long as that, and hang nothing.
WORK = (
    "n_permutations=",
    "n_resamples=",
    "bootstrap(n=",
    "boundary(n=",
    "n_alternations=",
    "n_knots=",
)
# A function of the user's is called, and what it raises is its own matter.
OWN = ("kernel=...", "conditional_expectation h", "conditional_expectation(h=...)", "CA of a table: h")


def is_left_out(entry, name):
    """Whether a combination of an entry and the name of an input is not judged."""
    endless = name in ("2**40", "2**63", "10**400") and any(word in entry for word in WORK)
    return endless or (name in ("class", "function") and any(word in entry for word in OWN))
