"""A table of counts that variables of its rows are to explain: read them, fit, test, and write partition and scores."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import narwhals as nw

from correspondence._util.files import csv_text
from correspondence._util.text import list_names, to_valid_text
from correspondence.app.analyze.files import (
    CONSTRAINTS_FILES,
    CONSTRAINTS_FORMAT,
    MODEL_FILE,
    REPORT_FILE,
    SUMMARY_FILE,
    describe_variable,
    new_files,
    to_csv,
    to_json,
)
from correspondence.app.analyze.inputs import Data, Request
from correspondence.app.analyze.job import find_saving_obstacle
from correspondence.app.analyze.variables import name_empty_texts
from correspondence.app.command_line import write_command_line
from correspondence.app.messages import collect_warnings, make_safe
from correspondence.data.file_formats import as_label_texts, check_columns, convert_for_numpy, read_file
from correspondence.describe.constraints import write_constraint_sentences
from correspondence.estimators.ca.estimator import CA
from correspondence.page import explore
from correspondence.results.anova import Anova
from correspondence.results.evidence import CrossFit
from correspondence.selection.time_budget import RACE_SHARE, TEST_SHARE, TimeBudget
from correspondence.validation.crossfit import crossfit

__all__ = [
    "ConstrainedAnalysis",
    "RowFacts",
    "analyze_constraints",
    "format_constrained",
    "read_row_facts",
    "write_constrained",
]

PARTITION_FILE, SCORES_FILE, ANOVA_FILE = CONSTRAINTS_FILES
DISPLAYS = ("sites", "constraints", "species", "bp", "cn", "reg")
N_PERMUTATIONS = 999
N_FOLDS, MIN_ROWS_TO_HOLD_OUT = 5, 10
MAX_AXES_TOLD = 10


@dataclass(frozen=True, eq=False)
class RowFacts:
    """What is known of the rows of a table, from another file.

    Attributes
    ----------
    constraints : frame
        The variables that are to explain the table, below the names of the rows if the file has them.
    given : frame or None
        The variables that are partialled out before.
    groups : frame or None
        The strata within which rows are permuted.
    names, given_names : tuple of str
        The names of the variables.
    notes : tuple of str
        Remarks for the user.
    """

    constraints: Any
    given: Any
    groups: Any
    names: tuple[str, ...]
    given_names: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class ConstrainedAnalysis:
    """What constraints explain of a table.

    Attributes
    ----------
    data : Data
        The table.
    facts : RowFacts
        The constraints and conditions.
    ca : CA
        The fitted analysis.
    tests : list of Anova
        The permutation tests: of all constraints, of each, and of axes.
    held_out : CrossFit or None
        What the constraints predict of rows that are held out.
    sentences, notes : tuple of str
        The result in words, and the warnings.
    seconds : float
        The time that it took.
    not_saved : str
        The reason why the functions cannot be written to a file; empty if they can.
    """

    data: Data
    facts: RowFacts
    ca: CA
    tests: list[Anova]
    held_out: CrossFit | None
    sentences: tuple[str, ...]
    notes: tuple[str, ...]
    seconds: float
    not_saved: str


# --- the variables


def read_row_facts(request: Request, rows: Sequence[Any]) -> RowFacts:
    """Read the file of --constraints.

    Parameters
    ----------
    request : Request
        What is asked for.
    rows : sequence of labels
        The names of the rows of the table.
    """
    assert request.constraints is not None
    path = request.constraints
    file = read_file(path, request.readings)
    frame = convert_for_numpy(name_empty_texts(nw.from_native(file.frame)))
    frame, key, note = find_row_key(frame, [str(row) for row in rows], path)
    groups = [] if request.groups is None else [request.groups]
    known = [name for name in frame.columns if name != key]
    check_columns([*request.given, *request.explained_by, *groups, *request.labels], known, path)
    twice = [name for name in request.explained_by if name in request.given]
    if twice:
        raise ValueError(f"--explained-by and --given must name different columns, got {list_names(twice, 5)} in both.")
    names = list(request.explained_by) or [name for name in known if name not in (*request.given, *groups)]
    if not names:
        raise ValueError(f"--constraints: no column of {path} is left to explain the table. Name fewer in --given.")
    labels = as_label_texts(frame, request.labels)
    frame = labels.with_columns(
        labels[name].cast(nw.Categorical) for name in request.labels
    )  # not read as numbers again

    def select(wanted: Sequence[str]) -> Any:
        return frame.select([*([] if key is None else [key]), *wanted]).to_native() if wanted else None

    notes = (*file.list_notes([*names, *request.given]), *note)
    return RowFacts(select(names), select(request.given), select(groups), tuple(names), tuple(request.given), notes)


def find_row_key(frame: nw.DataFrame, rows: list[str], path: Path) -> tuple[nw.DataFrame, str | None, list[str]]:
    """Find out whether the first column names the rows of the table; otherwise these are taken by their position.

    Its name may be empty, as R writes it; None says that there is no such column.
    """
    first, known = frame.columns[0], set(rows)
    as_texts = as_label_texts(frame, [first])
    labels = as_texts[first].to_list()
    if set(labels) == known and len(labels) == len(known):
        return as_texts, first, []
    is_name = not first.strip() or (frame[first].dtype == nw.String and len(set(labels)) == len(labels))
    shared = known & set(labels)
    if shared and is_name:
        lacking = [row for row in rows if row not in set(labels)]
        extra = [label for label in labels if label not in known]
        troubles = [f"lacks {list_names(lacking, 3)}"] * bool(lacking) + [f"has {list_names(extra, 3)} beside"] * bool(
            extra
        )
        raise ValueError(
            f"--constraints: {path} must have one row for each row of the table, but it "
            f"{' and '.join(troubles) or 'has some more than once'}. Leave the same rows out of both files."
        )
    if is_name and frame[first].dtype == nw.String and not all(row.isdigit() for row in rows):
        raise ValueError(
            f"--constraints: the first column of {path} must name rows of the table, such as {list_names(rows, 2)}, "
            f"got {list_names(labels, 2)}. Name the rows alike, or leave the names out."
        )
    if len(frame) != len(rows):
        raise ValueError(
            f"--constraints: {path} must have one row for each of the {len(rows)} rows of the table, got {len(frame)}."
        )
    note = f"{path.name}: its rows are taken in the order of those of the table, because no first column names them."
    if is_name and len(frame.columns) > 1:
        return frame.select(frame.columns[1:]), None, [f"{note} {first!r} is left out."]
    return frame, None, [note]


# --- the analysis


def analyze_constraints(
    data: Data,
    facts: RowFacts,
    request: Request,
    n_components: int | None = None,
    random_state: int = 0,
    line: Any = None,
    time_limit: TimeBudget | float | None = None,
) -> ConstrainedAnalysis:
    """Measure what the constraints explain of a table, and test it.

    Parameters
    ----------
    data : Data
        The table.
    facts : RowFacts
        The constraints and conditions.
    request : Request
        What is asked for: how missing values are treated, and whether numbers may enter as curves.
    n_components : int, optional
        The number of axes of each kind to keep; by default all.
    random_state : int
        The seed of permutations and folds.
    line : StageLine, optional
        The line that tells the stages.
    time_limit : TimeBudget or float, optional
        With little time there are fewer permutations, and what does not end in time is left out with a note.
    """
    begin, budget = time.perf_counter(), TimeBudget.from_limit(time_limit)
    make = partial(CA, n_components, missing=request.missing, constraints="smooth" if request.smooth else "linear")
    with collect_warnings() as notes:
        if line is not None:
            line.tell("fitting the constraints")
        ca = make().fit(data.table, constraints=facts.constraints, given=facts.given)
        if line is not None:
            line.tell("testing the constraints by permutations")
        tests = test_constraints(ca, facts, random_state, budget)
        held_out = hold_rows_out(make(), data, facts, random_state, budget)
    sentences = tuple(write_constraint_sentences(ca, tests, held_out))
    not_saved = find_saving_obstacle(ca.decomposition_) if len(ca.pics_) else "Without an axis, no model is saved."
    others = [*list_strata_notes(tests), *([not_saved] if not_saved else [])]
    unique = tuple(dict.fromkeys([*notes, *budget.notes, *others]))
    seconds = time.perf_counter() - begin
    return ConstrainedAnalysis(data, facts, ca, tests, held_out, sentences, unique, seconds, not_saved)


def test_constraints(ca: CA, facts: RowFacts, random_state: int, budget: TimeBudget) -> list[Anova]:
    """Test all constraints together, each of several after those before it and after all others, and the axes."""
    kinds = [None, "term", "margin", "axis"] if len(ca.constraint_terms_) > 1 else [None, "axis"]
    tests = []
    for kind in kinds if len(ca.pics_) else []:
        run = partial(
            ca.anova,
            kind,
            budget.limit_draws(N_PERMUTATIONS),
            groups=facts.groups,
            random_state=random_state,
            progress=False,
        )
        test = budget.attempt(f"The test of {'all constraints' if kind is None else kind}", TEST_SHARE, run, None)
        tests += [] if test is None else [test]
    return tests


def list_strata_notes(tests: Sequence[Anova]) -> list[str]:
    """Say how many strata have a single row, which no permutation moves."""
    sizes: list[int] = next((test.stratum_sizes.tolist() for test in tests if test.stratum_sizes is not None), [])
    if not (alone := sizes.count(1)):
        return []
    return [f"--groups: {alone} of {len(sizes)} strata have one row, which stays where it is in all permutations."]


def hold_rows_out(est: CA, data: Data, facts: RowFacts, random_state: int, budget: TimeBudget) -> CrossFit | None:
    """Predict rows from constraints with fits to the others, if there are enough rows."""
    assert data.table is not None
    if data.table.shape[0] < MIN_ROWS_TO_HOLD_OUT:
        return None
    options: dict[str, Any] = {"constraints": facts.constraints, "given": facts.given, "progress": False}
    run = partial(crossfit, est, data.table, cv=N_FOLDS, random_state=random_state, **options)
    return budget.attempt("The prediction of rows that are held out", RACE_SHARE, run, None)


# --- what is written


def write_constrained(
    found: ConstrainedAnalysis, request: Request, folder: Path, title: str, seed: int
) -> dict[str, Any]:
    """Write all files, and return the summary.

    Parameters
    ----------
    found : ConstrainedAnalysis
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
    ca, content = found.ca, summarise_constrained(found, request, folder, title, seed)
    about = [*found.sentences, *found.facts.notes, *found.notes]
    with new_files(folder) as temporary:
        names = found.data.x.name, found.data.y.name
        report = temporary / REPORT_FILE
        known: dict[str, Any] = {
            "held_out": found.held_out,
            "tests": found.tests,
            "names": names,
            "title": title,
            "about": about,
        }
        explore(ca, path=report, command=write_command_line(), **known)
        parts = content["partition"]
        (temporary / PARTITION_FILE).write_text(list_rows_as_csv(parts), encoding="utf-8")
        (temporary / SCORES_FILE).write_text(to_csv(list_scores(ca)), encoding="utf-8")
        (temporary / ANOVA_FILE).write_text(list_rows_as_csv(content["tests"]), encoding="utf-8")
        if not found.not_saved:
            ca.decomposition_.save(temporary / MODEL_FILE)
        (temporary / SUMMARY_FILE).write_text(to_json(content) + "\n", encoding="utf-8")
    return content


