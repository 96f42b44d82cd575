"""Does the library keep its promises? Level, power, errors, coverage and speed on data sets whose truth is known.

    python benchmarks/truth.py --jobs 2         # all, one to two hours; after a stop the same command goes on
    python benchmarks/truth.py --quick          # a few data sets of small designs, about a minute
    python benchmarks/truth.py --only power --replications 50 --seeds 1000      # other data sets
    python benchmarks/truth.py --tables-only --page docs/promises.md

Records are kept in OUTPUT/records.jsonl, one line for each promise, design, method and seed; `cat` joins such files.
What was measured with other code of the library is measured again, unless --any-code is given; comments and docstrings
do not matter. Tables are written to OUTPUT as CSV, JSON and Markdown.

A figure is "met" if it lies within its bar, "within error" if only its 95 % interval reaches the bar, and "missed"
otherwise or if a call ended with an error. Nothing is promised of what is "shown".
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import sys
from itertools import filterfalse
from pathlib import Path

from promises import peers, tables
from promises.counts import COMPONENTS
from promises.coverage import COVERAGE
from promises.errors import ERRORS
from promises.given import GIVEN
from promises.ledger import Ledger, Task, code_version, fill_ledger, list_missing
from promises.level import LEVEL
from promises.power import POWER
from promises.speed import SPEED, make_baseline
from promises.verdicts import MISSED, Line, Promise, collect_results
from tqdm import tqdm

HERE = Path(__file__).resolve().parent
PROMISES = [LEVEL, POWER, GIVEN, COMPONENTS, ERRORS, COVERAGE, SPEED]
NAMES = [promise.name for promise in PROMISES]


def parse_arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=NAMES, help="promises to measure; all by default")
    parser.add_argument("--design", default="", help="only designs whose name contains this")
    parser.add_argument("--method", default="", help="only methods whose name contains this")
    parser.add_argument("--quick", action="store_true", help="few data sets of small designs")
    parser.add_argument("--replications", type=int, help="data sets of each design; by default as each promise needs")
    parser.add_argument("--seeds", type=int, default=0, metavar="FIRST", help="first seed; 0 by default")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--output", type=Path, default=Path("results/truth"), help="folder of records and tables")
    parser.add_argument("--baseline", type=Path, default=HERE / "baseline.json", help="CPU seconds of old code")
    parser.add_argument("--write-baseline", type=Path, help="write the CPU seconds of this run to a file")
    parser.add_argument("--page", type=Path, help="page whose tables are replaced")
    parser.add_argument("--tables-only", action="store_true", help="measure nothing, write the tables of the records")
    parser.add_argument("--any-code", action="store_true", help="go on with records of another version of the code")
    parser.add_argument("--strict", action="store_true", help="end with exit code 1 if a promise is missed")
    return parser.parse_args(arguments)


def choose_tasks(promises: list[Promise], options: argparse.Namespace) -> dict[str, list[Task]]:
    """List the tasks of each promise; a quick run has only quick tasks."""
    return {
        promise.name: [
            task
            for task in promise.make_tasks()
            if options.design in task.design and options.method in task.method and (task.quick or not options.quick)
        ]
        for promise in promises
    }


def count_data_sets(task: Task, options: argparse.Namespace) -> int:
    if options.replications is not None:
        return options.replications
    return task.quick if options.quick else task.replications


def measure(ledger: Ledger, tasks: list[Task], options: argparse.Namespace) -> None:
    missing = list_missing(ledger, {task: count_data_sets(task, options) for task in tasks}, options.seeds)
    with tqdm(total=len(missing), disable=None, unit="data set") as bar:
        for record in fill_ledger(ledger, missing, options.jobs):
            bar.set_postfix_str(f"{record['promise']}, {record['method']}", refresh=False)
            bar.update()


def make_lines(promises: list[Promise], tasks: dict[str, list[Task]], ledger: Ledger, baseline: dict) -> list[Line]:
    results = [collect_results(p.name, tasks[p.name], ledger.records.values(), baseline) for p in promises]
    return [line for promise, own in zip(promises, results, strict=True) for line in promise.judge(own)]


def read_baseline(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def write_baseline(path: Path, tasks: dict[str, list[Task]], ledger: Ledger, note: str) -> None:
    results = collect_results(SPEED.name, tasks[SPEED.name], ledger.records.values(), {})
    path.write_text(json.dumps(make_baseline(results, note), indent=1) + "\n", encoding="utf-8")


def main(arguments: list[str] | None = None, promises: list[Promise] | None = None) -> int:
    options = parse_arguments(arguments)
    promises = [p for p in promises or PROMISES if options.only is None or p.name in options.only]
    ledger = Ledger(options.output / "records.jsonl", None if options.any_code else code_version())
    tasks = choose_tasks(promises, options)
    if not options.tables_only:
        measure(ledger, [task for own in tasks.values() for task in own], options)
    lines = make_lines(promises, tasks, ledger, read_baseline(options.baseline))
    shown = {task.key(0)[:3] for own in tasks.values() for task in own}
    used = [record for key, record in ledger.records.items() if key[:3] in shown]
    planned = sum(count_data_sets(task, options) for own in tasks.values() for task in own)
    command = (
        "python benchmarks/truth.py" + " --quick" * options.quick + f" --seeds {options.seeds}" * bool(options.seeds)
    )
    note = tables.describe_run(used, planned, command)
    if options.write_baseline:
        write_baseline(options.write_baseline, tasks, ledger, note)
    tables.write_tables(options.output, lines, promises, note)
    if options.page:
        tables.put_into_page(options.page, tables.make_markdown(lines, promises, note))
    for promise in promises:
        own = [line for line in lines if line.promise == promise.name]
        print(f"\n{promise.name}: {tables.count_verdicts(own)}\n{tables.make_text(own)}")
    print(f"\n{note}")
    for package in filterfalse(peers.is_installed, peers.PACKAGES):
        print(f"{package} is not installed and was left out: pip install -c constraints.txt '.[bench]'")
    return int(options.strict and any(line.verdict == MISSED for line in lines))


if __name__ == "__main__":
    sys.exit(main())
