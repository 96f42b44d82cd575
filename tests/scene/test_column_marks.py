"""What pictures show of the columns of a variable."""

import numpy as np
import pandas as pd
import pytest

import correspondence as co
from correspondence.scene.column_marks import find_column_marks
from correspondence.scene.points import locate_values


@pytest.fixture(scope="module")
def mixed():
    """A table in which size goes along axis 1, and kind and bent along another."""
    rng = np.random.default_rng(0)
    n = 1500
    size, kind = rng.normal(size=n), rng.choice(["oak", "pine", "yes"], n, p=[0.4, 0.3, 0.3])
    X = pd.DataFrame(
        {
            "size": size,
            "noise": rng.normal(size=n),
            "kind": kind,
            "answer": rng.choice(["yes", "no"], n),
            "rare": np.where(np.arange(n) < 3, "three", "others"),
            "bent": rng.normal(size=n),
            "key": [f"k{i}" for i in range(n)],
        }
    )
    Y = pd.DataFrame(
        {
            "price": size + 0.3 * rng.normal(size=n),
            "weight": 2.0 * (kind == "oak") + 0.3 * rng.normal(size=n),
            "third": X["bent"] ** 2 + 0.3 * rng.normal(size=n),
        }
    )
    with pytest.warns(co.LeftOut, match="key"):
        est = co.ACE(3).fit(X, Y)
    return est.decomposition_, X, Y


def find_marks(d, X, **kwargs):
    points = locate_values(d.f, X, "X")
    return points, find_column_marks(d.f, points, X, "X", **kwargs)


def test_categories_lie_at_the_mean_of_their_rows(mixed):
    d, X, _ = mixed
    points, marks = find_marks(d, X)
    at = marks.categories.labels.tolist().index("oak")
    np.testing.assert_allclose(marks.categories.places[at], points.places[X["kind"] == "oak"].mean(axis=0))
    assert marks.categories.counts[at] == (X["kind"] == "oak").sum()
    assert marks.categories.columns[at] == "kind"


def test_a_category_has_the_name_of_its_column_where_it_says_little_without(mixed):
    d, X, _ = mixed
    _, marks = find_marks(d, X)
    labels = marks.categories.labels.tolist()
    assert {"oak", "pine", "kind: yes", "answer: yes", "answer: no", "three", "others"} == set(labels)


def test_only_what_matters_is_chosen(mixed):
    d, X, _ = mixed
    _, marks = find_marks(d, X)
    chosen = marks.categories.choose(marks.n_rows, [0, 1, 2], d.correlations, 25)
    names = marks.categories.labels[chosen].tolist()
    assert names[0] == "oak"
    assert not {"three", "others", "answer: yes", "answer: no"} & set(names)  # rare, or near the centre
    assert len(marks.categories.choose(marks.n_rows, [0, 1, 2], d.correlations, 1)) == 1
    numbers = [mark.name for mark in marks.choose_numbers([0, 1, 2], d.correlations, 10)]
    assert sorted(numbers) == ["bent", "size"]


def test_numbers_are_arrows_or_paths(mixed):
    d, X, _ = mixed
    points, marks = find_marks(d, X)
    size, bent = (next(mark for mark in marks.numbers if mark.name == name) for name in ("size", "bent"))
    assert not size.is_path([0, 1, 2])
    assert bent.is_path([0, 1, 2])
    ranks = X["size"].rank()
    np.testing.assert_allclose(size.correlations, np.corrcoef(ranks, points.places, rowvar=False)[0, 1:])
    assert bent.path.shape == (10, 3)


def test_ids_are_left_out(mixed):
    d, X, _ = mixed
    assert find_marks(d, X)[1].left_out == ["key"]


def test_arrays_are_shown_on_request_only(rng):
    X = rng.normal(size=(200, 3))
    d = co.CCA(1).fit(X, X[:, 0] + rng.normal(size=200)).decomposition_
    assert find_marks(d, X)[1] is None
    assert [mark.name for mark in find_marks(d, X, with_nameless=True)[1].numbers] == [
        "column 0",
        "column 1",
        "column 2",
    ]


def test_some_rows_may_be_shown(mixed):
    d, X, _ = mixed
    points = locate_values(d.f, X, "X", most=300)
    marks = find_column_marks(d.f, points, X, "X")
    assert marks.n_rows == 300
    at = marks.categories.labels.tolist().index("oak")
    assert marks.categories.counts[at] == (X["kind"].to_numpy()[points.rows] == "oak").sum()


def test_words_of_texts_are_marks(rng):
    words = rng.choice(["soy", "basil"], 300)
    texts = [f"{word} and salt w{i}" for i, word in enumerate(words)]
    d = co.CCA(1).fit(texts, (words == "soy") + 0.3 * rng.normal(size=300)).decomposition_
    points = locate_values(d.f, texts, "X")
    marks = find_column_marks(d.f, points, texts, "X")
    chosen = marks.categories.choose(marks.n_rows, [0], d.correlations, 25)
    assert sorted(marks.categories.labels[chosen].tolist()) == ["basil", "soy"]
    assert marks.category_noun == ("word", "words")


def test_nothing_is_shown_of_what_cannot_be_read(rng):
    images = rng.random((50, 1, 4, 4))
    d = co.CCA(1).fit(rng.normal(size=(50, 2)), rng.normal(size=50)).decomposition_
    points = locate_values(d.f, rng.normal(size=(50, 2)), "X")
    assert find_column_marks(d.f, points, images, "X") is None
    assert find_column_marks(d.f, points, None, "X") is None