def list_rows_as_csv(records: Sequence[dict[str, Any]]) -> str:
    """Return records with the same keys as CSV; of none the file is empty."""
    return csv_text([list(records[0]), *(record.values() for record in records)], floats=".10g") if records else ""


def list_scores(ca: CA) -> dict[str, list[Any]]:
    """List the scores of sites, species and constraints in one table, at vegan's default scaling."""
    columns: dict[str, list[Any]] = {}
    for display in DISPLAYS:
        scores = ca.scores(display)
        columns.setdefault("display", []).extend([display] * len(scores))
        columns.setdefault("label", []).extend(str(label) for label in scores.labels)
        for axis, values in zip(scores.axes, scores.values.T.tolist(), strict=True):
            columns.setdefault(axis, []).extend(values)
    return columns


def list_tests(tests: Sequence[Anova]) -> list[dict[str, Any]]:
    """List the rows of all tests as plain values."""
    return [
        {"test": test.by or "all", **dict(zip(columns, row, strict=True))}
        for test in tests
        for columns in [test._collect_columns()]
        for row in zip(*(values.tolist() for values in columns.values()), strict=True)
    ]


def summarise_constrained(
    found: ConstrainedAnalysis, request: Request, folder: Path, title: str, seed: int
) -> dict[str, Any]:
    """Return everything that is said, as plain values."""
    ca, data, facts = found.ca, found.data, found.facts
    partition, tests = ca.partition_, list_tests(found.tests)
    pvalues = {row["term"]: row for row in tests if row["test"] == "axis"}
    files = [REPORT_FILE, PARTITION_FILE, SCORES_FILE, ANOVA_FILE, MODEL_FILE, SUMMARY_FILE]
    correlations = ca.axis_correlations_.tolist()
    return {
        "format": CONSTRAINTS_FORMAT,
        "title": title,
        "file": to_valid_text(request.file),
        "folder": to_valid_text(folder.resolve()),
        "files": [name for name in files if name != MODEL_FILE or not found.not_saved],
        "form": "table",
        "x": describe_variable(data.x),
        "y": describe_variable(data.y),
        "n": float(ca.table_.total),
        "rows": int(ca.table_.shape[0]),
        "constraints_file": to_valid_text(request.constraints),
        "constraints": list(facts.names),
        "given": list(facts.given_names),
        "strata": request.groups,
        "smooth": dict(getattr(ca, "bends_", {})) if request.smooth else None,
        "seed": seed,
        "seconds": round(found.seconds, 2),
        "partition": [
            {"part": part, "inertia": float(getattr(partition, part)), "share": float(share), "rank": rank}
            for part, share, rank in [
                ("total", 1.0, None),
                *((part, share, partition.ranks[part]) for part, share in partition.shares.items()),
            ]
            if part != "conditioned" or facts.given_names
        ],
        "adjusted_r2": float(ca.adjusted_r2_),
        "axes": [
            {
                "axis": f"CCA{i + 1}",
                "inertia": float(pic),
                "share": float(pic / (partition.total or 1.0)),
                "correlation": correlations[i],
                "pvalue": pvalues.get(f"CCA{i + 1}", {}).get("pvalue"),
                "site_pvalue": pvalues.get(f"CCA{i + 1}", {}).get("site_pvalue"),
            }
            for i, pic in enumerate(ca.pics_.tolist())
        ],
        "tests": tests,
        "captured": None if found.held_out is None else found.held_out.evidence.captured,
        "vif": {str(name): value for name, value in ca.vif_.items()},
        "sentences": list(found.sentences),
        "notes": [*facts.notes, *data.notes, *found.notes],
    }


