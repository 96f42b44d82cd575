"""How often an interval holds the truth."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from scipy.stats import norm
from sklearn.base import clone
from sklearn.model_selection import KFold

import correspondence as co
from promises.designs import draw_canonical
from promises.errors import correlate_columns, measure_captured
from promises.exact import decompose_joint
from promises.ledger import Task, make_rng
from promises.verdicts import MISSED, SHOWN, Bar, Line, Promise, Results, share_interval

NAME = "coverage"
FRESH = 100_000  # pairs that stand for the population
TRAINING, HELD_OUT, CROSS_FITTED, RESAMPLED = 300, 100, 200, 300  # pairs
REPLICATIONS = 200
COVERED, HARD = Bar(0.91, 0.98), Bar(0.90)


@dataclass(frozen=True)
class Design:
    """Pairs, what is fitted to them, and its PICs in the population."""

    draw: Callable
    est: co.ACE | co.CCA | co.CA
    find_pics: Callable[[], np.ndarray]
    is_hard: bool = False
    """Whether less is promised, because of heavy tails or rare labels."""


def _draw_gaussian(n, rng):
    x = rng.normal(size=n)
    return x, 0.7 * x + np.sqrt(1 - 0.7**2) * rng.normal(size=n)


def _draw_wave(n, rng):
    x = rng.normal(size=n)
    return x, np.cos(2 * x) + 0.5 * rng.normal(size=n)


def _find_wave_pics():
    x, y = np.linspace(-6, 6, 1201), np.linspace(-4, 4, 401)
    return decompose_joint(norm.pdf(x)[:, None] * norm.pdf(y, np.cos(2 * x)[:, None], 0.5)) ** 2


def _draw_lognormal(n, rng):
    return tuple(np.exp(values) for values in _draw_gaussian(n, rng))


def _find_lognormal_pics():
    return np.array([((np.exp(0.7) - 1) / (np.e - 1)) ** 2])


def _draw_t3(n, rng):
    x = rng.standard_t(3, size=n)
    return x, x + rng.standard_t(3, size=n)


def _make_rare_table() -> np.ndarray:
    """Make a table of three hidden classes of labels, many of them rare."""
    rng = np.random.default_rng(5)
    return rng.dirichlet(np.full(20, 0.5), size=3).T @ rng.dirichlet(np.full(15, 0.5), size=3) / 3


def _draw_rare_labels(n, rng):
    table = _make_rare_table()
    i, j = np.divmod(rng.choice(table.size, n, p=table.ravel()), table.shape[1])
    return np.array([f"a{code:02d}" for code in i]), np.array([f"b{code:02d}" for code in j])


DESIGNS = {
    "Gaussian, ACE(2)": Design(_draw_gaussian, co.ACE(n_components=2), lambda: 0.49 ** np.arange(1, 3)),
    "cos(2x), ACE(1)": Design(_draw_wave, co.ACE(n_components=1), _find_wave_pics),
    "lognormal, CCA(1)": Design(_draw_lognormal, co.CCA(n_components=1), _find_lognormal_pics, is_hard=True),
    "t3, CCA(1)": Design(_draw_t3, co.CCA(n_components=1), lambda: np.array([0.5]), is_hard=True),
    "rare labels, CA(2)": Design(
        _draw_rare_labels,
        co.CA(n_components=2, handle_unknown="nan"),
        lambda: decompose_joint(_make_rare_table()) ** 2,
        is_hard=True,
    ),
    "20 + 20 columns, CCA(1)": Design(
        partial(draw_canonical, (0.5,), 20), co.CCA(n_components=1), lambda: np.array([0.25])
    ),
    "equal PICs, CCA(2)": Design(
        partial(draw_canonical, (0.6, 0.6), 3), co.CCA(n_components=2), lambda: np.array([0.36, 0.36])
    ),
}
ONLY_RESAMPLED = ("20 + 20 columns, CCA(1)", "equal PICs, CCA(2)")


@cache
def draw_population(name: str):
    return DESIGNS[name].draw(FRESH, make_rng(f"population of {name}", 0))


def find_population_values(name: str, model) -> tuple[np.ndarray, float]:
    """Find the correlations of given functions in the population, and what they capture of it."""
    F, G = (np.nan_to_num(values) for values in model.transform(*draw_population(name)))
    return correlate_columns(F, G), measure_captured(F, G, model.correlations_)


class Warned:
    """Whether a warning about intervals was given: a user who is warned is not misled."""

    def __enter__(self) -> Warned:
        self._catcher = warnings.catch_warnings(record=True)
        self._caught = self._catcher.__enter__()
        warnings.simplefilter("always")
        return self

    def __exit__(self, *problem) -> None:
        self._catcher.__exit__(*problem)

    def __bool__(self) -> bool:
        return any("interval" in f"{w.category.__name__} {w.message}".lower() for w in self._caught)


def cover_each(intervals, truth, label: str) -> dict[str, float]:
    """Tell whether each interval holds its value."""
    intervals, truth = np.atleast_2d(intervals), np.atleast_1d(truth)[: len(np.atleast_2d(intervals))]
    names = [label] if len(intervals) == 1 else [f"{label} {i}" for i in range(1, len(intervals) + 1)]
    return dict(zip(names, (intervals[:, 0] <= truth) & (truth <= intervals[:, 1]), strict=True))


def measure_held_out(name, seed):
    design, rng = DESIGNS[name], make_rng(name, seed)
    model = clone(design.est).fit(*design.draw(TRAINING, rng))
    with Warned() as warned:
        held = model.evaluate(*design.draw(HELD_OUT, rng))
    correlations, captured = find_population_values(name, model)
    figures = cover_each(held.intervals, correlations, "intervals")
    return figures | cover_each(held.captured_interval, captured, "captured_interval") | {"warned": bool(warned)}


def measure_cross_fit(name, seed):
    """Compare with the mean over the folds of what their functions are in the population."""
    design, rng = DESIGNS[name], make_rng(name, seed)
    X, Y = design.draw(CROSS_FITTED, rng)
    folds = list(KFold(5, shuffle=True, random_state=seed).split(X))
    with Warned() as warned:
        result = co.crossfit(design.est, X, Y, cv=folds, progress=False)
    values = [find_population_values(name, clone(design.est).fit(X[train], Y[train])) for train, _ in folds]
    correlations = np.mean([pad_to(r, len(result.correlations)) for r, _ in values], axis=0)
    figures = cover_each(result.intervals, correlations, "intervals")
    captured = np.mean([captured for _, captured in values])
    figures |= cover_each(result.captured_interval, captured, "captured_interval")
    return figures | {"warned": bool(warned)}


def pad_to(values: np.ndarray, length: int) -> np.ndarray:
    return np.pad(values, (0, length - len(values)))


def measure_pic_intervals(name, seed):
    design = DESIGNS[name]
    X, Y = design.draw(RESAMPLED, make_rng(name, seed))
    with Warned() as warned:
        result = co.pic_intervals(design.est, X, Y, random_state=seed, progress=False)
    return cover_each(result.intervals, find_pics(name), "intervals") | {"warned": bool(warned)}


@cache
def find_pics(name: str) -> np.ndarray:
    return DESIGNS[name].find_pics()


# --- ellipses of points


TABLES = {"housetasks, n 1744": ("load_housetasks", 1744), "smoke, n 2000": ("load_smoke", 2000)}


def find_coordinates(P: np.ndarray, k: int = 2) -> list[np.ndarray]:
    """Compute the principal coordinates of the rows and columns of a table without the library."""
    p, q = P.sum(axis=1), P.sum(axis=0)
    U, s, Vt = np.linalg.svd((P - np.outer(p, q)) / np.sqrt(np.outer(p, q)), full_matrices=False)
    return [U[:, :k] * s[:k] / np.sqrt(p)[:, None], Vt.T[:, :k] * s[:k] / np.sqrt(q)[:, None]]


def measure_ellipses(name, seed):
    """Measure the share of the population's points inside their ellipses, as drawn: only signs are aligned."""
    loader, n = TABLES[name]
    P = np.asarray(getattr(co.datasets, loader)().counts, dtype=float)
    P = P / P.sum()
    ca = co.CA().fit(make_rng(name, seed).multinomial(n, P.ravel()).reshape(P.shape))
    with Warned() as warned:
        spread = ca.bootstrap(100, n_components=2, random_state=seed, progress=False)
    drawn = [ca.rows_.principal[:, :2], ca.columns_.principal[:, :2]]
    exact, masses = find_coordinates(P), [ca.rows_.mass[:, None], ca.columns_.mass[:, None]]
    signs = np.sign(sum((m * a * b).sum(axis=0) for m, a, b in zip(masses, exact, drawn, strict=True)))
    ellipses = [spread.row_ellipses(), spread.column_ellipses()]
    inside = np.concatenate([lie_inside(e, a * signs - b) for e, a, b in zip(ellipses, exact, drawn, strict=True)])
    return {"points": inside.mean(), "warned": bool(warned)}


