"""All columns of a file in one analysis, when no y is named: a survey, a table of customers, measurements."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from correspondence._util.files import csv_text
from correspondence._util.text import list_names, to_valid_text
from correspondence.app.analyze.clusters import FileClusters
from correspondence.app.analyze.files import (
    CLUSTERS_FILE,
    MODEL_FILE,
    REPORT_FILE,
    SUMMARY_FILE,
    SURVEY_FILES,
    SURVEY_FORMAT,
    make_coordinate_columns,
    new_files,
    to_csv,
    to_json,
    to_parquet,
    with_names,
)
from correspondence.app.analyze.inputs import Request
from correspondence.app.analyze.inputs.orders import order_answers, say_orders
from correspondence.app.analyze.inputs.pairs import convert_columns
from correspondence.app.analyze.survey_sentences import write_survey_sentences
from correspondence.app.analyze.variables import (
    find_useful_columns,
    name_empty_texts,
    read_counts,
    select_columns_beside,
)
from correspondence.app.command_line import write_command_line
from correspondence.app.messages import collect_warnings, make_safe
from correspondence.data.file_formats import ARRAY_ENDINGS, as_label_texts, read_file
from correspondence.describe.axes import describe_axes
from correspondence.describe.columns import describe_columns
from correspondence.estimators.many.base import ManyColumnsEstimator
from correspondence.estimators.many.mca import MCA
from correspondence.estimators.many.mixed import MixedCA
from correspondence.page import explore
from correspondence.results.column_table import ColumnFacts
from correspondence.results.score_descriptions import ScoresDescription
from correspondence.selection.time_budget import RACE_SHARE, TEST_SHARE, TimeBudget
from correspondence.validation.crossfit import crossfit
from correspondence.validation.latent_dimension import latent_dimension

__all__ = [
    "SurveyAnalysis",
    "SurveyData",
    "analyze_survey",
    "format_survey",
    "read_survey",
    "write_survey",
]

AXES_FILE, COLUMNS_FILE, DESCRIPTION_FILE, ROWS_FILE, ROWS_CSV_FILE = SURVEY_FILES
KINDS_OF_ANSWERS, KINDS_OF_NUMBERS = ("label", "boolean"), ("number", "date", "time", "duration")
MIN_AXES, MAX_AXES = 2, 10  # axes that are kept, if the user does not say
MAX_ROWS_FOR_CSV = 100_000
HELD_OUT_FOLDS = 5
MAX_CELLS_FOR_ALL_DRAWS, MAX_CELL_DRAWS_PER_SECOND = 100_000, 1e7  # answers and numbers that are permuted
N_DRAWS, N_DRAWS_OF_MANY_CELLS, N_DRAWS_IN_HASTE = 999, 199, 99  # permutations
MIN_ROWS_TO_PERMUTE, MAX_ROWS_TO_PERMUTE = 1000, 20_000  # `latent_dimension` takes no more
MAX_ROWS_TO_DESCRIBE = 50_000  # more are drawn at random for the tests of the axes


@dataclass(frozen=True, eq=False)
class SurveyData:
    """The columns of a file that take part.

    Attributes
    ----------
    frame : polars.DataFrame
        The columns: answers as texts, numbers as they are.
    facts : list of ColumnFacts
        What each column of the file is taken for.
    ids : list
        The name of each row.
    id_name : str
        The name of these ids.
    notes : tuple of str
        Remarks for the user.
    groups : list, optional
        The group of each row, if there are groups.
    counts : ndarray of int, optional
        How often each row was counted; once each by default.
    ordered : dict
        The levels of the columns in order, lowest first.
    beside : frame, optional
        Columns that take no part, by which the rows can be coloured.
    """

    frame: Any
    facts: list[ColumnFacts]
    ids: list[Any]
    id_name: str
    notes: tuple[str, ...]
    groups: list[Any] | None = None
    counts: np.ndarray | None = None
    ordered: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    beside: Any = None

    @property
    def counted_frame(self) -> Any:
        """The rows, each as often as it was counted."""
        return self.frame if self.counts is None else self.frame[np.repeat(np.arange(len(self.ids)), self.counts)]

    @property
    def n_counted(self) -> int:
        """The number of rows, each as often as it was counted."""
        return len(self.ids) if self.counts is None else int(self.counts.sum())

    @property
    def lines(self) -> list[str]:
        """What was found, one line each."""
        kinds = {
            "answers": [fact.column for fact in self.facts if fact.kind in KINDS_OF_ANSWERS and fact.is_used],
            "numbers": [fact.column for fact in self.facts if fact.kind in KINDS_OF_NUMBERS and fact.is_used],
        }
        used = [
            f"{len(names)} column{'' if len(names) == 1 else 's'} of {what}: {list_names(names, 8)}"
            for what, names in kinds.items()
            if names
        ]
        return [*used, *self.notes]

    @property
    def has_numbers(self) -> bool:
        """Whether there are numbers among the columns."""
        return any(fact.kind in KINDS_OF_NUMBERS and fact.is_used for fact in self.facts)


@dataclass(frozen=True, eq=False)
class SurveyAnalysis:
    """What was found in a survey.

    Attributes
    ----------
    data : SurveyData
        The columns.
    est : ManyColumnsEstimator
        The fitted analysis.
    held_out : ColumnsHeldOut or None
        How much of each column the others predict on held-out rows.
    dimension : LatentDimension or None
        How many axes are more than chance.
    described : ScoresDescription
        The tests of all columns with each axis, on held-out rows too.
    sentences : list of str
        The result as a colleague would put it.
    notes : tuple of str
        The warnings.
    seconds : float
        The time that it took.
    clusters : FileClusters or None
        The clusters of the rows, if they were asked for.
    """

    data: SurveyData
    est: ManyColumnsEstimator
    held_out: Any
    dimension: Any
    described: ScoresDescription
    sentences: list[str]
    notes: tuple[str, ...]
    seconds: float
    clusters: FileClusters | None = None


def read_survey(request: Request) -> SurveyData | None:
    """Read all columns of a file, if neither x nor y is named and there are more than two that can be used.

    Parameters
    ----------
    request : Request
        The options of the command line.

    Returns
    -------
    SurveyData or None
        None if the request is for pairs, a table of counts, images or beliefs.
    """
    is_other = request.table or request.beliefs or request.images is not None
    if is_other or request.y or request.file.suffix.lower() in ARRAY_ENDINGS:
        return None
    file = read_file(request.file, request.readings)
    frame = nw.from_native(file.frame)
    request.check_columns(frame.columns, request.file)
    others = [name for name in frame.columns if name not in request.other_columns]
    useful, notes, unused = find_useful_columns(frame, others)
    if request.x:  # y is the only other column, unless there are several or none
        is_survey = len(request.x) > 1 and sum(name not in request.x for name in useful) != 1
        useful, notes, unused = (list(request.x) if is_survey else []), (), ()
    if len(useful) <= (1 if request.x else 2):
        return None
    complete = request.find_rows(frame, useful)
    rows = name_empty_texts(convert_columns(frame.filter(complete.tolist()), request))
    facts = list(describe_columns(rows.select(useful).to_native()).facts)
    left_out = {fact.column: fact.kind for fact in facts if fact.kind not in KINDS_OF_ANSWERS + KINDS_OF_NUMBERS}
    remarks = [f"Not used: {name}, which is of the kind {kind!r}." for name, kind in left_out.items()]
    dates = [fact.column for fact in facts if fact.kind == "date"]
    if dates:
        remarks.append(f"Dates are taken as days: {list_names(dates, 5)}.")
    answers = [fact.column for fact in facts if fact.kind in KINDS_OF_ANSWERS and fact.is_used]
    used = [fact.column for fact in facts if fact.column not in left_out and fact.is_used]
    facts = [*(replace(fact, is_used=fact.column in used) for fact in facts), *unused]
    n_missing = int((~complete).sum())
    if n_missing:
        remarks.append(f"{n_missing:,} of {len(frame):,} rows are left out: they have missing values.")
    ids = request.choose_ids(rows, (np.flatnonzero(complete) + 1).tolist())
    chosen = as_label_texts(rows.select(used), [name for name in answers if name not in request.ordered]).to_native()
    ordered = order_answers(rows, request, used, facts)
    all_notes = (*file.list_notes(used), *notes, *remarks, *say_orders(ordered))
    groups = rows[request.groups].to_list() if request.groups is not None else None
    weights = None if request.weights is None else read_counts(rows, request.weights)
    beside = select_columns_beside(rows, [*used, request.id])
    return SurveyData(chosen, facts, ids, request.id or "row", all_notes, groups, weights, ordered, beside)


def analyze_survey(
    data: SurveyData,
    n_components: int | None = None,
    random_state: int = 0,
    progress: Any = None,
    time_limit: TimeBudget | float | None = None,
) -> SurveyAnalysis:
    """Analyse all columns together.

    Parameters
    ----------
    data : SurveyData
        The columns.
    n_components : int, optional
        The number of axes; by default those that are more than chance, at least 2 and at most 10.
    random_state : int
        The seed of folds and permutations.
    progress : StageLine, optional
        The line that tells the stages.
    time_limit : TimeBudget or float, optional
        With little time there are fewer permutations, and what does not end in time is left out with a note.

    Returns
    -------
    SurveyAnalysis
        The axes, and how far they hold.
    """
    begin, budget = time.perf_counter(), TimeBudget.from_limit(time_limit)
    make = MixedCA if data.has_numbers else MCA
    options: dict[str, Any] = {"random_state": random_state}
    if data.groups is not None:
        options["groups"] = data.groups
    if data.counts is not None:  # rows that were counted together are no copies
        options["groups"] = None
    with collect_warnings() as notes:
        if progress is not None:
            progress.tell("testing how many axes are more than chance")
        n_draws = choose_draws(data, budget)
        rows = draw_rows_to_permute(data, n_draws, budget, random_state)
        dimension = budget.attempt(
            "The test of how many axes are more than chance",
            TEST_SHARE,
            lambda: latent_dimension(make(MAX_AXES), rows, n_permutations=n_draws, **options),
            None,
        )
        n_found = 0 if dimension is None else dimension.n_components
        d = n_components or min(max(MIN_AXES, n_found), MAX_AXES)
        if progress is not None:
            progress.tell("predicting each column from the others")
        est = make(d).fit(data.frame, sample_weight=data.counts)
        if n_components is not None and len(est.pics_) < n_components:
            raise ValueError(
                f"--components {n_components} is too many: there can be at most {len(est.pics_)} of these columns."
            )
        held_out = budget.attempt(
            "The prediction of columns on held-out rows",
            RACE_SHARE,
            lambda: crossfit(make(len(est.pics_)), data.counted_frame, **options),
            None,
        )
        described = describe_axes(
            est,
            draw_rows_to_describe(data, random_state),
            held_out=min(HELD_OUT_FOLDS, data.n_counted),
            axes=range(1, len(est.pics_) + 1),
            random_state=random_state,
        )
    sentences = write_survey_sentences(est, dimension, held_out, described)
    unique = tuple(dict.fromkeys([*notes, *budget.notes]))
    return SurveyAnalysis(data, est, held_out, dimension, described, sentences, unique, time.perf_counter() - begin)


def choose_draws(data: SurveyData, budget: TimeBudget) -> int:
    """Choose the number of permutations: fewer of large tables, and if there is little time."""
    n_cells = min(data.n_counted, MAX_ROWS_TO_PERMUTE) * len(data.frame.columns)
    n_draws = N_DRAWS if n_cells <= MAX_CELLS_FOR_ALL_DRAWS else N_DRAWS_OF_MANY_CELLS
    n_affordable = MAX_CELL_DRAWS_PER_SECOND * TEST_SHARE * budget.left / (MAX_AXES * n_cells)
    return n_draws if n_draws <= n_affordable else N_DRAWS_IN_HASTE


def draw_rows_to_permute(data: SurveyData, n_draws: int, budget: TimeBudget, random_state: int) -> Any:
    """Return the counted rows, or as many of them as can be permuted so often in the time that is left."""
    cost = MAX_AXES * n_draws * len(data.frame.columns) / MAX_CELL_DRAWS_PER_SECOND  # seconds for each row
    most, n = max(MIN_ROWS_TO_PERMUTE, TEST_SHARE * budget.left / cost), data.n_counted
    if min(n, MAX_ROWS_TO_PERMUTE) <= most or data.groups is not None:
        return data.counted_frame
    budget.notes.append(f"The number of axes was tested on {int(most):,} of {n:,} rows, to save time.")
    return data.counted_frame[np.sort(np.random.default_rng(random_state).permutation(n)[: int(most)])]


def draw_rows_to_describe(data: SurveyData, random_state: int) -> Any:
    """Draw rows for the tests of the axes if there are very many; None for all rows of the fit."""
    if data.n_counted <= MAX_ROWS_TO_DESCRIBE:
        return None if data.counts is None else data.counted_frame
    share = None if data.counts is None else data.counts / data.counts.sum()
    rng = np.random.default_rng(random_state)
    rows = rng.choice(len(data.ids), MAX_ROWS_TO_DESCRIBE, replace=data.counts is not None, p=share)
    return data.frame[np.sort(rows)]


def write_survey(analysis: SurveyAnalysis, request: Request, folder: Path, title: str, seed: int) -> dict[str, Any]:
    """Write all files, and return the summary.

    Parameters
    ----------
    analysis : SurveyAnalysis
        The result to write.
    request : Request
        The request that led to it.
    folder : Path
        Write to this folder, which is made if it does not exist.
    title : str
        The heading of the page.
    seed : int
        The seed that was used.
    """
    est, data = analysis.est, analysis.data
    rows = with_names({data.id_name: data.ids}, make_coordinate_columns(est.rows_.principal, "z"))
    files = [REPORT_FILE, AXES_FILE, COLUMNS_FILE, DESCRIPTION_FILE, ROWS_FILE, MODEL_FILE, SUMMARY_FILE]
    if len(data.ids) <= MAX_ROWS_FOR_CSV:
        files.insert(5, ROWS_CSV_FILE)
    clusters = analysis.clusters
    if clusters is not None:
        rows["cluster"] = clusters.numbers
        files.append(CLUSTERS_FILE)
    content = summarise_survey(analysis, request, folder, title, seed, files)
    with new_files(folder) as temporary:
        about = [*analysis.sentences, *data.notes]
        report = temporary / REPORT_FILE
        known: dict[str, Any] = {"held_out": analysis.dimension, "groups": clusters, "title": title, "about": about}
        explore(est, path=report, command=write_command_line(), data=data.beside, **known)
        if clusters is not None:
            (temporary / CLUSTERS_FILE).write_text(to_csv(clusters.table), encoding="utf-8")
        axes = content["axes"]
        (temporary / AXES_FILE).write_text(
            csv_text([list(axes[0]), *(a.values() for a in axes)], floats=".10g"), "utf-8"
        )
        columns = list_column_points(est)
        (temporary / COLUMNS_FILE).write_text(to_csv(columns), encoding="utf-8")
        described = analysis.described.to_frame("polars").to_dict(as_series=False)
        (temporary / DESCRIPTION_FILE).write_text(to_csv(described), encoding="utf-8")
        to_parquet(rows, temporary / ROWS_FILE)
        if ROWS_CSV_FILE in files:
            (temporary / ROWS_CSV_FILE).write_text(to_csv(rows), encoding="utf-8")
        est.decomposition_.save(temporary / MODEL_FILE)
        (temporary / SUMMARY_FILE).write_text(to_json(content) + "\n", encoding="utf-8")
    return content


def list_column_points(est: ManyColumnsEstimator) -> dict[str, list[Any]]:
    """List answers and numbers with coordinates, contributions and qualities."""
    columns: Any = est.columns_
    numbers = getattr(est, "numbers_", None)
    parts: list[tuple[str, Any, Any]] = [("answer", columns, columns.principal)]
    if numbers is not None and len(numbers):
        parts.append(("number", numbers, numbers.correlations))
    table: dict[str, list[Any]] = {"label": [], "kind": []}
    for kind, part, coordinates in parts:
        table["label"] += [str(label) for label in part.labels]
        table["kind"] += [kind] * len(part.labels)
        for name, values in (("coordinate", coordinates), ("contribution", part.contributions), ("cos2", part.cos2)):
            for i, column in enumerate(values.T):
                table.setdefault(f"{name}_{i + 1}", []).extend(column.tolist())
    return table


def summarise_survey(
    analysis: SurveyAnalysis, request: Request, folder: Path, title: str, seed: int, files: list[str]
) -> dict[str, Any]:
    """Return everything that is said, as plain values."""
    est, data, held_out = analysis.est, analysis.data, analysis.held_out
    dimension = analysis.dimension
    pvalues = [] if dimension is None else dimension.pvalues
    predicted = [] if held_out is None else zip(held_out.names, held_out.r2[:, -1], strict=True)
    return {
        "format": SURVEY_FORMAT,
        "title": title,
        "file": to_valid_text(request.file),
        "folder": to_valid_text(folder.resolve()),
        "files": files,
        "form": "columns",
        "method": "mixed" if data.has_numbers else "mca",
        "n": len(data.ids),
        "columns": [asdict(fact) for fact in data.facts],
        "ordered": {name: list(levels) for name, levels in data.ordered.items()},
        "seed": seed,
        "seconds": round(analysis.seconds, 2),
        "significant": None if dimension is None else dimension.n_components,
        "axes": [
            {
                "axis": i + 1,
                "inertia": float(est.inertias_[i]),
                "share": float(est.shares_[i]),
                "pvalue": float(pvalues[i]) if i < len(pvalues) else None,
            }
            for i in range(len(est.pics_))
        ],
        "predicted": [{"column": str(name), "held_out": float(value)} for name, value in predicted],
        "clusters": None if analysis.clusters is None else analysis.clusters.record,
        "sentences": analysis.sentences,
        "notes": [*data.notes, *analysis.notes],
    }


def format_survey(summary: dict[str, Any]) -> str:
    """Format the axes, sentences and paths of the summary of a survey."""
    what = "answers and numbers" if summary["method"] == "mixed" else "answers"
    columns = sum(fact["is_used"] for fact in summary["columns"])
    lines = [
        f"{make_safe(summary['title'])}, {summary['n']:,} rows, {columns} columns of {what}, "
        f"{summary['seconds']:.1f} s.",
        "",
        "axis  inertia   share  p-value",
    ]
    for axis in summary["axes"]:
        pvalue = "" if axis["pvalue"] is None else f"{axis['pvalue']:>9.3f}"
        lines.append(f"{axis['axis']:>4}  {axis['inertia']:>7.4f}  {100 * axis['share']:>4.1f} %{pvalue}".rstrip())
    lines += ["", *(make_safe(sentence) for sentence in summary["sentences"]), ""]
    return "\n".join([*lines, f"Written to {make_safe(summary['folder'])}: {', '.join(summary['files'])}"])
