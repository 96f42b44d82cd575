"""Is it worth telling an analysis that labels are in order? What is captured with the order, and without it.

    python benchmarks/ordered.py                         # everything, a few minutes
    python benchmarks/ordered.py --only tables           # or numbers, columns, speed
    python benchmarks/ordered.py --only tables --tables 50

"tables" draws tables from a population that is known, so that what is captured of the population is exact: chi2 less
the squared error of the density ratio that the fit claims. Of each population 200 tables are drawn by default, and all
methods see the same ones. Differences are paired, with their standard errors.

Populations "normal" are normal variables with a correlation, cut into labels of equal shares: the functions of both
are in order. "steps" has only low and high labels, with the same dependence between them. "steep" has scores far from
1, 2, ..., whose last step is the largest. "shuffled" is "normal" with labels in another order than is claimed, so that
the claim is wrong.

"linear by linear" are row and column scores 1, 2, ..., standardised, with their correlation in the table.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import time
import warnings

import numpy as np
import pandas as pd
from scipy.stats import multivariate_normal, norm

import correspondence as co
from correspondence.core.scoring import score_pairs

N_TABLES = 200
TABLES = [  # kind, rows and columns, strength, observations
    ("normal", 5, 0.5, 100),
    ("steps", 5, 0.5, 100),
    ("steep", 5, 0.5, 100),
    ("shuffled", 5, 0.5, 100),
    ("normal", 5, 0.2, 100),
    ("normal", 5, 0.8, 100),
    ("normal", 5, 0.5, 30),
    ("normal", 5, 0.5, 1000),
    ("shuffled", 5, 0.5, 1000),
    ("normal", 3, 0.5, 100),
    ("normal", 10, 0.5, 100),
]


def make_population(kind, k, strength):
    """Make the shares of the cells of a k x k table."""
    if kind in ("normal", "shuffled"):
        P = cut_normal(k, strength)
        order = [1, 3, 0, 4, 2, *range(5, k)][:k] if kind == "shuffled" else range(k)
        return P[np.ix_(list(order), list(order)[::-1])] if kind == "shuffled" else P
    scores = np.arange(k) >= k / 2 if kind == "steps" else np.exp(np.arange(k))
    f = (scores - scores.mean()) / scores.std()
    return (1 + strength / max(1, -f.min() * f.max() * strength) * np.outer(f, f)) / k**2


def cut_normal(k, correlation):
    cuts = np.clip(norm.ppf(np.arange(k + 1) / k), -8, 8)
    law = multivariate_normal([0, 0], [[1, correlation], [correlation, 1]])
    below = np.array([[law.cdf([a, b]) for b in cuts] for a in cuts])
    P = np.maximum(np.diff(np.diff(below, axis=0), axis=1), 0)
    return P / P.sum()


def score_linear(counts, P):
    """Return what row and column scores 1, 2, ... capture of a population."""
    share, scores = counts / counts.sum(), np.arange(len(counts), dtype=float)
    functions = []
    for mass in (share.sum(axis=1), share.sum(axis=0)):
        centred = scores - mass @ scores
        functions.append((centred / np.sqrt(mass @ centred**2))[:, None])
    r = functions[0][:, 0] @ share @ functions[1][:, 0]
    return score_pairs(functions[0] * np.sign(r), functions[1], np.array([abs(r)]), P).captured


def score_fit(ca, counts, P):
    """Return what an analysis of the labels that occur captures of a population; others are average."""
    rows, columns = (np.flatnonzero(counts.sum(axis=axis)) for axis in (1, 0))
    ca.fit(counts[np.ix_(rows, columns)])
    F, G = np.zeros((len(P), len(ca.pics_))), np.zeros((len(P), len(ca.pics_)))
    F[rows], G[columns] = ca.rows_.standard, ca.columns_.standard
    return score_pairs(F, G, ca.correlations_, P).captured


METHODS = {
    "CA, 1 component": lambda: co.CA(1),
    "in order, 1": lambda: co.CA(1, ordered=["rows", "columns"]),
    "CA, all": lambda: co.CA(),
    "in order, all": lambda: co.CA(ordered=["rows", "columns"]),
    "ridge": lambda: co.CA(regularization="auto"),
}


def measure_tables(kind, k, strength, n, n_tables=N_TABLES, methods=METHODS):
    """Return what each method captures of the population of each table drawn, by name, and all there is."""
    P = make_population(kind, k, strength)
    found = {name: np.zeros(n_tables) for name in [*methods, "linear by linear"]}
    with warnings.catch_warnings(action="ignore"):
        for i in range(n_tables):
            counts = np.random.default_rng([i, n, k]).multinomial(n, P.ravel()).reshape(P.shape)
            for name, make in methods.items():
                found[name][i] = score_fit(make(), counts, P)
            found["linear by linear"][i] = score_linear(counts, P)
    r, c = P.sum(axis=1), P.sum(axis=0)
    return found, float((P**2 / np.outer(r, c)).sum() - 1)


def write_difference(a, b):
    difference = a - b
    return f"{difference.mean():+.3f} ({difference.std(ddof=1) / np.sqrt(len(difference)):.3f})"


def report_tables(n_tables):
    names = [*METHODS, "linear by linear"]
    print(f"captured of the population, mean of {n_tables} tables; gain by the order, paired (standard error)")
    print("| population | " + " | ".join(names) + " | all there is | gain, 1 component | gain, all |")
    print("|" + "---|" * (len(names) + 4))
    for kind, k, strength, n in TABLES:
        found, chi2 = measure_tables(kind, k, strength, n, n_tables)
        gains = [
            write_difference(found[f"in order, {m}"], found[f"CA, {own}"])
            for m, own in (("1", "1 component"), ("all", "all"))
        ]
        means = [f"{found[name].mean():.3f}" for name in names]
        cells = [f"{kind} {strength}, {k} x {k}, n = {n}", *means, f"{chi2:.3f}", *gains]
        print("| " + " | ".join(cells) + " |", flush=True)


# --- numbers


CURVES = {
    "line": lambda x: x,
    "saturation": lambda x: 3 * np.tanh(2 * x),
    "step": lambda x: 2.0 * (x > 0.5),
    "parabola, which is not in order": lambda x: x**2,
}


def draw_numbers(curve, n, rng):
    x = rng.normal(size=n)
    return x, curve(x) + 1.5 * rng.normal(size=n)


def report_numbers(n_samples):
    print(f"captured of 20,000 fresh pairs by ACE(1) of two columns of numbers, mean of {n_samples} samples")
    print("| curve | n | ACE | in order | gain (standard error) |")
    print("|---|---|---|---|---|")
    for name, curve in CURVES.items():
        for n in (50, 200):
            found = np.zeros((2, n_samples))
            for i in range(n_samples):
                rng = np.random.default_rng([i, n])
                train, test = draw_numbers(curve, n, rng), draw_numbers(curve, 20_000, rng)
                found[:, i] = [co.ACE(1, ordered=o).fit(*train).score(*test) for o in (None, ["X", "Y"])]
            means = " | ".join(f"{own.mean():.3f}" for own in found)
            print(f"| {name} | {n} | {means} | {write_difference(found[1], found[0])} |", flush=True)


# --- many columns


def draw_survey(n, rng):
    """Draw answers to six questions, in five steps each, which one hidden variable decides in part."""
    hidden = rng.normal(size=(n, 1))
    values = 0.6 * hidden + 0.8 * rng.normal(size=(n, 6))
    codes = np.searchsorted(norm.ppf(np.arange(1, 5) / 5), values)
    levels = pd.CategoricalDtype(list("abcde"), ordered=True)
    return pd.DataFrame({f"q{j}": pd.Series(list("abcde")).take(codes[:, j]).astype(levels).array for j in range(6)})


def report_columns(n_samples):
    print(f"share of a column that the others predict on 2,000 fresh rows, MCA(1), mean of {n_samples} samples")
    print("| n | MCA | in order | gain (standard error) |")
    print("|---|---|---|---|")
    for n in (50, 100, 400):
        found = np.zeros((2, n_samples))
        for i in range(n_samples):
            rng = np.random.default_rng([i, n])
            train, test = draw_survey(n, rng), draw_survey(2000, rng)
            with warnings.catch_warnings(action="ignore"):
                found[:, i] = [co.MCA(1, ordered=o).fit(train).evaluate(test).r2[:, 0].mean() for o in (None, "auto")]
        means = " | ".join(f"{own.mean():.4f}" for own in found)
        difference = found[1] - found[0]
        error = difference.std(ddof=1) / np.sqrt(n_samples)
        print(f"| {n} | {means} | {difference.mean():+.4f} ({error:.4f}) |", flush=True)


# --- speed

SIZES = [
    (5, 5, 100),
    (10, 10, 500),
    (100, 100, 20_000),
    (1000, 20, 5000),
    (1000, 1000, 20_000),
]  # of independent tables


def measure_cpu(function):
    """Return the CPU seconds of the quickest of three calls."""
    found = []
    for _ in range(3):
        begin = time.process_time()
        function()
        found.append(time.process_time() - begin)
    return min(found)


def list_fits():
    """List what is fitted: a text, and a function of what is given as `ordered`."""
    rng, levels = np.random.default_rng(0), pd.CategoricalDtype(list("abcde"), ordered=True)
    for r, c, n in SIZES:
        counts = rng.multinomial(n, np.full(r * c, 1 / (r * c))).reshape(r, c)
        yield (
            f"CA(2), {r} x {c} labels, n = {n}",
            lambda o, T=counts: co.CA(2, ordered=o and ["rows", "columns"]).fit(T),
        )
    hidden = rng.normal(size=2000)
    values = {f"c{j}": np.round(hidden + 2 * rng.normal(size=2000), 2) for j in range(20)}
    numbers = pd.DataFrame(values)
    labels = pd.DataFrame({k: pd.cut(v, 5, labels=list("abcde")) for k, v in values.items()}).astype(levels)
    yield "MCA(2), 20 columns of 5 labels, n = 2000", lambda o: co.MCA(2, ordered=o and "auto").fit(labels)
    yield "ACE(2), the same for a number", lambda o: co.ACE(2, ordered=o and "auto").fit(labels, hidden)
    names = list(values)
    yield "ACE(2), 20 numbers for a number", lambda o: co.ACE(2, ordered=o and names).fit(numbers, hidden)


def report_speed(_):
    print("CPU seconds of one fit")
    print("| what | no order | in order | ratio |")
    print("|---|---|---|---|")
    with warnings.catch_warnings(action="ignore"):
        for name, fit in list_fits():
            fit(None)
            plain, own = (measure_cpu(lambda o=o, fit=fit: fit(o)) for o in (None, True))
            print(f"| {name} | {plain:.4f} | {own:.4f} | {own / plain:.1f} |", flush=True)


REPORTS = {"tables": report_tables, "numbers": report_numbers, "columns": report_columns, "speed": report_speed}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=REPORTS)
    parser.add_argument("--tables", type=int, default=N_TABLES, help="tables, and a quarter of as many samples")
    options = parser.parse_args()
    for name, report in REPORTS.items():
        if options.only in (None, name):
            report(options.tables if name == "tables" else max(10, options.tables // 4))
            print()
    print(f"load average {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
