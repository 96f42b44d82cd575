"""Real, messy tables: is the raw frame in our hands worth as much as in those of skrub, an imputer and a CCA?

    python benchmarks/messy.py --data FOLDER                      # the five tables, about ten minutes on two cores
    python benchmarks/messy.py --data FOLDER --fresh              # and those on which nothing was tuned
    python benchmarks/messy.py --data FOLDER --only movies --quick
    python benchmarks/messy.py --data FOLDER --fresh --page docs/messy.md

`messy_tables` says what the tables are and how FOLDER is filled. Everybody gets the same CSV file, the same folds (all
that is fitted, preparation included, is fitted to the other folds) and the same number of components:

- ours: `co.decompose(X, Y)` of the raw frame, with its own choice of the method;
- the peers: skrub's `TableVectorizer` and scikit-learn's `SimpleImputer` (one-hot columns for labels of Y), and then
  our own linear CCA, our ACE, and beliefs of a logistic regression if Y has labels; and the CCA behind what skrub
  itself puts before linear models (`tabular_pipeline`: indicators of missing values, squashed numbers);
- `correspondence analyze FILE --y ...`, as a user would call it: rows, seconds.

Rows in which all of Y is missing are left out for everybody, before anything else. `captured` and the first
correlation are those of `evaluate`, means over the folds; a label that was not in the fit has the value 0. As
components that are noise cost a method what the others have captured, each is shown with its own best number of them,
which is found on the held-out rows: a favour to all.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from messy_tables import FRESH_TABLES, TABLES, MessyTable
from promises.tables import put_into_page
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from skrub import TableVectorizer, tabular_pipeline

import correspondence as co
from correspondence.core.scoring import score_pairs

QUICK_ROWS = 600  # rows of each table with --quick
MAX_ANALYZE_SECONDS = 900  # after which a command counts as hanging
BEGIN, END = "<!-- messy: begin -->", "<!-- messy: end -->"

Functions = Callable[[Any], np.ndarray]


@dataclass(frozen=True)
class FittedPair:
    """Two functions of raw values, and the decomposition they come from."""

    f: Functions
    g: Functions
    d: co.Decomposition

    def evaluate(self, X: pd.DataFrame, Y: Any, n_components: int) -> tuple[list[float], float]:
        """Compute what the first 1, 2, ... components capture of other rows, and the first correlation."""
        F, G = np.nan_to_num(self.f(X)), np.nan_to_num(self.g(Y))
        sizes = [min(k, self.d.n_components) for k in range(1, n_components + 1)]
        scores = [score_pairs(F[:, :k], G[:, :k], self.d.correlations[:k]) for k in sizes]
        return [score.captured for score in scores], scores[0].correlations[0]


@dataclass
class Score:
    """What a method reached on one table, or why it did not."""

    captured: list[list[float]] = field(default_factory=list)
    """For each fold, what the first 1, 2, ... components capture."""
    first: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    origins: list[str] = field(default_factory=list)
    error: str = ""

    @property
    def text(self) -> str:
        """Captured by the best number of components, that number, and the first correlation."""
        if self.error:
            return "error"
        captured = np.mean(self.captured, axis=0)
        k = int(captured.argmax())
        return f"{captured[k]:.3f} by {k + 1} ({np.mean(self.first):.3f})"

    @property
    def seconds_text(self) -> str:
        """Mean wall time of a fit to the training folds."""
        return "-" if self.error else f"{np.mean(self.seconds):.1f}"


# --- ours


def fit_ours(table: MessyTable, X: pd.DataFrame, Y: Any) -> FittedPair:
    """Give the raw frame to `decompose`."""
    d = co.decompose(X, Y, table.n_components, verbose=False, progress=False)
    return FittedPair(d.f.accept_unknown(), d.g.accept_unknown(), d)


# --- peers


def make_vectoriser() -> Any:
    """Make skrub's default encoder, and fill what it leaves missing."""
    return make_pipeline(TableVectorizer(), SimpleImputer(keep_empty_features=True))


def make_linear_vectoriser() -> Any:
    """Make what skrub itself puts before a linear model: indicators, periods as splines, and squashed numbers."""
    return make_pipeline(*(step for _, step in tabular_pipeline(Ridge()).steps[:-1]))


def make_y_vectoriser(table: MessyTable) -> Any:
    """Make one column for each label, or encode numbers as those of X."""
    if table.has_labels:
        return OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return make_vectoriser()


