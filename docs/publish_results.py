"""Copy the results of ``correspondence reproduce all`` into docs/results: texts, tables, compressed pictures.

    python docs/publish_results.py [results]

Pages to explore, movies and pictures of other people's photographs stay behind; links to them become plain text.
"""

import re
import shutil
import sys
from pathlib import Path

from PIL import Image

HERE = Path(__file__).parent
TARGET = HERE / "results"
PHOTOGRAPHS = {"flickr-tags.png", "flickr-images.png"}  # they belong to their makers
LIMIT = 8_000_000
CONTENTS = """
```{toctree}
:hidden:
:glob:

*/*
```
"""
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)#:]+)\)")


def publish(results: Path) -> None:
    """Replace docs/results."""
    shutil.rmtree(TARGET, ignore_errors=True)
    TARGET.mkdir()
    shutil.copy(results / "results.csv", TARGET)
    studies = sorted(path.parent for path in results.glob("*/*.json"))
    for study in studies:
        _copy(study, TARGET / study.name)
    for page in [results / "index.md", *(study / f"{study.name}.md" for study in studies)]:
        target = TARGET / page.relative_to(results)
        target.write_text(_linked(page.read_text(encoding="utf-8"), target.parent), encoding="utf-8")
    with (TARGET / "index.md").open("a", encoding="utf-8") as index:
        index.write(CONTENTS)
    size = sum(path.stat().st_size for path in TARGET.rglob("*") if path.is_file())
    print(f"{TARGET}: {len(studies)} studies, {size / 1e6:.2f} MB")
    if size > LIMIT:
        raise SystemExit(f"That is more than {LIMIT / 1e6:.0f} MB.")


def _copy(study: Path, target: Path) -> None:
    target.mkdir()
    shutil.copy(study / f"{study.name}.csv", target)
    (target / f"{study.name}.md").touch()  # it is written when all that it may link to is there
    for picture in study.glob("*.png"):
        if picture.name not in PHOTOGRAPHS:
            _compress(picture, target / picture.name)


def _compress(picture: Path, target: Path) -> None:
    """Reduce a picture to 256 colours: enough for a drawing, and photographs in it stay recognisable."""
    with Image.open(picture) as image:
        image.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(target, optimize=True)


def _linked(text: str, folder: Path) -> str:
    """Keep only links to published files."""

    def replaced(match: re.Match[str]) -> str:
        mark, words, file = match.groups()
        if (folder / file).is_file():
            return match[0]
        return f"*({words}: `{file}`, which the command writes, is not published.)*" if mark else f"{words} (`{file}`)"

    return LINK.sub(replaced, text)


if __name__ == "__main__":
    publish(Path(sys.argv[1] if len(sys.argv) > 1 else "results"))
