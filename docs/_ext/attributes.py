"""Give each attribute of a class an entry of its own in the reference, from the section of its docstring.

Results, which have nothing but attributes, are shown without the signature of their constructor.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import public
from sphinx.application import Sphinx
from sphinx.pycode import ModuleAnalyzer


def has_own_entry(cls: type, name: str) -> bool:
    """Tell whether autodoc documents it: a property with a docstring, or a field with one below it."""
    member = getattr(cls, name, None)
    if isinstance(member, property | cached_property) and member.__doc__:
        return True
    ours = [c for c in cls.__mro__ if c.__module__.startswith(f"{public.PACKAGE}.")]
    return any((c.__name__, name) in ModuleAnalyzer.for_module(c.__module__).find_attr_docs() for c in ours)


def _take_out(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Read the section, before numpydoc."""
    headings = [i for i, line in enumerate(lines[1:]) if line and set(line) == {"-"}]
    start = next((i for i in headings if lines[i] == "Attributes"), None)
    if what == "class" and start is not None:
        end = next((i for i in headings if i > start), len(lines))
        del lines[start:end]


def _add(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Write the entries, after numpydoc."""
    if what != "class":
        return
    for attribute in public.attributes(thing):
        if not has_own_entry(thing, attribute.name):
            lines += [f".. attribute:: {attribute.name}", f"   :type: {attribute.type}" if attribute.type else "", ""]
            lines += [f"   {line}" for line in attribute.desc] + [""]


def _skip(app: Sphinx, what: str, name: str, thing: Any, skip: bool, options: Any) -> bool | None:
    """Skip what scikit-learn adds, and fields of named tuples, which have their entries from the docstring."""
    is_request = name.startswith("set_") and name.endswith("_request")
    is_of_others = (getattr(thing, "__module__", None) or "").startswith("sklearn")
    return True if is_request or is_of_others or type(thing).__name__ == "_tuplegetter" else None


def _sign(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, signature: str | None, result: str | None
) -> tuple[str, None] | None:
    """Show no signature for results, which nobody makes by hand: they describe attributes, not parameters."""
    is_record = hasattr(thing, "__dataclass_fields__") or hasattr(thing, "_fields")
    return ("", None) if what == "class" and is_record and "Parameters\n" not in (thing.__doc__ or "") else None


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension with Sphinx."""
    app.connect("autodoc-process-docstring", _take_out, priority=400)
    app.connect("autodoc-process-docstring", _add, priority=600)
    app.connect("autodoc-skip-member", _skip)
    app.connect("autodoc-process-signature", _sign)
    return {"parallel_read_safe": True}
