"""What is public: names, and the members of classes. The reference has an entry for each, or the build warns."""

from __future__ import annotations

import inspect
from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Any

from numpydoc.docscrape import NumpyDocString, Parameter
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.logging import getLogger

PACKAGE = "correspondence"
MODULES = [PACKAGE, *(f"{PACKAGE}.{name}" for name in ("datasets", "distributed", "plot"))]
PARTS = {
    "results.points": "Ellipses",
    "classifiers.calibration": "Claims",
}  # what attributes of public classes are made of


def names() -> dict[str, Any]:
    """Return every public object, by the first name that it has."""
    found: dict[str, Any] = {}
    listed = [(module, name) for module in MODULES for name in import_module(module).__all__]
    for module, name in [*listed, *((f"{PACKAGE}.{module}", name) for module, name in PARTS.items())]:
        thing = getattr(import_module(module), name)
        if not any(thing is other for other in found.values()):
            found[f"{module}.{name}"] = thing
    return found


def members(cls: type) -> set[str]:
    """Return public methods, properties and attributes, except those of scikit-learn, tuples and errors."""
    described = {attribute.name for attribute in attributes(cls)} | {field.name for field in _fields(cls)}
    return {name for name in {*dir(cls), *described} if name in described or is_ours(cls, name)} - {
        *_private(described)
    }


def is_ours(cls: type, name: str) -> bool:
    """Tell whether this package, and not scikit-learn (``set_fit_request``), defines a public member of a class."""
    home = next((c for c in cls.__mro__ if name in vars(c)), object)
    is_request = name.startswith("set_") and name.endswith("_request")
    return not name.startswith("_") and home.__module__.startswith(PACKAGE) and not is_request


def attributes(cls: type) -> list[Parameter]:
    """List the attributes that the docstring of a class describes; for a dataclass its parameters too."""
    doc = NumpyDocString(inspect.getdoc(cls) or "")
    own = {field.name for field in _fields(cls)}
    described = [*doc["Attributes"], *(p for p in doc["Parameters"] if own & set(p.name.split(", ")))]
    return [Parameter(name, p.type, p.desc) for p in described for name in p.name.split(", ")]


def _fields(cls: type) -> tuple[Any, ...]:
    return fields(cls) if is_dataclass(cls) else ()


def _private(known: set[str]) -> set[str]:
    return {name for name in known if name.startswith("_")}


def _check(app: Sphinx, env: BuildEnvironment) -> None:
    there = env.domains.python_domain.objects
    for name, thing in names().items():
        wanted = [name, *(f"{name}.{member}" for member in (members(thing) if inspect.isclass(thing) else ()))]
        for missing in (entry for entry in wanted if entry not in there):
            getLogger(__name__).warning("%s is public and not in the reference (docs/api).", missing)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension with Sphinx."""
    app.connect("env-check-consistency", _check)
    return {"parallel_read_safe": True}
