"""The reference: every public name has an entry, says what it takes and gives, and shows how it is used."""

import importlib.util
import inspect
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import correspondence as co
from correspondence.app.cli import main

pytest.importorskip("numpydoc")
from numpydoc.docscrape import NumpyDocString
from numpydoc.validate import validate

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


def extension(name):
    spec = importlib.util.spec_from_file_location(name, DOCS / "_ext" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


public = extension("public")
NAMES = public.names()
CLASSES = {name: thing for name, thing in NAMES.items() if inspect.isclass(thing)}
FUNCTIONS = {name: thing for name, thing in NAMES.items() if inspect.isfunction(thing)}

# Of numpydoc: a docstring whose summary is one sentence, parameters that are those of the signature, in its order and
# with descriptions, something about what is returned.
CHECKS = {"GL08", "SS01", "SS03", "SS06", "PR01", "PR02", "PR03", "PR07", "RT01"}
MADE_BY_FETCH = "made by a fetch function, whose example shows it"
NO_EXAMPLE = {
    "correspondence.datasets.Compas": MADE_BY_FETCH,
    "correspondence.datasets.Flickr": MADE_BY_FETCH,
    "correspondence.datasets.ImageClasses": MADE_BY_FETCH,
    "correspondence.datasets.Dune": "made by load_dune, whose example shows it",
    "correspondence.datasets.Recipes": MADE_BY_FETCH,
    "correspondence.datasets.Wine": MADE_BY_FETCH,
    "correspondence.datasets.Children": "made by load_children, whose example shows it",
    "correspondence.datasets.DamagedDataError": "an error; its message says all",
    "correspondence.datasets.MissingDataError": "an error; its message says all",
    "correspondence.Transition": "part of a Timeline; find_transitions shows it, and needs a long training",
    "correspondence.results.points.Ellipses": "made by Bootstrap, whose example shows it",
    "correspondence.classifiers.calibration.Claims": "part of a Calibration, whose example shows it",
}


def entries():
    """Names that the pages of the reference list, with their modules."""
    found = set()
    for page in (DOCS / "api").glob("*.md"):
        module = ""
        for line in page.read_text(encoding="utf-8").splitlines():
            if match := re.match(r"\.\. (?:current|auto)?module:: (\S+)", line):
                module = match[1]
            elif match := re.match(r"(?:\.\. data::| {3,}) *([A-Za-z_]\w*)$", line):
                found.add(f"{module}.{match[1]}")
    return found


def test_every_public_name_is_in_the_reference():
    assert entries() == {name for name, thing in NAMES.items() if not inspect.ismodule(thing)}


def test_modules_are_in_the_reference():
    text = "\n".join(page.read_text(encoding="utf-8") for page in (DOCS / "api").glob("*.md"))
    told = set(re.findall(r"^\.\. (?:auto)?module:: (\S+)", text, re.MULTILINE))
    assert told == {name for name, thing in NAMES.items() if inspect.ismodule(thing)}


@cache
def wrong(name):
    return [f"{code} {text}" for code, text in validate(name)["errors"] if code in CHECKS]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_tell_what_they_take_and_give(name):
    assert wrong(name) == []


@pytest.mark.parametrize("name", CLASSES)
def test_classes_tell_what_they_take_and_have(name):
    cls = CLASSES[name]
    is_record = hasattr(cls, "__dataclass_fields__") or hasattr(cls, "_fields")
    assert [text for text in wrong(name) if not (is_record and text.startswith("PR01"))] == []
    if is_record:  # made by the package, with attributes rather than parameters
        given = {p for p in inspect.signature(cls).parameters if not p.startswith("_")}
        assert given <= {attribute.name for attribute in public.attributes(cls)} | told_below(cls)


def told_below(cls):
    """Fields with a docstring below them."""
    return set(re.findall(r'^    (\w+): .*\n    """', inspect.getsource(cls), re.MULTILINE))


@pytest.mark.parametrize("name", CLASSES)
def test_members_tell_what_they_take_and_give(name):
    cls = CLASSES[name]
    found = {member: inspect.getattr_static(cls, member, None) for member in public.members(cls)}
    methods = [m for m, thing in found.items() if inspect.isfunction(thing) or isinstance(thing, classmethod)]
    assert [text for m in methods for text in wrong(where_told(cls, m))] == []
    described = {attribute.name for attribute in public.attributes(cls)} | told_below(cls) | set(methods)
    assert not [m for m, thing in found.items() if m not in described and not inspect.getdoc(thing)]


def test_what_a_fit_leaves_is_told():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    Y = X + rng.normal(size=(60, 2))
    ca = co.CA().fit(co.datasets.load_smoke())
    things = [
        ca,
        *(est(n_components=1).fit(X, Y) for est in (co.ACE, co.CCA, co.KernelCCA)),
        co.ClassifierCA.from_beliefs([[0.9, 0.1], [0.2, 0.8]]),
        co.CrossModalIndex(ca, None, ca.columns_.labels),
        co.Moments().update(X, Y),
    ]
    sklearns = {"n_features_in_", "feature_names_in_"}
    for thing in things:
        known = public.members(type(thing)) | set(inspect.signature(type(thing)).parameters) | sklearns
        assert not {name for name in vars(thing) if not name.startswith("_")} - known


def where_told(cls, member):
    """Name of a method in the class that has its docstring, which those below it inherit."""
    home = next((c for c in cls.__mro__ if getattr(vars(c).get(member), "__doc__", None)), cls)
    return f"{home.__module__}.{home.__qualname__}.{member}"


@pytest.mark.parametrize("name", {**FUNCTIONS, **CLASSES})
def test_there_is_an_example(name):
    has_example = ">>> " in "\n".join(NumpyDocString(inspect.getdoc(NAMES[name]))["Examples"])
    assert has_example != (name in NO_EXAMPLE)


def test_links_of_the_repository_lead_to_pages_of_the_site():
    links = extension("links")
    for name, page in links.PAGES.items():
        assert f"../{name}" in (DOCS / page).read_text(encoding="utf-8")
    text = "[a](../README.md#fast) [b](../CITATION.cff) [c](gallery.md) [d](https://x.org/README.md) f[0](x)"
    expected = "[a](readme.md#fast) [b](path:../CITATION.cff) [c](gallery.md) [d](https://x.org/README.md) f[0](x)"
    assert links.on_site(text, DOCS, DOCS) == expected
    assert links.on_site("![p](docs/images/plane.png)", ROOT, DOCS) == "![p](images/plane.png)"


def test_help_of_every_command_is_in_the_reference():
    commands = extension("commands")
    assert commands.MARK in (DOCS / "api" / "commands.md").read_text(encoding="utf-8")
    texts = dict(commands.commands(main, "correspondence"))
    assert set(texts) == {"correspondence", *(f"correspondence {name}" for name in main.commands)}
    assert all(option in texts["correspondence analyze"] for option in ("--beliefs", "-h, --help", "Methods:"))
