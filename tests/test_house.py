"""The house: its rooms and their depth, names that occur once, and modules and functions of a size that can be read."""

import ast
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from statistics import median

import correspondence

ROOT = Path(correspondence.__file__).parent
MAX_DEPTH = 8
MAX_LINES = 450
MAX_MEDIAN_BODY, MAX_LONG_BODY = 5, 16
MAX_ONE_WORD_SHARE, MAX_PRIVATE_SHARE = 0.35, 0.40
# Each is one class with many public methods, or reads many kinds of files; to be cut in smaller ones.
LONG_MODULES = {
    "app/analyze/inputs.py",
    "classifiers/estimator.py",
    "estimators/ca/estimator.py",
    "estimators/pice/estimator.py",
}


@cache
def parse_modules():
    return {path.relative_to(ROOT).as_posix(): ast.parse(path.read_text("utf-8")) for path in ROOT.rglob("*.py")}


def find_room(module):
    """First part of the name below the package; none for the package itself."""
    parts = module.split(".")
    return parts[1] if parts[0] == "correspondence" and len(parts) > 1 else None


def list_imports(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from ([f"{node.module}.{a.name}" for a in node.names] if "." not in node.module else [node.module])
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def link_rooms():
    rooms = {path.split("/")[0] for path in parse_modules() if "/" in path}
    links = defaultdict(set)
    for path, tree in parse_modules().items():
        own = path.split("/")[0]
        links[own] |= {room for module in list_imports(tree) if (room := find_room(module)) in rooms - {own}}
    return {room: links[room] for room in rooms}


def measure_depth(links, room, above=()):
    assert room not in above, f"a cycle: {' -> '.join([*above, room])}"
    return 1 + max((measure_depth(links, below, (*above, room)) for below in links[room]), default=0)


def test_rooms_are_not_deep_and_have_no_cycle():
    links = link_rooms()
    assert "data" in links["core"]
    assert max(measure_depth(links, room) for room in links) <= MAX_DEPTH


def test_no_class_name_occurs_twice():
    classes = [
        node.name.lstrip("_")
        for tree in parse_modules().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    ]
    assert [name for name, times in Counter(classes).items() if times > 1] == []


def test_modules_are_short():
    long = {path for path in parse_modules() if len((ROOT / path).read_text("utf-8").splitlines()) > MAX_LINES}
    assert long == LONG_MODULES


def test_functions_are_short():
    bodies = sorted(
        measure_body(node)
        for tree in parse_modules().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
    )
    assert median(bodies) <= MAX_MEDIAN_BODY
    assert bodies[int(0.9 * len(bodies))] <= MAX_LONG_BODY


def measure_body(function):
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0


def test_functions_have_telling_names():
    names = [
        node.name
        for tree in parse_modules().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("__")
    ]
    one_word = [name for name in names if "_" not in name.strip("_")]
    private = [name for name in names if name.startswith("_")]
    assert len(one_word) <= MAX_ONE_WORD_SHARE * len(names)
    assert len(private) <= MAX_PRIVATE_SHARE * len(names)


def test_tests_mirror_the_rooms():
    tests = Path(__file__).parent
    rooms = {path.name for path in ROOT.iterdir() if path.is_dir() and path.name not in ("__pycache__", "scene")}
    assert rooms <= {path.name for path in tests.iterdir() if path.is_dir()}
