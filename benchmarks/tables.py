"""Do the promises of `CA` hold? Level of its tests, what its ridge captures, coverage of its ellipses.

python benchmarks/tables.py                  # all, about 5 minutes
python benchmarks/tables.py --only ridge     # or level, axes, tau, ellipses
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np

import correspondence as co


def make_zipf(m, power=1.0):
    share = 1 / np.arange(1, m + 1) ** power
    return share / share.sum()


def make_uniform(m):
    return np.full(m, 1 / m)


# --- level of chi2_test_ at 5 %

MARGINS = {
    "Zipf 50 x 20": (make_zipf(50, 1.2), make_zipf(20, 1.2)),
    "Zipf 6 x 5": (make_zipf(6, 1.2), make_zipf(5, 1.2)),
    "rare binary 2 x 2": (np.array([0.98, 0.02]), np.array([0.98, 0.02])),
    "uniform 3 x 40": (make_uniform(3), make_uniform(40)),
    "uniform 10 x 8": (make_uniform(10), make_uniform(8)),
    "Zipf 1000 x 1000": (make_zipf(1000, 1.2), make_zipf(1000, 1.2)),
}


def measure_level(n_tables):
    print(f"level at 5 %, {n_tables} independent tables each: pvalue (classical_pvalue)")
    for name, (p, q) in MARGINS.items():
        for n in (60, 200, 1000):
            rejected = np.zeros(2)
            for seed in range(n_tables):
                rng = np.random.default_rng([seed, n, 1])
                test = co.CA(n_components=0).fit(rng.choice(len(p), n, p=p), rng.choice(len(q), n, p=q)).chi2_test_
                rejected += [test.pvalue <= 0.05, test.classical_pvalue <= 0.05]
            ours, classical = rejected / n_tables
            print(f"  {name:<18} n {n:5d}: {ours:.3f} ({classical:.3f})", flush=True)


# --- level of the tests of axes at 5 %

AXES_MARGINS = {name: MARGINS[name] for name in ("Zipf 50 x 20", "Zipf 6 x 5", "uniform 10 x 8")}


def make_one_axis(p, q, correlation):
    """Make a joint distribution with one axis and nothing else: every other label lies on its other side."""
    sides = []
    for share in (p, q):
        h = (-1.0) ** np.arange(len(share))
        h -= share @ h
        sides.append(h / np.sqrt(share @ h**2))
    most = 0.99 / (np.abs(sides[0]).max() * np.abs(sides[1]).max())
    return np.outer(p, q) * (1 + min(correlation, most) * np.outer(*sides))


def measure_axes_level(n_tables):
    print(f"level at 5 % of the axis after the true ones, {n_tables} tables each: permutations (Malinvaud)")
    for name, (p, q) in AXES_MARGINS.items():
        for n in (200, 1000):
            for true in (0, 1):
                rejected, m = np.zeros(2), 0
                for seed in range(n_tables):
                    rng = np.random.default_rng([seed, n, 5])
                    P = make_one_axis(p, q, 0.6 * true)
                    counts = rng.multinomial(n, P.ravel()).reshape(P.shape)
                    kept = np.ix_(counts.sum(axis=1) > 0, counts.sum(axis=0) > 0)
                    tests = co.axis_tests(co.CA(n_components=true + 1).fit(counts[kept]), 199)
                    own = np.array([tests.pvalues, tests.malinvaud_pvalues])
                    if (own[0, :true] <= 0.05).all():  # of the tables in which the true axis is found
                        rejected, m = rejected + (own[:, true] <= 0.05), m + 1
                ours, malinvaud = rejected / max(m, 1)
                print(f"  {name:<16} n {n:5d}, {true} true: {ours:.3f} ({malinvaud:.3f}) of {m}", flush=True)


# --- level of the test of tau at 5 %

RESPONSES = {
    "four equal": make_uniform(4),
    ".7, .2, .1": np.array([0.7, 0.2, 0.1]),
    ".9, .05, .03, .02": np.array([0.9, 0.05, 0.03, 0.02]),
}


def measure_tau_level(n_tables):
    print(f"level at 5 % of the C statistic, independent tables with 5 equal rows, {n_tables} each, by response")
    for name, q in RESPONSES.items():
        for n in (100, 1000):
            n_rejected = 0
            for seed in range(n_tables):
                counts = np.random.default_rng([seed, n, 6]).multinomial(n, np.outer(make_uniform(5), q).ravel())
                test = co.CA(n_components=0, response="columns").fit(counts.reshape(5, len(q))).tau_test_
                n_rejected += test.pvalue <= 0.05
            print(f"  {name:<18} n {n:5d}: {n_rejected / n_tables:.3f}", flush=True)


# --- what the ridge captures


def make_low_rank(rng, p, q, correlations):
    """Make a joint distribution with about these correlations: a Lancaster density, made positive."""
    sides = []
    for share in (p, q):
        H = rng.normal(size=(len(share), len(correlations)))
        H -= share @ H
        sides.append(H @ np.linalg.inv(np.linalg.cholesky((H * share[:, None]).T @ H)).T)
    joint = np.maximum(1 + (sides[0] * correlations) @ sides[1].T, 0.02) * np.outer(p, q)
    for _ in range(200):
        joint *= (p / joint.sum(axis=1))[:, None]
        joint *= q / joint.sum(axis=0)
    return joint


def make_hidden_classes(rng, n_classes, n_rows, n_columns, concentration):
    """Make two views of a class: each class has its own distribution of both labels."""
    views = [rng.dirichlet(np.full(m, concentration), size=n_classes) for m in (n_rows, n_columns)]
    return np.einsum("k,ki,kj->ij", rng.dirichlet(np.full(n_classes, 5.0)), *views)


POPULATIONS = {
    "uniform 30 x 20, weak, n 500": (
        lambda rng: make_low_rank(rng, make_uniform(30), make_uniform(20), [0.25, 0.15]),
        500,
    ),
    "uniform 30 x 20, weak, n 2000": (
        lambda rng: make_low_rank(rng, make_uniform(30), make_uniform(20), [0.25, 0.15]),
        2000,
    ),
    "Zipf 100 x 30, n 2000": (lambda rng: make_low_rank(rng, make_zipf(100), make_zipf(30), [0.3, 0.2, 0.1]), 2000),
    "Zipf 40 x 40, strong, n 1000": (
        lambda rng: make_low_rank(rng, make_zipf(40), make_zipf(40), [0.7, 0.5, 0.3]),
        1000,
    ),
    "uniform 6 x 5, n 200": (lambda rng: make_low_rank(rng, make_uniform(6), make_uniform(5), [0.4, 0.2]), 200),
    "5 hidden classes, 60 x 40, n 1000": (lambda rng: make_hidden_classes(rng, 5, 60, 40, 0.3), 1000),
    "8 hidden classes, 50 x 50, n 20000": (lambda rng: make_hidden_classes(rng, 8, 50, 50, 0.5), 20000),
    "independent Zipf 50 x 20, n 500": (lambda rng: np.outer(make_zipf(50), make_zipf(20)), 500),
}


def measure_ridge(n_tables):
    print(f"captured of the population, {n_tables} tables each: exact CA, auto (worst of auto), all there is")
    for name, (make, n) in POPULATIONS.items():
        scores = []
        for seed in range(n_tables):
            rng = np.random.default_rng([seed, 2])
            joint = make(rng)
            counts = rng.multinomial(n, joint.ravel()).reshape(joint.shape)
            fits = [co.CA(regularization=c).fit(counts) for c in (None, "auto")]
            scores.append([*(ca.evaluate(joint).captured for ca in fits), co.CA(1).fit(joint).decomposition_.chi2])
        (exact, auto, chi2), worst = np.mean(scores, axis=0), np.min(scores, axis=0)[1]
        print(f"  {name:<36} {exact:7.3f} {auto:7.3f} ({worst:.3f}) {chi2:7.3f}", flush=True)


# --- ellipses


def find_covered(points, truth, ellipses):
    along = np.sign((truth.mass[:, None] * points.principal[:, :2] * truth.principal[:, :2]).sum(axis=0))
    x, y = (truth.principal[:, :2] * along - points.principal[:, :2]).T
    cos, sin = np.cos(np.radians(ellipses.angle)), np.sin(np.radians(ellipses.angle))
    return 4 * (((cos * x + sin * y) / ellipses.width) ** 2 + ((cos * y - sin * x) / ellipses.height) ** 2) <= 1


def measure_ellipses(n_tables, n_resamples=100):
    print(f"coverage of 95 % ellipses on the axes as drawn (worst point), {n_tables} tables, {n_resamples} resamples")
    for name, n in (("housetasks", 1744), ("housetasks", 300), ("smoke", 2000), ("smoke", 193)):
        table = getattr(co.datasets, f"load_{name}")()
        joint = table.counts / table.total
        truth, inside = co.CA().fit(joint), {"signs": [], "rotation": []}
        for seed in range(n_tables):
            counts = np.random.default_rng([seed, n, 3]).multinomial(n, joint.ravel()).reshape(joint.shape)
            ca = co.CA().fit(counts)
            for align, found in inside.items():
                spread = ca.bootstrap(n_resamples, align=align, random_state=seed, progress=False)
                sides = ((ca.rows_, truth.rows_, spread.row_ellipses()),)
                sides += ((ca.columns_, truth.columns_, spread.column_ellipses()),)
                found.append(np.concatenate([find_covered(*side) for side in sides]))
        text = (f"{align} {np.mean(hit):.2f} ({np.mean(hit, axis=0).min():.2f})" for align, hit in inside.items())
        print(f"  {name} n {n}: {', '.join(text)}", flush=True)


MEASURES = {
    "level": (measure_level, 200),
    "axes": (measure_axes_level, 200),
    "tau": (measure_tau_level, 2000),
    "ridge": (measure_ridge, 10),
    "ellipses": (measure_ellipses, 60),
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=MEASURES)
    parser.add_argument("--tables", type=int, help="number of tables of each kind")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # labels that were not drawn
    for key, (measure, size) in MEASURES.items():
        if arguments.only in (None, key):
            measure(arguments.tables or size)