def fit_peer_cca(table: MessyTable, X: pd.DataFrame, Y: Any, make_x: Callable[[], Any] = make_vectoriser) -> FittedPair:
    """Vectorise both sides, and fit a linear CCA to the numbers."""
    x_encoder, y_encoder = make_x().fit(X), make_y_vectoriser(table).fit(pd.DataFrame(Y))
    numbers = [np.asarray(encoder.transform(pd.DataFrame(V))) for encoder, V in ((x_encoder, X), (y_encoder, Y))]
    d = co.CCA(n_components=table.n_components).fit(*numbers).decomposition_
    return FittedPair(
        lambda V: d.f(np.asarray(x_encoder.transform(V))),
        lambda V: d.g(np.asarray(y_encoder.transform(pd.DataFrame(V)))),
        d,
    )


def fit_peer_method(table: MessyTable, X: pd.DataFrame, Y: Any, method: str) -> FittedPair:
    """Vectorise X (and Y, unless it has labels), and fit one of our other methods to the numbers."""
    encoder = make_vectoriser().fit(X)
    numbers = np.asarray(encoder.transform(X))
    if table.has_labels:
        d = co.decompose(numbers, Y.astype(str).to_numpy(object), table.n_components, method, verbose=False)
        g = d.g.accept_unknown()
        return FittedPair(
            lambda V: d.f(np.asarray(encoder.transform(V))), lambda V: g(V.astype(str).to_numpy(object)), d
        )
    y_encoder = make_vectoriser().fit(Y)
    d = co.decompose(numbers, np.asarray(y_encoder.transform(Y)), table.n_components, method, verbose=False)
    return FittedPair(
        lambda V: d.f(np.asarray(encoder.transform(V))), lambda V: d.g(np.asarray(y_encoder.transform(V))), d
    )


def list_methods(table: MessyTable) -> dict[str, Callable[..., FittedPair]]:
    """List ours and the peers by name."""
    methods: dict[str, Callable[..., FittedPair]] = {"ours": fit_ours, "skrub + CCA": fit_peer_cca}
    methods["skrub linear + CCA"] = lambda *pairs: fit_peer_cca(*pairs, make_linear_vectoriser)
    methods["skrub + ACE"] = lambda *pairs: fit_peer_method(*pairs, "ace")
    if table.has_labels:
        methods["skrub + logistic"] = lambda *pairs: fit_peer_method(*pairs, "logistic")
    return methods


# --- judging


def read_pairs(path: Path, table: MessyTable, n_rows: int | None) -> tuple[pd.DataFrame, Any, int]:
    """Read both sides of the rows that have a Y, and count the rows of the file."""
    frame = pd.read_csv(path)
    n, y = len(frame), list(table.y)
    frame = frame.dropna(subset=y, how="all").reset_index(drop=True)
    if n_rows:
        frame = frame.sample(min(n_rows, len(frame)), random_state=0).reset_index(drop=True)
    return frame.drop(columns=y), frame[y[0]] if len(y) == 1 else frame[y], n


def judge_method(
    fit: Callable[..., FittedPair], table: MessyTable, X: pd.DataFrame, Y: Any, options: argparse.Namespace
) -> Score:
    """Fit to all folds but one and evaluate on that one, for each fold."""
    score = Score()
    for train, test in KFold(options.folds, shuffle=True, random_state=0).split(X):
        try:
            start = time.perf_counter()
            fitted = fit(table, X.iloc[train].reset_index(drop=True), Y.iloc[train].reset_index(drop=True))
            score.seconds.append(time.perf_counter() - start)
            pairs = X.iloc[test].reset_index(drop=True), Y.iloc[test].reset_index(drop=True)
            captured, first = fitted.evaluate(*pairs, table.n_components)
        except Exception as error:  # the result of a benchmark that is run before the code can do it, too
            if options.traceback:
                traceback.print_exc()
            return replace(score, error=f"{type(error).__name__}: {error}")
        score.captured.append(captured)
        score.first.append(first)
        score.origins.append(fitted.d.origin or "")
    return score


@dataclass(frozen=True)
class Analysis:
    """What the command did with the file."""

    seconds: float
    cpu_seconds: float
    summary: dict[str, Any]
    error: str = ""

    @property
    def rows_text(self) -> str:
        return "error" if self.error else f"{self.summary['n']:,}"

    @property
    def seconds_text(self) -> str:
        return f"{self.seconds:.0f} ({self.cpu_seconds:.0f} CPU)"


def run_analyze(path: Path, table: MessyTable, folder: Path) -> Analysis:
    """Run `correspondence analyze` as a user would, and time it from start to end."""
    names = ",".join(f'"{name}"' if "," in name else name for name in table.y)
    command = [sys.executable, "-m", "correspondence", "analyze", str(path), "--y", names]
    command += ["-o", str(folder / f"{table.name}-analysis"), "--json"]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=MAX_ANALYZE_SECONDS)
    except subprocess.TimeoutExpired:
        return Analysis(MAX_ANALYZE_SECONDS, np.nan, {}, "not done in time")
    seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if done.returncode:
        return Analysis(seconds, cpu, {}, done.stderr.strip().splitlines()[-1])
    return Analysis(seconds, cpu, json.loads(done.stdout))


