"""The study of the number of components, on a few of its problems."""

from itertools import islice

import numpy as np
import pytest
from records import check_record, read_rows

from correspondence.studies import latent
from correspondence.studies.reproducing import reproduce_study


@pytest.fixture
def folder(tmp_path, monkeypatch):
    def few(problems, settings):
        return [p for p in problems if p.n <= 1000 and p.true in (0, 5) and type(p.est).__name__ in ("CCA", "CA")]

    monkeypatch.setattr(latent, "choose_problems", few)
    files = reproduce_study("latent", tmp_path / "latent", seeds=2, quick=True)
    assert [path.name for path in files] == [
        "latent.csv",
        "latent.png",
        "latent-example.png",
        "latent.md",
        "latent.json",
    ]
    return tmp_path / "latent"


@pytest.mark.slow
def test_study(folder):
    check_record(folder, "latent")
    rows = read_rows(folder / "latent.csv")
    easy = [row for row in rows if row["problem"] != "overlapping classes"]
    assert {row["true"] for row in easy} == {"0", "5"}
    assert np.mean([float(row["right"]) for row in easy]) >= 0.9
    for row in rows:
        assert float(row["right"]) + float(row["too_few"]) + float(row["too_many"]) == pytest.approx(1)
    text = (folder / "latent.md").read_text(encoding="utf-8")
    assert "5 components (what a shared variable with 6 classes would give)" in text
    assert "(latent.png)" in text
    assert "| separation 0.5 | " in text


@pytest.mark.parametrize(
    "problem",
    [*islice(latent.iterate_known_problems(), 8), *islice(latent.iterate_hard_problems(), 2)],
    ids=lambda p: p.kind,
)
def test_problems_are_pairs(problem, rng):
    X, Y = problem.draw(50, rng)
    assert len(X) == len(Y) == 50
    assert problem.est.n_components > problem.true


def test_problems_are_all_of_the_classes_and_dimensions():
    numbers = {}
    for problem in latent.iterate_known_problems():
        numbers.setdefault(problem.kind, []).append(problem.true)
    assert [sorted(set(found)) for kind, found in numbers.items() if "classes" in kind] == [list(range(1, 12))] * 4
    assert numbers["Gaussian latent, 15 columns"] == list(range(7))
    assert set(numbers["unrelated"]) == {0}
