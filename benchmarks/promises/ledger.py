"""Measurements, kept line by line: a stopped run goes on where it was, and runs of several machines can be joined."""

from __future__ import annotations

import ast
import hashlib
import json
import os
import time
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

import correspondence

Key = tuple[str, str, str, int]


@dataclass(frozen=True)
class Task:
    """One method on one design.

    `measure` takes a seed and gives figures by name; the same seed must give the same figures. `replications` and
    `quick` are the numbers of data sets of a full and of a quick run.
    """

    promise: str
    design: str
    method: str
    measure: Callable[[int], dict[str, float]]
    replications: int
    quick: int = 0

    def key(self, seed: int) -> Key:
        return self.promise, self.design, self.method, seed


class Ledger:
    """File of records, one JSON object a line; of two records with the same key the later one counts.

    So `cat a.jsonl b.jsonl > c.jsonl` joins two runs. A line that was cut off when a run was stopped is left out, and
    so are the records of other code, where a code is given.
    """

    def __init__(self, path: Path, code: str | None = None) -> None:
        self.path = path
        self.code = code
        self.records: dict[Key, dict] = {}
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
            self._take(line)

    def _take(self, line: str) -> None:
        try:
            record = json.loads(line)
        except json.JSONDecodeError:
            return
        if self.code in (None, record["code"]):
            self.records[record["promise"], record["design"], record["method"], record["seed"]] = record

    def add(self, record: dict) -> None:
        line = json.dumps(record)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a+", encoding="utf-8") as file:
            file.write(("" if _ends_with_newline(self.path) else "\n") + line + "\n")
        self._take(line)

    def is_done(self, task: Task, seed: int) -> bool:
        """Tell whether there is a figure; a measurement that failed is made again."""
        return "figures" in self.records.get(task.key(seed), {})


def _ends_with_newline(path: Path) -> bool:
    with path.open("rb") as file:
        if not file.seek(0, os.SEEK_END):
            return True
        file.seek(-1, os.SEEK_END)
        return file.read() == b"\n"


def list_missing(ledger: Ledger, counts: dict[Task, int], first: int) -> list[tuple[Task, int]]:
    """List the tasks and seeds that have no record yet, given the number of data sets of each task.

    Seed by seed and not task by task, so that a run that is stopped early has some data sets of every line.
    """
    return [
        (task, seed)
        for seed in range(first, first + max(counts.values(), default=0))
        for task, count in counts.items()
        if seed - first < count and not ledger.is_done(task, seed)
    ]


def fill_ledger(ledger: Ledger, missing: list[tuple[Task, int]], jobs: int) -> Iterator[dict]:
    """Measure what is missing, and yield each record as it is made."""
    for record in measure_all(missing, jobs):
        ledger.add(record)
        yield record


def measure_all(todo: Iterable[tuple[Task, int]], jobs: int) -> Iterator[dict]:
    code = code_version()
    if jobs == 1:
        return (measure_one(task, seed, code) for task, seed in todo)
    calls = (delayed(measure_one)(task, seed, code) for task, seed in todo)
    return Parallel(n_jobs=jobs, return_as="generator_unordered")(calls)


def measure_one(task: Task, seed: int, code: str) -> dict:
    """Make the record of one measurement; an error is recorded as well, and counts against the promise."""
    promise, design, method, _ = task.key(seed)
    start = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            figures = {name: float(value) for name, value in task.measure(seed).items()}
        outcome: dict = {"figures": figures}
    except Exception as error:  # of whatever kind: the rest of the run goes on
        outcome = {"error": f"{type(error).__name__}: {error}"}
    spent = {"seconds": round(time.process_time() - start, 4), "load": round(os.getloadavg()[0], 2), "code": code}
    return {"promise": promise, "design": design, "method": method, "seed": seed, **outcome, **spent}


@cache
def code_version() -> str:
    """Return a short hash of the code of the library, without comments and docstrings."""
    folder = Path(correspondence.__file__).parent
    digest = hashlib.sha1(usedforsecurity=False)
    for path in sorted(folder.rglob("*.py")):
        digest.update(dump_code(path.read_text(encoding="utf-8")).encode())
    return digest.hexdigest()[:8]


def dump_code(source: str) -> str:
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node, clean=False):
            node.body = node.body[1:]
    return ast.dump(tree)


def make_rng(design: str, seed: int) -> np.random.Generator:
    """Make the random numbers of a data set: every method of a design gets the same data."""
    return np.random.default_rng([zlib.crc32(design.encode()), seed])