def format_constrained(summary: dict[str, Any]) -> str:
    """Format partition, axes, sentences and paths of a summary."""
    given = f", given {make_safe(list_names(summary['given'], 6, show=str))}" if summary["given"] else ""
    explained = make_safe(list_names(summary["constraints"], 6, show=str))
    lines = [
        f"{make_safe(summary['title'])}, {summary['rows']:,} rows explained by {explained}{given}, "
        f"{summary['seconds']:.1f} s.",
        "",
        "part           inertia    share",
        *(f"{own['part']:<13}{own['inertia']:>9.4f}  {100 * own['share']:>5.1f} %" for own in summary["partition"]),
        "",
        "axis   inertia    share  correlation  p-value  p of sites",
    ]
    for axis in summary["axes"][:MAX_AXES_TOLD]:
        tested = zip((axis["pvalue"], axis["site_pvalue"]), (9, 12), strict=True)
        pvalues = "".join(f"{value:>{width}.3f}" for value, width in tested if value is not None)
        share = f"{100 * axis['share']:>5.1f} %"
        lines.append(f"{axis['axis']:<6}{axis['inertia']:>8.4f}  {share}{axis['correlation']:>13.4f}{pvalues}")
    if len(summary["axes"]) > MAX_AXES_TOLD:
        lines.append(f"... and {len(summary['axes']) - MAX_AXES_TOLD} more")
    lines += ["", *(make_safe(sentence) for sentence in summary["sentences"]), ""]
    return "\n".join([*lines, f"Written to {make_safe(summary['folder'])}: {', '.join(summary['files'])}"])
