"""Tables of the verdicts: for the terminal, for the page of promises, and as CSV and JSON."""

from __future__ import annotations

import csv
import json
import os
import platform
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, fields
from itertools import groupby
from pathlib import Path

import numpy as np

from promises.verdicts import MET, MISSED, SHOWN, WITHIN_ERROR, Line, Promise

BEGIN, END = "<!-- truth: begin -->", "<!-- truth: end -->"
VERDICTS = (MET, WITHIN_ERROR, MISSED, SHOWN)
HEADINGS = ("design", "method", "figure", "measured", "data sets", "load", "bar", "")


def make_cells(line: Line) -> tuple[str, ...]:
    errors = f" ({line.errors} failed)" if line.errors else ""
    load = f"{line.load:.1f}"
    return line.design, line.method, line.figure, line.shown, f"{line.n}{errors}", load, line.bar, line.verdict


def count_verdicts(lines: Iterable[Line]) -> str:
    counts = Counter(line.verdict for line in lines)
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS)


def make_text(lines: list[Line]) -> str:
    """Make a table for the terminal."""
    rows = [HEADINGS, *map(make_cells, lines)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def make_markdown(lines: list[Line], promises: list[Promise], note: str) -> str:
    """Make tables for the page, one for each promise."""
    texts = {promise.name: promise.text for promise in promises}
    parts = [note, "", *summarise_verdicts(lines), ""]
    for name, group in groupby(lines, key=lambda line: line.promise):
        own = list(group)
        parts += [f"## {name.capitalize()}", "", f"{texts[name]} ({count_verdicts(own)}.)", ""]
        parts += ["| " + " | ".join(HEADINGS) + " |", "|" + "---|" * len(HEADINGS)]
        parts += ["| " + " | ".join(map(_escape, make_cells(line))) + " |" for line in own] + [""]
    return "\n".join(parts).rstrip() + "\n"


def summarise_verdicts(lines: list[Line]) -> list[str]:
    """Say how many lines of each promise are met, and list all that are missed."""
    rows = ["| promise | " + " | ".join(VERDICTS) + " |", "|---|" + "---|" * len(VERDICTS)]
    for name, group in groupby(lines, key=lambda line: line.promise):
        counts = Counter(line.verdict for line in group)
        rows.append(f"| {name} | " + " | ".join(str(counts[verdict]) for verdict in VERDICTS) + " |")
    missed = [line for line in lines if line.verdict == MISSED]
    if not missed:
        return [*rows, "", "No line is missed."]
    listed = [
        _escape(f"- {line.promise}, {line.design}, {line.method}: {line.figure} {line.shown}, bar {line.bar}")
        for line in missed
    ]
    return [*rows, "", "Missed:", "", *listed]


def _escape(cell: str) -> str:
    cell = cell.replace("|", "\\|").replace("<", "&lt;").replace("^", "\\^")
    return f"**{cell}**" if cell == "missed" else cell


def describe_run(records: Iterable[dict], planned: int, command: str) -> str:
    """Say where, how and with what code the records were made, and how many of those planned there are."""
    records = list(records)
    codes = sorted({record["code"] for record in records})
    hours = sum(record["seconds"] for record in records) / 3600
    load = np.mean([record["load"] for record in records]) if records else np.nan
    mixed = "" if len(codes) < 2 else f" (mixed: {len(codes)} versions)"
    return (
        f"`{command}`: {len(records)} measurements ({planned} planned), {hours:.2f} hours of CPU on "
        f"{os.cpu_count()} cores "
        f"({platform.machine()}, Python {platform.python_version()}), load average {load:.1f}, "
        f"sources {', '.join(codes) or 'unknown'}{mixed}."
    )


def write_tables(folder: Path, lines: list[Line], promises: list[Promise], note: str) -> None:
    """Write promises.csv, promises.json and promises.md."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [{name: _round(value) for name, value in asdict(line).items()} for line in lines]
    with (folder / "promises.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Line)])
        writer.writeheader()
        writer.writerows(rows)
    (folder / "promises.json").write_text(json.dumps({"run": note, "lines": rows}, indent=1) + "\n", encoding="utf-8")
    (folder / "promises.md").write_text(make_markdown(lines, promises, note), encoding="utf-8")


def _round(value: object) -> object:
    if isinstance(value, float):
        return round(value, 5) if np.isfinite(value) else None
    return value


def put_into_page(page: Path, table: str, begin: str = BEGIN, end: str = END) -> None:
    """Replace what stands between the two marks of a page."""
    text = page.read_text(encoding="utf-8")
    before, has_begin, rest = text.partition(begin)
    _, has_end, after = rest.partition(end)
    if not has_begin or not has_end:
        raise ValueError(f"page must have the lines {begin} and {end}, got {page} without them. Add them.")
    page.write_text(f"{before}{begin}\n\n{table}\n{end}{after}", encoding="utf-8")
