"""Copies are kept together, and rare labels merged, before methods are judged."""

import numpy as np
import pandas as pd
import pytest

import correspondence as co
from correspondence.selection.decompose import choose_decomposition
from correspondence.selection.method_registry import PairsProfile
from correspondence.selection.preparing import PreparedLabels, merge_rare_labels
from correspondence.selection.race import Contest

OPTIONS = {"verbose": False}


@pytest.fixture
def rare(rng):
    """Two columns of labels that share four classes, and a third of whose labels occur once."""
    kind = rng.integers(4, size=(2, 500))
    kind[1] = np.where(rng.random(500) < 0.7, kind[0], kind[1])
    labels = [[f"{name}{k}" for k in own] for name, own in zip("xy", kind, strict=True)]
    for own in labels:
        for i in rng.choice(500, 150, replace=False):
            own[i] = f"once {i}"
    return labels


class TestCopies:
    def test_without_copies_nothing_changes(self, rng):
        X = rng.normal(size=(120, 2))
        Y = X[:, 0] + rng.normal(size=120)
        default, none = (co.decompose(X, Y, method="cca", **OPTIONS, **more) for more in ({}, {"groups": None}))
        assert default.origin == none.origin
        assert (default.pics == none.pics).all()

    def test_copies_are_told_and_tested_once(self, rng):
        X, Y = rng.normal(size=(100, 2)), rng.normal(size=100)
        rows = np.tile(np.arange(100), 4)
        choice = choose_decomposition(X[rows], Y[rows], method="cca")
        assert "400 of 400 rows are copies" in choice.origin
        assert choice.notes == (f"{choice.copies.describe()}.",)
        alone = choose_decomposition(X, Y, method="cca")
        assert choice.found == alone.found

    def test_few_different_pairs_are_not_tested(self, rng):
        X, Y = rng.normal(size=(20, 2)), rng.normal(size=20)
        rows = np.tile(np.arange(20), 3)
        choice = choose_decomposition(X[rows], Y[rows], method="cca")
        assert choice.found is None
        assert "20 different pairs" in choice.not_tested

    def test_counts_are_not_copies(self):
        table = np.array([[40, 10], [10, 40]])
        assert choose_decomposition(table).copies is None

    def test_splits_of_the_users_own(self, rng):
        X, Y = rng.normal(size=(50, 2)), rng.normal(size=50)
        rows = np.tile(np.arange(50), 2)
        halves = [(np.arange(50), np.arange(50, 100))]
        assert co.compare(X[rows], Y[rows], ["cca"], cv=halves).notes == ()
        few = co.compare(X[[*range(30)] * 2], Y[[*range(30)] * 2], ["cca"], cv=40)
        assert "too few" in few.notes[0]

    @pytest.mark.slow
    @pytest.mark.filterwarnings("ignore::correspondence.CorrespondenceWarning")
    def test_level(self):
        """Rows that occur four times each, without dependence: the test on all pairs rejects too often."""
        found = dict.fromkeys((None, "duplicates"), 0)
        for seed in range(60):
            rng = np.random.default_rng(seed)
            X, Y = rng.normal(size=(60, 3)), rng.normal(size=(60, 2))
            rows = np.r_[np.arange(60), np.tile(np.arange(30), 6)]
            for groups in found:
                test = co.permutation_test(co.CCA(n_components=1), X[rows], Y[rows], 99, groups=groups)
                found[groups] += test.pvalues[0] <= 0.05
        assert found["duplicates"] <= 8  # of 60 at 5 %: more have a probability of 0.003
        assert found[None] >= 15

    @pytest.mark.slow
    @pytest.mark.filterwarnings("ignore::correspondence.CorrespondenceWarning")
    def test_level_of_few_values(self):
        """Independent columns of five values, a third of whose rows occur twice; benchmarks/copies.py measures more."""
        found = dict.fromkeys((None, "duplicates"), 0)
        for seed in range(40):
            rng = np.random.default_rng(seed)
            rows = np.array(list("abcde"), dtype=object)[rng.integers(5, size=(500, 6))]
            rows = rng.permutation(np.vstack([rows, rows[:170]]))
            for groups in found:
                test = co.permutation_test(co.CCA(n_components=1), rows[:, :3], rows[:, 3:], 99, groups=groups)
                found[groups] += test.pvalues[0] <= 0.05
        assert found["duplicates"] <= 6  # of 40 at 5 %: more have a probability of 0.003
        assert found[None] >= 20

    @pytest.mark.slow
    @pytest.mark.filterwarnings("ignore::correspondence.CorrespondenceWarning")
    def test_functions_of_the_room_of_validation(self, rng):
        X, Y = rng.normal(size=(80, 2)), rng.normal(size=80)
        rows, est = np.repeat(np.arange(80), 3), co.CCA(n_components=1)
        explicit, own = ({"groups": groups} for groups in (rows, "duplicates"))
        for procedure in (co.crossfit, co.pic_intervals):
            one, other = (procedure(est, X[rows], Y[rows], **groups) for groups in (explicit, own))
            assert (one.intervals == other.intervals).all()
        alone = co.permutation_test(est, X, Y)
        grouped = co.permutation_test(est, X[rows], Y[rows], **own)
        assert (grouped.pvalues == alone.pvalues).all()
        assert grouped.kind == "all pairs"
        assert co.latent_dimension(est, X[rows], Y[rows], **own).n_components == int(alone.pvalues[0] <= 0.05)
        assert co.permutation_test(est, X[rows], Y[rows], 19, refit=True, **own).kind == "refitted"

    def test_default_of_the_room_of_validation(self, rng):
        X, Y = rng.normal(size=(80, 2)), rng.normal(size=80)
        rows, est = np.repeat(np.arange(80), 3), co.CCA(n_components=1)
        for procedure in (co.crossfit, co.pic_intervals, co.permutation_test, co.latent_dimension):
            with pytest.warns(co.CorrespondenceWarning, match="240 of 240 rows are copies"):
                procedure(est, X[rows], Y[rows])
        with pytest.warns(co.CorrespondenceWarning, match="too few"):
            co.pic_intervals(est, X[rows[:24]], Y[rows[:24]], 5)


