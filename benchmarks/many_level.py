"""Do the test of axes of many columns and the ellipses of their answers keep their promises?

    python benchmarks/many_level.py                        # 1000 tables of each design, about an hour
    python benchmarks/many_level.py --tables 100           # a few minutes
    python benchmarks/many_level.py --only ellipses

Rows belong to hidden classes, given which their answers are independent: M classes make M - 1 axes. "level" is how
often the axis after the true ones is called significant at 5 % by `permutation_test`, of the tables in which all true
ones are; "power" is how often all true ones are. The columns have 2, 3, 4, 5, 2 and 3 answers, once or three times
over, or are four columns of yes and no. With gaps, a quarter of the rows skip half of the questions. "coverage" is how
many of the answers of the population lie in their 95 % ellipse, of `MCA.bootstrap`, in the plane of two true axes.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

import correspondence as co

ALPHA = 0.05
MIXED = (2, 3, 4, 5, 2, 3)
LETTERS = np.array(list("abcde"), dtype=object)


@dataclass(frozen=True)
class Population:
    """Shares of the answers of each column in each hidden class; classes are equally frequent."""

    shares: tuple[np.ndarray, ...]

    @classmethod
    def draw(cls, widths, classes: int, strength: float, rng: np.random.Generator):
        """Draw shares: a part of them is that of all classes, the rest is the class's own."""
        shares = []
        for width in widths:
            common = rng.dirichlet(np.full(width, 5.0))
            own = rng.dirichlet(np.full(width, 0.5), size=classes)
            shares.append((1 - strength) * common + strength * own)
        return cls(tuple(shares))

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Draw a table of answers."""
        hidden = rng.integers(len(self.shares[0]), size=n)
        columns = []
        for share in self.shares:
            code = (rng.random((n, 1)) > np.cumsum(share, axis=1)[hidden]).sum(axis=1)
            columns.append(LETTERS[np.minimum(code, share.shape[1] - 1)])
        return np.column_stack(columns)

    def find_places(self, d: int) -> dict[str, np.ndarray]:
        """Find the principal coordinates of all answers in the population."""
        k, margin = len(self.shares), np.concatenate([share.mean(axis=0) for share in self.shares])
        every = np.hstack(self.shares)
        joint = every.T @ every / len(every)
        edges = np.cumsum([0, *(share.shape[1] for share in self.shares)])
        for a, b in pairwise(edges):
            joint[a:b, a:b] = np.diag(margin[a:b])
        root = np.sqrt(margin)
        values, vectors = np.linalg.eigh((joint - np.outer(margin, margin)) / np.outer(root, root) / k)
        principal = vectors[:, ::-1][:, :d] / root[:, None] * np.sqrt(k * values[::-1][:d])
        labels = [f"{j}:{LETTERS[a]}" for j, share in enumerate(self.shares) for a in range(share.shape[1])]
        return dict(zip(labels, principal, strict=True))


def make_gaps(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Let a quarter of the rows skip half of the questions."""
    skips = (rng.random((len(X), 1)) < 0.25) & (rng.random(X.shape) < 0.5)
    return np.where(skips, None, X)


def count_found(design, n: int, classes: int, strength: float, n_tables: int, permutations: int) -> tuple[float, float]:
    """Return the level of the axis after the true ones, and the power for the true ones."""
    widths, missing = design
    found = []
    for number in range(n_tables):
        rng = np.random.default_rng([number, n, classes, len(widths)])
        X = Population.draw(widths, classes, strength, rng).sample(n, rng)
        if missing is not None:
            X = make_gaps(X, rng)
        mca = co.MCA(classes, missing=missing or "indicator")
        test = co.permutation_test(mca, X, n_permutations=permutations, random_state=number, groups=None)
        found.append(int((test.pvalues <= ALPHA).sum()))
    has_true = np.array(found) >= classes - 1
    level = float((np.array(found)[has_true] >= classes).mean()) if has_true.any() else np.nan
    return level, float(has_true.mean())


def measure_coverage(widths, n: int, strength: float, n_tables: int, resamples: int) -> tuple[float, float]:
    """Return the share of answers of the population in their ellipses: of all, and of the worst answer."""
    rng = np.random.default_rng([len(widths), n])
    population = Population.draw(widths, 3, strength, rng)
    places = population.find_places(2)
    inside: dict[str, list[bool]] = {label: [] for label in places}
    for number in range(n_tables):
        mca = co.MCA(2).fit(population.sample(n, rng))
        ellipses = mca.bootstrap(resamples, random_state=number).column_ellipses(level=1 - ALPHA)
        labels, found = mca.columns_.labels.tolist(), mca.columns_.principal[:, :2]
        truth = np.array([places[label] for label in labels])
        truth = truth * np.where((truth * found * mca.columns_.mass[:, None]).sum(axis=0) < 0, -1, 1)
        angle = np.radians(ellipses.angle)
        along = truth - found
        x = along[:, 0] * np.cos(angle) + along[:, 1] * np.sin(angle)
        y = along[:, 1] * np.cos(angle) - along[:, 0] * np.sin(angle)
        within = (2 * x / ellipses.width) ** 2 + (2 * y / ellipses.height) ** 2 <= 1
        for label, is_inside in zip(labels, within, strict=True):
            inside[label].append(bool(is_inside))
    each = [np.mean(own) for own in inside.values() if own]
    return float(np.mean([i for own in inside.values() for i in own])), float(min(each))


DESIGNS = {
    "6 columns": (MIXED, None),
    "18 columns": (MIXED * 3, None),
    "4 of yes and no": ((2,) * 4, None),
    "6 columns, gaps": (MIXED, "average"),
}


def report_levels(n_tables: int, permutations: int, names) -> None:
    """Print the levels and powers of some designs."""
    print(f"Level and power of the test, {n_tables} tables of each kind, {permutations} permutations")
    print("| columns | rows | true axes | level | power |")
    print("|---|---|---|---|---|")
    for name in names:
        design = DESIGNS[name]
        for n in (100, 300, 1000):
            for classes in (1, 2, 3) if len(design[0]) > 4 else (1, 2):
                level, power = count_found(design, n, classes, 0.7, n_tables, permutations)
                right = "" if classes == 1 else f"{power:.3f}"
                print(f"| {name} | {n} | {classes - 1} | {level:.3f} | {right} |", flush=True)


def report_coverage(n_tables: int, resamples: int) -> None:
    """Print the coverage of the ellipses."""
    print(f"Coverage of 95 % ellipses, {n_tables} tables of each kind, {resamples} resamples")
    print("| columns | rows | coverage | worst answer |")
    print("|---|---|---|---|")
    for name, widths in (("6 columns", MIXED), ("18 columns", MIXED * 3)):
        for n in (300, 1000):
            mean, worst = measure_coverage(widths, n, 0.9, n_tables, resamples)
            print(f"| {name} | {n} | {mean:.3f} | {worst:.3f} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--permutations", type=int, default=99)
    parser.add_argument("--design", choices=list(DESIGNS))
    parser.add_argument("--only", choices=["levels", "ellipses"])
    given = parser.parse_args()
    if given.only != "ellipses":
        report_levels(given.tables, given.permutations, [given.design] if given.design else list(DESIGNS))
    if given.only != "levels":
        report_coverage(max(20, given.tables // 5), 100)
