"""The page of all results: each table and figure of the paper beside ours, from the records of the studies."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from correspondence._util.files import new_file
from correspondence.studies import markdown as md
from correspondence.studies.record import Record
from correspondence.studies.report import Exhibit, Line, Value, write_table

__all__ = ["write_page"]

PAGE_FILE, TABLE_FILE = "index.md", "results.csv"
VALUE_COLUMNS = ("paper", "training", "held_out", "exact")
VALUE_HEADER = ("the paper", "ours, training data", "ours, held out", "exact")

INTRODUCTION_TEXT = """\
# The paper's results, computed again

Hsu, Salamatian and Calmon, *Generalizing Correspondence Analysis for Applications in Machine Learning*: each table and
figure beside what `correspondence reproduce` finds. The paper seldom says which data its values are of; those of its
tables are of training data, as far as its published code shows. "Ours, held out" is on data not used in the fit;
"ours, training data" is the same fit on its own data, to show how much of it was only memorised. Correlations are
square roots of PICs; what the paper prints under the name PIC in its Tables 1 and 2 are correlations. An empty cell:
there is no such value.

Figure 2 (a drawing of the two nets) and the last table (sizes of nets) have no results to check; our settings are in
`src/correspondence/studies/`."""


def write_page(folder: Path, records: list[Record], missing: Mapping[str, str], command: str) -> list[Path]:
    """Write the page and its table to the folder that has a folder for each study.

    Parameters
    ----------
    folder : Path
        The folder must exist.
    records : list of Record
        The page shows the studies of these records in this order.
    missing : mapping
        Each of the other studies has no results for this reason.
    command : str
        The page is made by this command.

    Returns
    -------
    list of Path
        The page and its table.
    """
    page, table = folder / PAGE_FILE, folder / TABLE_FILE
    write_table(table, make_table_rows(records), ".4f")
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
    exhibits = [(record, exhibit) for record in records for exhibit in record.exhibits]
    sections = [INTRODUCTION_TEXT]
    if exhibits:
        lines = [[own.name, *_make_table_line(own.lines[0]), _link_study(record)] for record, own in exhibits]
        header = ["", "quantity", *VALUE_HEADER, "study"]
        sections.append(md.make_section("At a glance", md.make_table(header, lines)))
    sections += [make_exhibit_section(record, exhibit) for record, exhibit in exhibits]
    if missing:
        reasons = [f"- `{name}`: {' '.join(why.split())}" for name, why in missing.items()]
        sections.append(md.make_section("Not computed", "\n".join(reasons)))
    return "\n\n".join([*sections, describe_origin(records, command)]) + "\n"


def make_exhibit_section(record: Record, exhibit: Exhibit) -> str:
    parts = [exhibit.sentence, md.make_table(["", *VALUE_HEADER], map(_make_table_line, exhibit.lines))]
    if exhibit.picture is not None:
        parts.append(f"![{exhibit.name}]({record.study}/{record.study}{exhibit.picture}.png)")
    seeds = "one seed" if record.seeds == 1 else f"{record.seeds} seeds"
    load = "" if record.load is None else f", load average {record.load:g}"
    parts.append(f"{_link_study(record)}, {seeds}, {_format_duration(record.seconds)}{load}.")
    return md.make_section(exhibit.name, *parts)


def _make_table_line(line: Line) -> list[Any]:
    return [line.quantity, *map(_format_value, _list_values(line))]


def _link_study(record: Record) -> str:
    return f"[`reproduce {record.study}`]({record.study}/{record.study}.md)"


def _format_duration(seconds: float) -> str:
    return f"{seconds:.1f} seconds" if seconds < 100 else f"{seconds / 60:.1f} minutes"


def _format_value(value: Value) -> str | None:
    return f"{value:.3f}" if isinstance(value, float) else None if value is None else str(value)


def describe_origin(records: list[Record], command: str) -> str:
    """Return the section with command, versions and time; each different set of versions is listed once."""
    parts = [f"```\n{command}\n```"]
    if records:
        used = dict.fromkeys(
            ", ".join(f"{name} {number}" for name, number in record.versions.items()) for record in records
        )
        seconds = sum(record.seconds for record in records)
        parts.append(f"{'; '.join(used)}. {_format_duration(seconds)} in all.")
    if any(record.quick for record in records):
        parts.append(
            "This was a quick run on less data: it shows that the studies work, its numbers are not to be quoted."
        )
    return md.make_section("How this was made", *parts)