class TestMinCount:
    @pytest.mark.slow
    def test_rare_labels_are_merged(self, rare):
        choice = choose_decomposition(*rare)
        d = choice.decomposition
        assert choice.prepared.min_count in (2, 5)
        assert len(d.f.labels) == 5
        assert "merged" in choice.origin
        assert "150 labels of x that occur" in choice.notes[0]

    def test_the_result_takes_merged_labels(self, rare, tmp_path):
        d = co.decompose(*rare, min_count=2, **OPTIONS)
        once = next(label for label in rare[0] if label.startswith("once"))
        assert (d.f([once]) == d.f(["other (150 labels)"])).all()
        with pytest.raises(ValueError, match="never seen"):
            d.f(["never seen"])
        d.save(tmp_path / "d.safetensors")
        assert (co.load(tmp_path / "d.safetensors").f(rare[0]) == d.f(rare[0])).all()

    def test_columns_of_a_frame(self, rare, tmp_path, rng):
        frame = pd.DataFrame({"label": rare[0], "number": rng.normal(size=500)})
        d = co.decompose(frame, rare[1], method="cca", min_count=2, **OPTIONS)
        once = frame.index[frame["label"].str.startswith("once")][:2]
        values = d.f(frame.loc[once].assign(number=0.0))
        assert (values[0] == values[1]).all()
        d.save(tmp_path / "d.safetensors")
        assert np.allclose(co.load(tmp_path / "d.safetensors").f(frame), d.f(frame))

    @pytest.mark.slow
    def test_a_table(self, rare):
        table = co.count_pairs(np.column_stack(rare), 0, 1)
        d = co.decompose(table, min_count=2, **OPTIONS)
        assert len(d.f.labels) == 5
        assert np.isfinite(d.f(rare[0])).all()
        assert d.n == 500
        shares = co.decompose(co.Table(table.toarray() / 500, table.rows, table.columns), **OPTIONS)
        assert len(shares.f.labels) == len(table.rows)  # without pairs to hold out nothing is merged by default

    def test_labels_that_are_numbers(self, rare):
        codes = [np.unique(own, return_inverse=True)[1] for own in rare]
        d = co.decompose(*codes, method="ca", min_count=2, **OPTIONS)
        assert len(d.f.labels) == 5

    def test_numbers_of_a_frame_that_are_labels(self, rare):
        """Ids of users are labels by their name."""
        codes = [np.unique(own, return_inverse=True)[1] for own in rare]
        x, y = pd.DataFrame({"userId": codes[0]}), pd.DataFrame({"movieId": codes[1]})
        d = co.decompose(x, y, min_count=2, **OPTIONS)
        assert len(d.f.labels) == 5
        assert np.isfinite(d.f(x)).all()

    def test_nothing_is_merged_where_that_would_lose_something(self, rng):
        """Each of 200 labels has its own y, which three pairs are enough to learn."""
        kind = rng.permutation(np.repeat(np.arange(200), 4))
        x, y = [f"x{k}" for k in kind], [f"y{k % 4}" for k in kind]
        assert choose_decomposition(x, y).prepared.min_count == 1

    def test_a_few_rare_labels_are_left_alone(self, rng):
        x = [*rng.choice(["a", "b", "c"], 197), "d", "e", "f"]
        assert not choose_decomposition(x, rng.choice(["u", "v"], 200)).prepared.merges
        assert choose_decomposition(x, rng.choice(["u", "v"], 200), min_count=2).prepared.merges

    @pytest.mark.slow
    def test_compare(self, rare):
        comparison = co.compare(*rare, ["ca"])
        assert "merged" in comparison.notes[0]
        assert comparison.notes[0] in repr(comparison)
        assert co.compare(*rare, ["ca"], min_count=1).notes == ()
        assert comparison.results["ca"].captured > co.compare(*rare, ["ca"], min_count=1).results["ca"].captured

    @pytest.mark.parametrize("min_count", [0, 1.5, "all", True])
    def test_wrong(self, rare, min_count):
        for call in (co.decompose, co.compare):
            with pytest.raises(ValueError, match="min_count"):
                call(*rare, min_count=min_count)

    def test_all_labels_rare(self, rare):
        with pytest.raises(ValueError, match=r"min_count.*X"):
            co.decompose(*rare, min_count=1000)
        unique = [f"id{i}" for i in range(100)]
        profile = PairsProfile.from_data(unique, np.arange(100.0))
        assert not merge_rare_labels(Contest(unique, np.arange(100.0), profile), "auto").merges

    def test_notes_of_nothing(self):
        assert PreparedLabels().notes == ()


