"""How fast are clusters, and does the evidence for them keep its promises?

    python benchmarks/clusters.py                       # both, about half an hour
    python benchmarks/clusters.py --only speed          # a million rows on five axes, beside bare k-means
    python benchmarks/clusters.py --only evidence --tables 20

"speed" compares `Clusters` on a million rows with five coordinates with `sklearn.cluster.KMeans` of the same number of
clusters at its defaults (k-means++, one start), by the clock and by the seconds of the cores, in turns. It includes
everything from the coordinates on: finding equal rows, centres, the tree, the consolidation on all rows, paragons, the
gains; the second ratio also the stability and the choice of the number.

"evidence" draws tables of each design: how often there are said to be clusters, how often their number is right, and
the mean stability of the number given (4, or the true one) beside that of clouds without clusters.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "2")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "2")

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.cluster import KMeans

import correspondence as co
from correspondence.core.decomposition import Decomposition
from correspondence.core.functions import LabelFunctions

N_ROWS, N_AXES, N_CLUSTERS = 1_000_000, 5, 6


# --- speed


def make_points(n, d, seed, separation):
    rng = np.random.default_rng(seed)
    centres = separation * rng.normal(size=(N_CLUSTERS, d))
    return centres[rng.integers(N_CLUSTERS, size=n)] + rng.normal(size=(n, d))


def as_analysis(points):
    """Return an analysis whose rows lie at the points, without fitting anything."""
    n, d = points.shape
    f = LabelFunctions(np.arange(n), points, np.full(n, 1 / n))
    return Decomposition(np.ones(d), f, f, chi2=float(d), n=n)


def measure_seconds(call):
    begin, cpu = time.perf_counter(), time.process_time()
    call()
    return np.array([time.perf_counter() - begin, time.process_time() - cpu])


def compare_speed(repeats):
    print(
        f"{N_ROWS:,} rows, {N_AXES} axes, {N_CLUSTERS} clusters: ratios to bare KMeans, by the clock and by the cores"
    )
    for name, separation in (("clusters apart", 3.0), ("clusters that overlap", 1.0), ("one cloud", 0.0)):
        points = make_points(N_ROWS, N_AXES, 0, separation)
        est = as_analysis(points)
        calls = {
            "KMeans": lambda points=points: KMeans(N_CLUSTERS, random_state=0).fit(points),
            "Clusters, n_resamples=0": lambda est=est: co.Clusters(N_CLUSTERS, n_resamples=0).fit(est),
            "Clusters, with evidence": lambda est=est: co.Clusters(N_CLUSTERS).fit(est),
        }
        seconds = {key: [] for key in calls}
        for _ in range(repeats):
            for key, call in calls.items():
                seconds[key].append(measure_seconds(call))
        best = {key: np.median(values, axis=0) for key, values in seconds.items()}
        print(f"  {name}: KMeans {best['KMeans'][0]:.1f} s")
        for key in list(calls)[1:]:
            clock, cores = best[key] / best["KMeans"]
            print(f"    {key:<26} {best[key][0]:6.1f} s  ratio {clock:.2f} (cores {cores:.2f})", flush=True)


# --- evidence


@dataclass(frozen=True)
class Design:
    """A way to draw a table, with the true number of clusters; 0 if there are none."""

    name: str
    n_clusters: int
    fit: Callable


def fit_numbers(draw):
    def fit(rng):
        X = draw(rng)
        return co.MixedCA(n_components=X.shape[1], standardize=False).fit(X)

    return fit


def draw_groups(rng, n, d, k, distance, shares=None):
    """Draw k Gaussian groups whose centres are at least so many standard deviations apart."""
    while True:
        centres = distance * rng.normal(size=(k, d))
        if pdist(centres).min() >= distance:
            return centres[rng.choice(k, n, p=shares)] + rng.normal(size=(n, d))


def fit_answers(n, columns, answers, classes=1, trait=None):
    def fit(rng):
        if trait is not None:  # one hidden number, on which all answers depend
            values = trait * rng.normal(size=(n, 1)) + rng.normal(size=(n, columns))
            codes = np.digitize(values / np.sqrt(1 + trait**2), np.linspace(-1, 1, answers - 1))
        else:
            shares = rng.dirichlet(np.full(answers, 0.5 if classes > 1 else 5.0), size=(classes, columns))
            own = np.cumsum(shares, axis=2)[rng.integers(classes, size=n)]
            codes = (rng.random((n, columns, 1)) > own).sum(axis=2)
        letters = np.array(list("abcdefgh"), dtype=object)
        return co.MCA(n_components=min(4, columns * (answers - 1))).fit(letters[np.minimum(codes, answers - 1)])

    return fit


def put_few_apart(rng):
    X = rng.normal(size=(1000, 3))
    X[:10] = [12, 0, 0] + 0.5 * rng.normal(size=(10, 3))
    return X


DESIGNS = [
    Design("Gaussian, 100 x 2", 0, fit_numbers(lambda rng: rng.normal(size=(100, 2)))),
    Design("Gaussian, 300 x 5", 0, fit_numbers(lambda rng: rng.normal(size=(300, 5)))),
    Design("Gaussian, 1000 x 3, one long axis", 0, fit_numbers(lambda rng: rng.normal(size=(1000, 3)) * [3, 1, 1])),
    Design("Gaussian, 2000 x 2", 0, fit_numbers(lambda rng: rng.normal(size=(2000, 2)))),
    Design("uniform, 500 x 2", 0, fit_numbers(lambda rng: rng.uniform(size=(500, 2)))),
    Design("t with 4 dof, 300 x 3", 0, fit_numbers(lambda rng: rng.standard_t(4, (300, 3)))),
    Design("exponential, 300 x 2", 0, fit_numbers(lambda rng: rng.exponential(size=(300, 2)))),
    Design("answers, 500 x 4 columns", 0, fit_answers(500, 4, 3)),
    Design("answers, 300 x 12 columns", 0, fit_answers(300, 12, 3)),
    Design("answers of one trait, 500 x 8", 0, fit_answers(500, 8, 4, trait=1.0)),
    Design("2 groups 4 apart, 300 x 2", 2, fit_numbers(lambda rng: draw_groups(rng, 300, 2, 2, 4))),
    Design("2 groups 3 apart, 300 x 2", 2, fit_numbers(lambda rng: draw_groups(rng, 300, 2, 2, 3))),
    Design("4 groups 6 apart, 400 x 2", 4, fit_numbers(lambda rng: draw_groups(rng, 400, 2, 4, 6))),
    Design("4 groups 6 apart, 100 x 3", 4, fit_numbers(lambda rng: draw_groups(rng, 100, 3, 4, 6))),
    Design("4 groups 4 apart, 400 x 3", 4, fit_numbers(lambda rng: draw_groups(rng, 400, 3, 4, 4))),
    Design("4 groups 3 apart, 400 x 3", 4, fit_numbers(lambda rng: draw_groups(rng, 400, 3, 4, 3))),
    Design(
        "4 unequal groups 6 apart, 500 x 3",
        4,
        fit_numbers(lambda rng: draw_groups(rng, 500, 3, 4, 6, [0.6, 0.25, 0.1, 0.05])),
    ),
    Design("10 of 1000 rows far away, 3 axes", 2, fit_numbers(put_few_apart)),
    Design("2 classes of answers, 300 x 10", 2, fit_answers(300, 10, 3, classes=2)),
    Design("4 classes of answers, 500 x 12", 4, fit_answers(500, 12, 4, classes=4)),
]


def judge_design(design, tables):
    """Return the shares of tables with clusters and with the right number, and stability and chance."""
    found = []
    for seed in range(tables):
        est = design.fit(np.random.default_rng(seed))
        clusters = co.Clusters("auto", n_resamples=1, random_state=seed).fit(est)
        number = clusters.n_clusters_ if clusters.has_clusters_ else 0
        given = co.Clusters(design.n_clusters or 4, n_resamples=50, random_state=seed).fit(est)
        found.append([number > 0, number == design.n_clusters, given.stability_.mean(), given.chance_])
    return np.array(found, dtype=float)


def judge_designs(tables, wanted):
    print(f"{tables} tables each; stability of 4 clusters, or of the true number")
    print(f"{'':<36}{'found':>7}{'right':>7}{'stability':>11}{'chance':>8}{'difference':>12} (sd)")
    for design in DESIGNS:
        if wanted and wanted not in design.name:
            continue
        with warnings.catch_warnings(action="ignore", category=co.NothingFound):
            found = judge_design(design, tables)
        mean, difference = found.mean(axis=0), found[:, 2] - found[:, 3]
        text = f"{design.name:<36}{mean[0]:>7.2f}{mean[1]:>7.2f}{mean[2]:>11.3f}{mean[3]:>8.3f}"
        print(f"{text}{difference.mean():>12.3f} ({difference.std():.3f})", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=["speed", "evidence"])
    parser.add_argument("--tables", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--design", help="only designs whose name has this text")
    arguments = parser.parse_args()
    if arguments.only != "evidence":
        compare_speed(arguments.repeats)
    if arguments.only != "speed":
        judge_designs(arguments.tables, arguments.design)


if __name__ == "__main__":
    main()
