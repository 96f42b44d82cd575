"""Do copies of rows make independent columns look dependent? Tables of few values, a share of whose rows occurs twice.

    python benchmarks/copies.py                   # 100 data sets of each design, about ten minutes
    python benchmarks/copies.py --decompose       # by `decompose` as well, about an hour
    python benchmarks/copies.py --data-sets 20

X and Y have three columns each, of as many values as the table says. The first rows are independent; "found" is the
share of data sets in which `find_copies` finds any copies, "level" the share in which the first component is called
significant at 5 %, by `permutation_test` of CCA. "split" is the same with `groups=None`. Below are dependent columns
without copies, where nothing may be found, and the power must be that of "split".
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import warnings
from functools import partial

import numpy as np

import correspondence as co
from correspondence.data.copies import find_copies

LETTERS = np.array(list("abcdefgh"), dtype=object)
ALPHA = 0.05


def draw_independent(n: int, values: int, share: float, rng: np.random.Generator, *, skewed: bool = False):
    """Draw three and three independent columns, and append copies of a share of the rows."""
    weights = 1 / np.arange(1, values + 1) if skewed else np.ones(values)
    rows = LETTERS[rng.choice(values, size=(n, 6), p=weights / weights.sum())]
    rows = rng.permutation(np.vstack([rows, rows[: round(share * n)]]))
    return rows[:, :3], rows[:, 3:]


def draw_latent(n: int, values: int, truth: float, rng: np.random.Generator):
    """Draw columns that are each, with this probability, the label of a hidden class."""
    hidden = rng.integers(values, size=(n, 1))
    rows = LETTERS[np.where(rng.random((n, 6)) < truth, hidden, rng.integers(values, size=(n, 6)))]
    return rows[:, :3], rows[:, 3:]


def draw_determined(n: int, values: int, truth: float, rng: np.random.Generator):
    """Draw columns of Y that are, with this probability, the columns of X under other names."""
    X = rng.integers(values, size=(n, 3))
    Y = np.where(rng.random((n, 3)) < truth, X, rng.integers(values, size=(n, 3)))
    return LETTERS[X], LETTERS[::-1][Y]


INDEPENDENT = [
    (500, 5, 0.0, False),
    (500, 5, 0.1, False),
    (500, 5, 0.2, False),
    (500, 5, 0.3, False),
    (500, 5, 0.6, False),
    (500, 5, 1.0, False),
    (500, 5, 0.3, True),
    (500, 5, 1.0, True),
    (500, 4, 0.3, False),
    (500, 4, 1.0, False),
    (500, 3, 0.0, False),
    (500, 3, 0.3, False),
    (500, 3, 1.0, False),
    (2000, 5, 0.3, False),
]
DEPENDENT = [
    ("hidden class, .8", draw_latent, 500, 5, 0.8),
    ("hidden class, .4", draw_latent, 500, 5, 0.4),
    ("hidden class, .2", draw_latent, 500, 5, 0.2),
    ("Y from X, .95", draw_determined, 500, 5, 0.95),
    ("Y from X, .5", draw_determined, 500, 5, 0.5),
    ("Y from X, .1", draw_determined, 500, 5, 0.1),
    ("Y from X, .1", draw_determined, 500, 3, 0.1),
]


def test_first(X, Y, seed: int, groups) -> bool:
    with warnings.catch_warnings(action="ignore", category=co.CorrespondenceWarning):
        test = co.permutation_test(co.CCA(n_components=1), X, Y, 199, groups=groups, random_state=seed, progress=False)
    return bool(test.pvalues[0] <= ALPHA)


def test_by_decompose(X, Y, seed: int) -> bool:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        co.decompose(X, Y, random_state=seed, verbose=False, progress=False)
    return not any(issubclass(warning.category, co.NothingFound) for warning in caught)


def measure(draw, data_sets: int, by_decompose: bool) -> str:
    """Return the shares of a design in a line."""
    found = []
    for seed in range(data_sets):
        X, Y = draw(np.random.default_rng([seed, 21]))
        own = [find_copies(X, Y).n_copies > 0, *(test_first(X, Y, seed, groups) for groups in ("duplicates", None))]
        found.append([*own, *([test_by_decompose(X, Y, seed)] if by_decompose else [])])
    return "".join(f"{share:12.2f}" for share in np.mean(found, axis=0))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-sets", type=int, default=100, help="of each design")
    parser.add_argument("--decompose", action="store_true", help="measure decompose as well")
    parser.add_argument("--only", default="", help="only designs whose line contains this")
    options = parser.parse_args()
    heads = ["found", "level", "split", *(["decompose"] if options.decompose else [])]
    print(f"{'rows':>6}{'values':>8}  {'design':24}" + "".join(f"{head:>12}" for head in heads))
    designs = []
    for n, values, share, skewed in INDEPENDENT:
        name = f"{share:.0%} copied{', skewed' if skewed else ''}"
        designs.append((n, values, name, partial(draw_independent, n, values, share, skewed=skewed)))
    for name, draw, n, values, truth in DEPENDENT:
        designs.append((n, values, name, partial(draw, n, values, truth)))
    for n, values, name, draw in designs:
        line = f"{n:6}{values:8}  {name:24}"
        if options.only in line:
            print(line + measure(draw, options.data_sets, options.decompose), flush=True)


if __name__ == "__main__":
    main()
