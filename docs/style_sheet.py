"""Make the pictures of docs/style-sheet.md from the lines on that page: python docs/style_sheet.py."""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt

FOLDER = Path(__file__).parent
PAGE = FOLDER / "style-sheet.md"
STYLE, DPI = "correspondence.plot.journal", 150
MOST = 100_000  # bytes of a picture
PART = re.compile(r"```python\n(?P<code>.*?)```|!\[[^\]]*\]\((?P<image>images/[^)]*)\)", re.DOTALL)


def main() -> None:
    """Run the lines of the page one after the other, and save the last axes for each picture."""
    names: dict[str, Any] = {}
    with plt.style.context(STYLE):
        for part in PART.finditer(PAGE.read_text(encoding="utf-8")):
            if part["code"]:
                for example in doctest.DocTestParser().get_examples(part["code"]):
                    exec(compile(example.source, str(PAGE), "single"), names)
                continue
            path = FOLDER / part["image"]
            names["ax"].figure.savefig(path, dpi=DPI, pil_kwargs={"optimize": True})
            if path.stat().st_size > MOST:
                raise ValueError(f"{path} has {path.stat().st_size:,} bytes, more than {MOST:,}.")
            print(path.name, f"{path.stat().st_size:,} bytes")
    plt.close("all")


if __name__ == "__main__":
    main()
