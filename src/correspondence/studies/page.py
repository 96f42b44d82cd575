"""The page of all results: each table and figure of the paper beside ours, from the records of the studies."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from correspondence._util.files import csv_text, new_file
from correspondence.studies.record import Record
from correspondence.studies.report import Exhibit, Line, Value, markdown_table

__all__ = ["write_page"]

PAGE_FILE, TABLE_FILE = "index.md", "results.csv"
VALUE_COLUMNS = ("paper", "training", "held_out", "exact")
VALUE_HEADER = ("the paper", "ours, training data", "ours, held out", "exact")

INTRODUCTION_TEXT = """\
# The paper's results, computed again

Hsu, Salamatian and Calmon, *Generalizing Correspondence Analysis for Applications in Machine Learning*: each table and
figure beside what `correspondence reproduce` finds. The paper seldom says which data its values are of; those of its
tables are of training data, as far as its published code shows. "Ours, held out" is on data that the fit has not seen;
"ours, training data" is the same fit on its own data, to show how much of it was learned by heart. Correlations are
square roots of PICs; what the paper prints under the name PIC in its Tables 1 and 2 are correlations. An empty cell:
there is no such value.

Figure 2 (a drawing of the two nets) and the last table (sizes of nets) have no results to check; our settings are in
`src/correspondence/studies/`."""


def write_page(folder: Path, records: list[Record], missing: Mapping[str, str], command: str) -> list[Path]:
    """Write the page and its table to the folder that has a folder for each study.

    Parameters
    ----------
    folder : Path
        Must exist.
    records : list of Record
        Of the studies that have been run, in the order of the page.
    missing : mapping
        Why each of the others has no results.
    command : str
        By which the page is made.

    Returns
    -------
    list of Path
        The page and its table.
    """
    page, table = folder / PAGE_FILE, folder / TABLE_FILE
    with new_file(table) as temporary:
        temporary.write_text(csv_text(make_table_rows(records), floats=".4f"), encoding="utf-8", newline="\n")
    with new_file(page) as temporary:
        temporary.write_text(make_page_text(records, missing, command), encoding="utf-8")
    return [page, table]


def make_table_rows(records: list[Record]) -> list[list[Any]]:
    header = ["study", "exhibit", "quantity", *VALUE_COLUMNS, "seconds_of_the_study", "load_average"]
    lines = [
        [record.study, exhibit.name, line.quantity, *_list_values(line), record.seconds, record.load]
        for record in records
        for exhibit in record.exhibits
        for line in exhibit.lines
    ]
    return [header, *lines]


def _list_values(line: Line) -> list[Value]:
    return [getattr(line, column) for column in VALUE_COLUMNS]


def make_page_text(records: list[Record], missing: Mapping[str, str], command: str) -> str:
    sections = [
        INTRODUCTION_TEXT,
        _make_overview(records),
        *(_make_section(record, exhibit) for record in records for exhibit in record.exhibits),
        _absent(missing),
        describe_origin(records, command),
    ]
    return "\n\n".join(filter(None, sections)) + "\n"


def _make_overview(records: list[Record]) -> str:
    lines = [
        [
            exhibit.name,
            exhibit.lines[0].quantity,
            *map(_format_value, _list_values(exhibit.lines[0])),
            _link_study(record),
        ]
        for record in records
        for exhibit in record.exhibits
    ]
    return f"## At a glance\n\n{markdown_table(['', 'quantity', *VALUE_HEADER, 'study'], lines)}" if lines else ""


def _make_section(record: Record, exhibit: Exhibit) -> str:
    table = markdown_table(
        ["", *VALUE_HEADER], [[line.quantity, *map(_format_value, _list_values(line))] for line in exhibit.lines]
    )
    parts = [f"## {exhibit.name}", exhibit.sentence, table]
    if exhibit.picture is not None:
        parts.append(f"![{exhibit.name}]({record.study}/{record.study}{exhibit.picture}.png)")
    parts.append(f"{_link_study(record)}, {_describe_run(record)}.")
    return "\n\n".join(parts)


def _link_study(record: Record) -> str:
    return f"[`reproduce {record.study}`]({record.study}/{record.study}.md)"


def _describe_run(record: Record) -> str:
    seeds = "one seed" if record.seeds == 1 else f"{record.seeds} seeds"
    load = "" if record.load is None else f", load average {record.load:g}"
    return f"{seeds}, {_format_duration(record.seconds)}{load}"


def _format_duration(seconds: float) -> str:
    return f"{seconds:.1f} seconds" if seconds < 100 else f"{seconds / 60:.1f} minutes"


def _format_value(value: Value) -> str | None:
    return f"{value:.3f}" if isinstance(value, float) else None if value is None else str(value)


def _absent(missing: Mapping[str, str]) -> str:
    lines = [f"- `{name}`: {' '.join(why.split())}" for name, why in missing.items()]
    return "## Not computed\n\n" + "\n".join(lines) if lines else ""


def describe_origin(records: list[Record], command: str) -> str:
    """Command, versions and time; each different set of versions once."""
    section = f"## How this was made\n\n```\n{command}\n```"
    if not records:
        return section
    used = dict.fromkeys(
        ", ".join(f"{name} {number}" for name, number in record.versions.items()) for record in records
    )
    seconds = sum(record.seconds for record in records)
    note = (
        "\n\nThis was a quick run on less data: it shows that the studies work, its numbers are not to be quoted."
        if any(record.quick for record in records)
        else ""
    )
    return f"{section}\n\n{'; '.join(used)}. {_format_duration(seconds)} in all.{note}"