def lie_inside(ellipses, distance: np.ndarray) -> np.ndarray:
    angle = np.radians(ellipses.angle)
    along = np.cos(angle) * distance[:, 0] + np.sin(angle) * distance[:, 1]
    across = np.cos(angle) * distance[:, 1] - np.sin(angle) * distance[:, 0]
    return (2 * along / ellipses.width) ** 2 + (2 * across / ellipses.height) ** 2 <= 1


def make_tasks() -> list[Task]:
    tasks = [
        Task(NAME, name, label, partial(measure, name), REPLICATIONS, quick)
        for name in DESIGNS
        for label, measure, quick in (
            (f"HeldOut, {HELD_OUT} pairs", measure_held_out, 3),
            (f"CrossFit, {CROSS_FITTED} pairs", measure_cross_fit, 2),
            (f"pic_intervals, {RESAMPLED} pairs", measure_pic_intervals, 1),
        )
        if name not in ONLY_RESAMPLED or measure is measure_pic_intervals
    ]
    return tasks + [Task(NAME, name, "CA.bootstrap", partial(measure_ellipses, name), 150, 1) for name in TABLES]


def judge(results: Results) -> list[Line]:
    return [line for design, method in results.records for line in judge_method(results, design, method)]


def judge_method(results: Results, design: str, method: str) -> list[Line]:
    figures = results.figures(design, method)
    if not figures:
        return [results.line(design, method, "", np.nan, (np.nan, np.nan), 0, "no error", MISSED)]
    warned = figures.pop("warned")
    lines = [judge_figure(results, design, method, name, values, warned) for name, values in figures.items()]
    if warned.any():
        ends = share_interval(warned)
        lines.append(results.line(design, method, "warned", float(warned.mean()), ends, len(warned), "", SHOWN))
    return lines


def judge_figure(results: Results, design, method, figure, values, warned) -> Line:
    """Judge the coverage; for heavy tails and rare labels a warning counts as if the truth were covered."""
    is_hard = design in DESIGNS and DESIGNS[design].is_hard
    bar, text = (HARD, f"{HARD} or warned") if is_hard else (COVERED, str(COVERED))
    judged = np.maximum(values, warned) if is_hard else values
    low, high = share_interval(judged)
    verdict = bar.judge(low, float(judged.mean()), high)
    return results.line(
        design, method, figure, float(values.mean()), share_interval(values), len(values), text, verdict
    )


COVERAGE = Promise(
    NAME,
    "How often an interval at 95 % holds the truth. It must be .91-.98; for heavy tails and rare labels at least "
    ".90 of the data sets must be covered or come with a warning about intervals. The truth of held-out and "
    "cross-fitted values is that of the same functions on 100,000 fresh pairs, that of PICs is exact, and that of "
    "ellipses is the point of the population table, on the axes as drawn.",
    make_tasks,
    judge,
)
