"""From records to lines of a table: a figure, its interval, the bar, and whether it is met."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np
from scipy.stats import binomtest, norm

from promises.ledger import Task

MET, WITHIN_ERROR, MISSED, SHOWN = "met", "within error", "missed", "shown"
LEVEL = 0.95  # of the intervals of all figures


@dataclass(frozen=True)
class Bar:
    """Range in which a figure must lie."""

    low: float = -np.inf
    high: float = np.inf

    def judge(self, low: float, value: float, high: float) -> str:
        """Tell whether the value lies in the range or, if not, whether its interval reaches it."""
        if self.low <= value <= self.high:
            return MET
        return WITHIN_ERROR if low <= self.high and high >= self.low else MISSED

    def __str__(self) -> str:
        if self.low == -np.inf:
            return f"<= {show_number(self.high)}"
        if self.high == np.inf:
            return f">= {show_number(self.low)}"
        return f"{show_number(self.low)}-{show_number(self.high)}"


def show_number(value: float) -> str:
    """Write three digits as statisticians write shares (.052), fewer for larger numbers."""
    if not np.isfinite(value):
        return str(value)
    if abs(value) >= 10:
        return f"{value:.0f}"
    digits = 2 if abs(value) >= 1 or round(value, 2) == round(value, 4) else 3
    text = f"{value:.{digits}f}"
    return text.replace("0.", ".", 1) if abs(float(text)) < 1 else text


@dataclass(frozen=True)
class Line:
    """One line of the table; `bar` and the ends of the interval may be empty."""

    promise: str
    design: str
    method: str
    figure: str
    value: float
    low: float
    high: float
    n: int
    load: float
    bar: str
    verdict: str
    errors: int = 0

    @property
    def shown(self) -> str:
        if np.isnan(self.low):
            return show_number(self.value)
        return f"{show_number(self.value)} [{show_number(self.low)}, {show_number(self.high)}]"


@dataclass(frozen=True, eq=False)
class Results:
    """Records of one promise by design and method, in the order of its tasks."""

    promise: str
    records: dict[tuple[str, str], list[dict]]
    baseline: dict = field(default_factory=dict)

    @property
    def designs(self) -> list[str]:
        return list(dict.fromkeys(design for design, _ in self.records))

    def methods(self, design: str) -> list[str]:
        return [method for other, method in self.records if other == design]

    def figures(self, design: str, method: str) -> dict[str, np.ndarray]:
        """Return the values of each figure over the data sets."""
        good = [record["figures"] for record in self.records[design, method] if "figures" in record]
        names = dict.fromkeys(name for figures in good for name in figures)
        return {name: np.array([figures[name] for figures in good if name in figures]) for name in names}

    def errors(self, design: str, method: str) -> int:
        return sum("error" in record for record in self.records[design, method])

    def load(self, design: str, method: str) -> float:
        return float(np.mean([record["load"] for record in self.records[design, method]]))

    def line(
        self, design: str, method: str, figure: str, value: float, ends: tuple[float, float], n: int, bar: str, met: str
    ) -> Line:
        """Make a line of this promise, with what all lines have in common; a promise with an error is never met."""
        errors = self.errors(design, method)
        verdict = MISSED if errors and met in (MET, WITHIN_ERROR) else met
        load = self.load(design, method)
        return Line(self.promise, design, method, figure, value, *ends, n, load, bar, verdict, errors)


def collect_results(promise: str, tasks: Iterable[Task], records: Iterable[dict], baseline: dict) -> Results:
    """Collect the records of a promise; a method without any is left out."""
    found: dict[tuple[str, str], list[dict]] = {(task.design, task.method): [] for task in tasks}
    for record in sorted(records, key=lambda record: record["seed"]):
        if record["promise"] == promise and (record["design"], record["method"]) in found:
            found[record["design"], record["method"]].append(record)
    return Results(promise, {key: values for key, values in found.items() if values}, baseline)


def share_interval(values: np.ndarray) -> tuple[float, float]:
    """Return an exact binomial interval for a share of data sets; for mean shares within them, a large-sample one."""
    if not len(values):
        return np.nan, np.nan
    if np.isin(values, (0, 1)).all():
        interval = binomtest(int(values.sum()), len(values)).proportion_ci(LEVEL)
        return float(interval.low), float(interval.high)
    half = norm.ppf((1 + LEVEL) / 2) * values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.inf
    return float(max(0, values.mean() - half)), float(min(1, values.mean() + half))


def judge_shares(results: Results, bar_of: Callable[[str, str, str], Bar | None]) -> list[Line]:
    """Make a line for each figure that is a share of data sets; `bar_of` takes design, method and figure."""
    return [line for design, method in results.records for line in _share_lines(results, design, method, bar_of)]


def _share_lines(results: Results, design: str, method: str, bar_of: Callable) -> list[Line]:
    figures = results.figures(design, method)
    if not figures:  # every data set ended with an error
        return [results.line(design, method, "", np.nan, (np.nan, np.nan), 0, "no error", MISSED)]
    lines = []
    for figure, values in figures.items():
        bar, ends, value = bar_of(design, method, figure), share_interval(values), float(values.mean())
        verdict = SHOWN if bar is None else bar.judge(ends[0], value, ends[1])
        text = "" if bar is None else str(bar)
        lines.append(results.line(design, method, figure, value, ends, len(values), text, verdict))
    return lines


@dataclass(frozen=True)
class Promise:
    """What is promised, how it is measured, and how the measurements are judged."""

    name: str
    text: str
    make_tasks: Callable[[], list[Task]]
    judge: Callable[[Results], list[Line]]
