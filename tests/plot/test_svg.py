"""Labels are text in SVG files, whatever they look like."""

from xml.etree import ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pytest

import correspondence as co

HOSTILE = [
    "</script><img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "a --><script>alert(1)</script><!--",
    "]]><script>alert(1)</script>",
    '" onload="alert(1)',
    "&lt;b&gt; & &#x3c;",
    "$x^2$",
    "a\x00\x1b\nb",
]
DRAWN = {"svg", "g", "defs", "path", "use", "text", "tspan", "style", "metadata", "clipPath", "rect"}


def saved(path, fonttype):
    table = co.Table(np.diag(np.arange(1, len(HOSTILE) + 1)) + 1, HOSTILE, [f"c{i}" for i in range(len(HOSTILE))])
    with plt.rc_context({"svg.fonttype": fonttype}):
        ax = co.plot.plane(co.CA().fit(table), names=(HOSTILE[0], HOSTILE[1]))
        ax.figure.savefig(path)
        plt.close(ax.figure)
    return ElementTree.parse(path).getroot()


@pytest.mark.parametrize("fonttype", ["none", "path"])
def test_labels_make_no_elements(tmp_path, fonttype):
    root = saved(tmp_path / "plane.svg", fonttype)
    elements = [element for element in root.iter() if element.tag.startswith("{http://www.w3.org/2000/svg}")]
    assert {element.tag.rpartition("}")[2] for element in elements} <= DRAWN
    assert not [name for element in root.iter() for name in element.attrib if name.lower().startswith("on")]


def test_labels_are_there_as_text(tmp_path):
    texts = {"".join(element.itertext()) for element in saved(tmp_path / "plane.svg", "none").iter()}
    assert {*HOSTILE[:-1], "a b"} <= texts