@dataclass(frozen=True)
class Result:
    """Everything that was measured on one table."""

    table: MessyTable
    n_rows: int
    n_judged: int
    n_columns: int
    scores: dict[str, Score]
    analysis: Analysis | None
    load: float


def measure_table(table: MessyTable, options: argparse.Namespace, folder: Path) -> Result:
    """Measure all methods and the command on one table, and print what comes out."""
    path = table.write_csv(folder, options.data)
    X, Y, n_rows = read_pairs(path, table, QUICK_ROWS if options.quick else None)
    print(f"\n{table.name}: {n_rows:,} rows, {len(X):,} with a Y, {X.shape[1]} columns of X", flush=True)
    scores = {}
    for name, fit in list_methods(table).items():
        if options.methods and name not in options.methods:
            continue
        scores[name] = score = judge_method(fit, table, X, Y, options)
        print(f"  {name:18s} {score.text:18s} {score.seconds_text:>6s} s  {score.error}", flush=True)
        for origin in score.origins if name == "ours" else ():
            print(f"      {origin}", flush=True)
    analysis = None if options.no_analyze else run_analyze(path, table, folder)
    if analysis:
        method = analysis.error or f"{analysis.summary['method']}: {analysis.summary['reason']}"
        print(f"  analyze: {analysis.rows_text} rows, {analysis.seconds_text} s; {method}", flush=True)
    return Result(table, n_rows, len(X), X.shape[1], scores, analysis, os.getloadavg()[0])


# --- tables


def format_results(results: list[Result], options: argparse.Namespace) -> str:
    """Format all results as Markdown."""
    names = list(dict.fromkeys(name for result in results for name in result.scores))
    fresh = {table.name for table in FRESH_TABLES}
    head = ["table", "rows", "with Y", "used by analyze", "columns", *names, "analyze, s", "load"]
    lines = [" | ".join(head), " | ".join(["---"] * len(head))]
    for r in results:
        cells = [f"{r.table.name}{' (fresh)' if r.table.name in fresh else ''}", f"{r.n_rows:,}", f"{r.n_judged:,}"]
        cells += [r.analysis.rows_text if r.analysis else "-", str(r.n_columns)]
        for name in names:
            score = r.scores.get(name)
            cells.append(f"{score.text}, {score.seconds_text} s" if score else "-")
        cells += [r.analysis.seconds_text if r.analysis else "-", f"{r.load:.1f}"]
        lines.append(" | ".join(cells))
    about = [f"- {r.table.name}: {r.table.source}; Y is {', '.join(r.table.y)}; {r.table.messy}." for r in results]
    words = ["FOLDER" if word == str(options.data) else word for word in sys.argv[1:] if word != "--keep"]
    command = f"`python benchmarks/messy.py {' '.join(word for word in words if word != str(options.keep))}`"
    note = f"{command}: {options.folds} folds, {os.cpu_count()} cores ({platform.machine()}, Python "
    note += f"{platform.python_version()}). A cell is what is captured by how many components"
    note += " (first correlation), and the seconds of one fit."
    return "\n".join([note, "", *(f"| {line} |" for line in lines), "", *about, ""])


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("."), help="folder of the tarball of npm")
    parser.add_argument("--only", default="", help="tables whose name contains this")
    parser.add_argument("--fresh", action="store_true", help="also the tables on which nothing was tuned")
    parser.add_argument("--methods", nargs="*", help='such as ours "skrub + CCA"')
    parser.add_argument("--quick", action="store_true", help=f"at most {QUICK_ROWS} rows (analyze takes all)")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--no-analyze", action="store_true", help="without the command")
    parser.add_argument("--keep", type=Path, help="folder for the CSV files and what analyze writes")
    parser.add_argument("--traceback", action="store_true", help="show where errors come from")
    parser.add_argument("--page", type=Path, help="page whose table is replaced")
    return parser.parse_args()


def main() -> None:
    options = parse_options()
    warnings.simplefilter("ignore")
    tables = [table for table in TABLES + FRESH_TABLES * options.fresh if options.only in table.name]
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        text = format_results([measure_table(table, options, folder) for table in tables], options)
    print(f"\n{text}")
    if options.page:
        put_into_page(options.page, text, BEGIN, END)


if __name__ == "__main__":
    main()