class TestLabelsBesideOtherVariables:
    @pytest.mark.slow
    def test_labels_that_occur_once_are_merged(self):
        x, y = self.draw()
        choice = choose_decomposition(x, y, 2)
        assert choice.prepared.min_count == 2
        assert choice.prepared.y[0].n_levels == 4
        assert "once" in choice.notes[-1]
        assert np.isfinite(choice.decomposition.g(["one", "two", "rare"])).all()

    def test_they_make_no_component_of_their_own(self):
        x, y = self.draw()
        strength = {k: co.decompose(x, y, 1, "cca", min_count=k, **OPTIONS).g(["one"])[0, 0] for k in (1, "auto")}
        assert abs(strength["auto"]) < 3 < abs(strength[1])

    @pytest.mark.slow
    def test_others_and_a_single_one_are_left_alone(self):
        x, y = self.draw()
        y[1:10] = "a"
        assert not choose_decomposition(x, y, 2).prepared.merges

    def draw(self):
        """Draw two similar rows with a label each, and others whose labels depend on the first number."""
        rng = np.random.default_rng(0)
        x = rng.normal(size=(200, 3))
        y = np.where(x[:, 0] > 0, "a", "b").astype(object)
        y[:14] = ["one", "two", *(f"label {i}" for i in range(8)), "rare", "rare", "rare", "rare"]
        x[:2] = [[0.0, 30.0, 0.0], [0.0, 31.0, 0.0]]
        return x, y
