"""Give each attribute of a class an entry of its own in the reference, from the section of its docstring."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cached_property
from typing import Any

from numpydoc.docscrape import NumpyDocString, Parameter
from sphinx.application import Sphinx
from sphinx.pycode import ModuleAnalyzer

SKLEARN = ("get_metadata_routing", "get_params", "set_params", "set_output")  # api/estimators.md tells of them


def documented(cls: type, lines: list[str]) -> Iterator[Parameter]:
    """Attributes that the docstring of a class tells of, one by one; of a dataclass its parameters too."""
    doc = NumpyDocString("\n".join(lines))
    names = {field.name for field in fields(cls)} if is_dataclass(cls) else set()
    for parameter in [*doc["Attributes"], *(p for p in doc["Parameters"] if names & set(p.name.split(", ")))]:
        for name in parameter.name.split(", "):
            yield Parameter(name, parameter.type, parameter.desc)


def has_own_entry(cls: type, name: str) -> bool:
    """Whether autodoc documents it: a property, or a field with a docstring below it."""
    if isinstance(getattr(cls, name, None), (property, cached_property)):
        return True
    ours = [c for c in cls.__mro__ if c.__module__.startswith("correspondence.")]
    return any((c.__name__, name) in ModuleAnalyzer.for_module(c.__module__).find_attr_docs() for c in ours)


def _remember(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Before numpydoc: take the section out, and keep the entries."""
    if what != "class":
        return
    entries = [p for p in documented(obj, lines) if not has_own_entry(obj, p.name)]
    app.env.temp_data[name] = entries
    lines[:] = _without_attributes(lines)


def _without_attributes(lines: list[str]) -> list[str]:
    headings = [i for i, line in enumerate(lines[1:]) if line and set(line) == {"-"}]
    start = next((i for i in headings if lines[i] == "Attributes"), None)
    if start is None:
        return lines
    end = next((i for i in headings if i > start), len(lines))
    return lines[:start] + lines[end:]


def _add(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """After numpydoc."""
    for entry in app.env.temp_data.pop(name, ()):
        lines += [f".. attribute:: {entry.name}", f"   :type: {entry.type}" if entry.type else "", ""]
        lines += [f"   {line}" for line in entry.desc] + [""]


def _skip(app: Sphinx, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Fields of named tuples, which have an entry already, and what scikit-learn adds."""
    is_sklearn = name in SKLEARN or (name.startswith("set_") and name.endswith("_request"))
    return True if is_sklearn or type(obj).__name__ == "_tuplegetter" else None


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", _remember, priority=400)
    app.connect("autodoc-process-docstring", _add, priority=600)
    app.connect("autodoc-skip-member", _skip)
    return {"parallel_read_safe": True}
