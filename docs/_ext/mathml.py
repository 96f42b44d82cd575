"""Formulas as MathML, by docutils' own converter: they need no script and no network, and can be read aloud."""

from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)


def _write(self: Any, node: nodes.Element, is_block: bool) -> None:
    try:
        self.body.append(tex2mathml(node.astext(), as_block=is_block))
    except MathError as error:
        logger.warning("Formula %r: %s", node.astext(), error, location=node)
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register it as a renderer."""
    app.add_html_math_renderer(
        "mathml",
        (lambda self, node: _write(self, node, False), None),
        (lambda self, node: _write(self, node, True), None),
    )
    return {"parallel_read_safe": True, "parallel_write_safe": True}
