"""Copies of pairs are found, and repetitions by nature are not taken for them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from correspondence.data.coincidences import find_least_chance
from correspondence.data.copies import find_copies, resolve_groups, take_firsts

LETTERS = np.array(list("abcde"), dtype=object)


def repeat_some(n, times=2, share=0.2):
    """Positions of n rows, the first of which occur several times."""
    again = np.arange(int(n * share))
    return np.r_[np.arange(n), np.tile(again, times - 1)]


@pytest.fixture
def numbers(rng):
    X = rng.normal(size=(300, 4))
    return X, X[:, 0] + rng.normal(size=300)


class TestTables:
    def test_numbers(self, numbers):
        X, Y = numbers
        assert find_copies(X, Y).n_copies == 0
        assert find_copies(X, Y).groups is None
        rows = repeat_some(300)
        found = find_copies(X[rows], Y[rows])
        assert (found.n_copies, found.n_different) == (120, 300)
        assert (found.groups[300:] == found.groups[:60]).all()
        assert found.firsts.tolist() == list(range(300))

    @pytest.mark.parametrize("make", [pd.DataFrame, lambda X: pl.DataFrame(X, schema=["a", "b", "c", "d"]), list])
    def test_containers(self, numbers, make):
        rows = repeat_some(300)
        X, Y = numbers[0][rows], numbers[1][rows]
        assert find_copies(make(X), pd.Series(Y)).n_copies == 120

    def test_a_missing_value_is_a_value(self, numbers):
        X, Y = numbers[0].copy(), numbers[1]
        X[:50, 1] = np.nan
        rows = repeat_some(300)
        assert find_copies(X[rows], Y[rows]).n_copies == 120

    def test_a_number_and_a_label(self, rng):
        x, rows = rng.normal(size=300), repeat_some(300)
        assert find_copies(x[rows], LETTERS[(x[rows] > 0).astype(int)]).n_copies == 120

    def test_many_columns_of_labels(self, rng):
        answers, rows = LETTERS[rng.integers(4, size=(300, 30))], repeat_some(300)
        assert find_copies(answers[rows], rng.integers(2, size=len(rows))).n_copies == 120  # y differs

    def test_a_row_of_x_that_is_repeated_with_other_y(self, numbers, rng):
        X, rows = numbers[0], repeat_some(300)
        assert find_copies(X[rows], rng.normal(size=len(rows))).n_copies == 120

    def test_wide(self, rng):
        X, rows = rng.normal(size=(200, 150)), repeat_some(200)
        assert find_copies(X[rows], rng.normal(size=len(rows))).n_copies == 80

    def test_names_of_rows_are_ignored(self, numbers):
        rows = repeat_some(300)
        frame = pd.DataFrame(numbers[0][rows]).add_prefix("c").assign(name=[f"row {i}" for i in range(len(rows))])
        assert find_copies(frame, numbers[1][rows]).n_copies == 120

    @pytest.mark.parametrize("share", [0.3, 0.6, 1.0])
    def test_columns_of_few_values(self, share, rng):
        """No single repetition is improbable, but so many that occur twice and not three times are."""
        answers, rows = LETTERS[rng.integers(5, size=(500, 6))], repeat_some(500, share=share)
        assert find_copies(answers[rows, :3], answers[rows, 3:]).n_copies >= 2 * share * 500

    def test_a_sparse_vector_is_not_read(self, rng):
        """Its estimator says what is wrong."""
        assert find_copies(sp.coo_array(np.arange(20)), rng.normal(size=20)).n_copies == 0


class TestRepetitionsByNature:
    @pytest.mark.parametrize("truth", [0.1, 0.4])
    def test_columns_of_few_values_with_a_hidden_class(self, truth, rng):
        answers, hidden = rng.integers(5, size=(500, 6)), rng.integers(5, size=(500, 1))
        answers = LETTERS[np.where(rng.random((500, 6)) < truth, hidden, answers)]
        assert find_copies(answers[:, :3], answers[:, 3:]).n_copies == 0

    def test_a_design_with_two_replicates(self, rng):
        design = np.tile(np.stack(np.meshgrid(*[range(3)] * 4), -1).reshape(-1, 4), (2, 1))
        assert find_copies(LETTERS[design], LETTERS[rng.integers(2, size=162)]).n_copies == 0
        assert find_copies(LETTERS[design], LETTERS[design.sum(axis=1) % 2]).n_copies == 0

    def test_labels(self, rng):
        x, y = rng.integers(5, size=(2, 1000))
        assert find_copies(LETTERS[x], LETTERS[y]).n_copies == 0
        assert find_copies(LETTERS[x], LETTERS[x]).n_copies == 0
        pairs = np.array([f"u{i // 2}" for i in range(400)], dtype=object)
        assert find_copies(pairs, pairs).n_copies == 0  # each label twice

    def test_few_columns_of_labels(self, rng):
        assert find_copies(LETTERS[rng.integers(5, size=(2000, 5))], LETTERS[rng.integers(3, size=2000)]).n_copies == 0

    def test_labels_that_determine_each_other(self, rng):
        kind = rng.integers(50, size=2000)
        nested = np.array([[f"s{k}", f"g{k // 3}", f"f{k // 10}"] for k in kind], dtype=object)
        assert find_copies(nested, LETTERS[rng.integers(3, size=2000)]).n_copies == 0
        assert find_copies(np.column_stack([kind % 4] * 5), kind % 4).n_copies == 0

    def test_places_measured_again_and_again(self, rng):
        places, which = rng.normal(size=(100, 3)), rng.integers(100, size=2000)
        assert find_copies(places[which], rng.integers(2, size=2000)).n_copies == 0
        assert find_copies(places[which], rng.normal(size=2000)).n_copies == 0

    @pytest.mark.parametrize("digits", [0, 1, 2])
    def test_rounded_numbers(self, digits, rng):
        x = 170 + 10 * rng.normal(size=1000)
        y = x - 100 + 10 * rng.normal(size=1000)
        assert find_copies(x.round(digits), y.round(digits)).n_copies <= 4

    def test_rounded_numbers_that_determine_the_other_columns(self, rng):
        height = (170 + 10 * rng.normal(size=300)).round(1)
        size = np.where(height > 170, "tall", "small")
        X = pd.DataFrame({"cm": height, "inch": (height / 2.54).round(2), "size": size})
        assert find_copies(X, rng.normal(size=300)).n_copies == 0
        days = pd.Series(pd.Timestamp("2015-01-01") + pd.to_timedelta(rng.integers(0, 2000, 300), "D"))
        dates = pd.DataFrame({"date": days, "year": days.dt.year, "month": days.dt.month_name()})
        assert find_copies(dates, rng.normal(size=300)).n_copies == 0
        rows = np.r_[np.arange(300), np.tile(np.arange(100), 3)]
        assert find_copies(X.iloc[rows], rng.normal(size=300)[rows]).n_copies == 400

    def test_a_constant(self):
        assert find_copies(np.ones((50, 2)), np.ones(50)).groups is None


class TestTextsAndImages:
    SUBJECTS = ("Windows drivers for old cards", "Hockey playoffs predictions", "Space shuttle orbit question")

    def make_texts(self, rng, n=200):
        words = np.array([f"word{chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(300)], dtype=object)
        return [" ".join(rng.choice(words, 4)) for _ in range(n)]

    def test_near_copies(self, rng):
        texts = [
            *self.make_texts(rng),
            *self.SUBJECTS,
            *(f"Re: {s}" for s in self.SUBJECTS),
            "RE: fwd: HOCKEY playoffs: predictions!",
        ]
        found = find_copies(texts, rng.normal(size=len(texts)))
        assert found.n_copies == 7
        assert found.codes[-1] == found.codes[-3] == found.codes[-6]

    def test_numbers_do_not_matter(self, rng):
        texts = [*self.make_texts(rng), "Call for papers, volume 3 of Acta", "Call for papers, volume 14 of Acta"]
        assert find_copies(pl.Series(texts), rng.normal(size=len(texts))).n_copies == 2

    def test_short_texts_repeat_by_nature(self, rng):
        texts = [*self.make_texts(rng), *(f"for sale {word}" for word in self.make_texts(rng, 60)), *["for sale"] * 3]
        assert find_copies(texts, rng.normal(size=len(texts))).n_copies == 0

    def test_sparse_rows(self, rng):
        X = sp.random_array((300, 500), density=0.02, rng=rng, format="csr")
        rows = repeat_some(300)
        found = find_copies(X[rows], rng.normal(size=len(rows)))
        assert 300 <= found.n_different <= 303  # rows of one or two items may repeat by chance
        assert X.nnz == 3000

    def test_images_with_several_captions(self, rng):
        images = rng.integers(256, size=(40, 1, 6, 6), dtype=np.uint8)
        found = find_copies(np.repeat(images, 5, axis=0), rng.normal(size=200))
        assert (found.n_copies, found.n_different) == (200, 40)
        assert find_copies(np.zeros((20, 1, 6, 6)), rng.normal(size=20)).n_copies == 0  # blank

    def test_pairs_that_share_a_text_or_an_image_are_one_group(self, rng):
        images = rng.integers(256, size=(200, 1, 6, 6), dtype=np.uint8)
        texts = self.make_texts(rng)
        images[1], texts[2] = images[0], texts[1]
        found = find_copies(images, texts)
        assert found.codes[0] == found.codes[1] == found.codes[2]
        assert found.n_copies == 3


@pytest.mark.parametrize(
    ("values", "chance"),
    [
        ([0.0, 0.1, 0.4, np.nan, 0.9], 0.1),
        ([0.0, 1 / 3, np.pi], 0),
        ([0, 20, 80], 0.2),
        ([3, 3], 1),
        ([np.nan], 1),
        ([-1e300, 1e300], 0),
        ([0, 2**62, -(2**62)], 0),
        (np.array(["2020-01-01", "2020-01-04", "NaT", "2020-01-10"], dtype="M8[ns]").astype(np.int64), 0.25),
    ],
)
def test_the_least_chance_of_equal_numbers(values, chance):
    assert find_least_chance(np.array(values)) == pytest.approx(chance)


def test_resolve_groups(numbers):
    X, Y = numbers
    assert resolve_groups(None, X, Y) == (None, None)
    groups, copies = resolve_groups("duplicates", X, Y)
    assert groups is None
    assert copies.describe() == ""
    rows = repeat_some(300)
    groups, copies = resolve_groups("duplicates", X[rows], Y[rows])
    assert copies.describe() == "120 of 360 rows are copies of another row; copies are kept on one side of every split"
    assert len(take_firsts(X[rows], Y[rows], groups)[0]) == 300
    with pytest.raises(ValueError, match=r"groups.*duplicates"):
        resolve_groups("copies", X, Y)


def test_data_that_cannot_be_read_have_no_copies():
    assert find_copies([[1, 2], [3]], [1, 2]).n_copies == 0
    assert find_copies(np.array([{}, {}], dtype=object), [1.0, 2.0]).n_copies == 0
