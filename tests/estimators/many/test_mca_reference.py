"""Multiple correspondence analysis equals FactoMineR's MCA and ca's mjca."""

import numpy as np
import pytest

import correspondence as co

from .reference import assert_same, data, numbered, places, read

POISON_ACTIVE = slice(4, 15)
FACTOMINER = {
    "base": ({}, {}),
    "roww": ({}, {"sample_weight": 1 + np.arange(55) % 3}),
    "roww_sum1": ({}, {"sample_weight": (1 + np.arange(55) % 3) / (1 + np.arange(55) % 3).sum()}),
    "indsup": ({}, {"supplementary_rows": [2, 16, 39, 40, 41, 42, 43]}),
    "excl": ({"exclude": ["Potato:Potato_n", "Fish:Fish_n", "Icecream:Icecream_n"]}, {}),
    "Burt": ({"correction": "burt"}, {}),
}


@pytest.fixture(scope="module", params=FACTOMINER)
def poison(request):
    parameters, arguments = FACTOMINER[request.param]
    frame = data("poison")
    names = frame.columns[:4].tolist()
    return request.param, co.MCA(**parameters).fit(frame, supplementary=names, **arguments)


class TestFactoMineR:
    def test_inertias(self, poison):
        variant, mca = poison
        known = read("poison_MCA_eig", {"variant": variant})
        d = min(len(known), len(mca.inertias_))
        assert_same(mca.inertias_[:d], known["eigenvalue"][:d])
        assert_same(100 * mca.shares_[:d], known["percentage of variance"][:d])

    def test_columns(self, poison):
        variant, mca = poison
        known = read("poison_MCA_var", {"variant": variant})
        own = places(mca.columns_.labels, known)
        assert_same(mca.columns_.principal[own, :5], numbered(known, "coord"))
        assert_same(100 * mca.columns_.contributions[own, :5], numbered(known, "contrib"))
        assert_same(mca.columns_.cos2[own, :5], numbered(known, "cos2"))
        if variant not in ("Burt", "roww_sum1"):  # R's own: of Burt coordinates, and by another formula for shares
            assert_same(mca.vtests_[own, :5], numbered(known, "v.test"))

    def test_rows(self, poison):
        variant, mca = poison
        known = read("poison_MCA_ind", {"variant": variant})
        if not len(known):
            pytest.skip("R has no rows of this variant")
        labels = [str(label) for label in mca.rows_.labels]
        own = [labels.index(name) for name in known["name"]]
        assert_same(mca.rows_.principal[own, :5], numbered(known, "coord"))
        assert_same(100 * mca.rows_.contributions[own, :5], numbered(known, "contrib"))
        assert_same(mca.rows_.cos2[own, :5], numbered(known, "cos2"))

    def test_eta2(self, poison):
        variant, mca = poison
        known = read("poison_MCA_eta2", {"variant": variant, "role": "active"})
        assert mca.variables_.tolist() == known["variable"].tolist()
        assert_same(mca.eta2_[:, :5], numbered(known, "eta2"))

    def test_supplementary_columns(self, poison):
        variant, mca = poison
        known = read("poison_MCA_qualisup", {"variant": variant})
        points = mca.supplementary_columns_
        own = places(points.labels, known)
        assert_same(points.principal[own, :5], numbered(known, "coord"))
        assert_same(points.cos2[own, :5], numbered(known, "cos2"))
        if variant not in ("Burt", "roww_sum1"):
            assert_same(mca.supplementary_vtests_[own, :5], numbered(known, "v.test"))
        known = read("poison_MCA_eta2", {"variant": variant})
        known = known[known["role"] != "active"]
        assert_same([mca.supplementary_eta2_[name][:5] for name in known["variable"]], numbered(known, "eta2"))
        assert_same(
            mca.supplementary_numbers_.correlations[:, :5],
            numbered(read("poison_MCA_quantisup", {"variant": variant}), "coord"),
        )

    def test_supplementary_rows(self, poison):
        variant, mca = poison
        if variant != "indsup":
            assert mca.supplementary_rows_ is None
            return
        known = read("poison_MCA_indsup")
        assert_same(mca.supplementary_rows_.principal[:, :5], numbered(known, "coord"))
        assert_same(mca.supplementary_rows_.cos2[:, :5], numbered(known, "cos2"))

    @pytest.mark.parametrize("variant", ["base", "excl", "ventil"])
    def test_wg93(self, variant):
        frame = data("wg93_MCA_ventil") if variant == "ventil" else data("wg93", dtype=str)
        excluded = [f"{name}:3" for name in "ABCD"] if variant == "excl" else None
        mca = co.MCA(exclude=excluded).fit(frame, supplementary=frame.columns[4:].tolist())
        known = read("wg93_MCA_eig", {"variant": variant})
        assert_same(mca.inertias_[: len(known)], known["eigenvalue"])
        assert_same(100 * mca.shares_[: len(known)], known["percentage of variance"])
        known = read("wg93_MCA_var", {"variant": variant})
        own = places(mca.columns_.labels, known if variant == "ventil" else strip_names(known))
        self.check_points(mca.columns_, mca.vtests_, own, known)
        assert_same(100 * mca.columns_.contributions[own, :5], numbered(known, "contrib"))
        known = read("wg93_MCA_eta2", {"variant": variant})
        active = known["role"] == "active"
        assert_same(mca.eta2_[:, :5], numbered(known[active], "eta2"))
        if variant != "ventil":
            passive = known[~active]
            assert_same([mca.supplementary_eta2_[name][:5] for name in passive["variable"]], numbered(passive, "eta2"))
            known = read("wg93_MCA_qualisup", {"variant": variant})
            own = places(mca.supplementary_columns_.labels, strip_names(known))
            self.check_points(mca.supplementary_columns_, mca.supplementary_vtests_, own, known)

    def check_points(self, points, vtests, own, known):
        assert_same(points.principal[own, :5], numbered(known, "coord"))
        assert_same(points.cos2[own, :5], numbered(known, "cos2"))
        assert_same(vtests[own, :5], numbered(known, "v.test"))

    @pytest.mark.parametrize(("variant", "missing"), [("na_as_category", "indicator"), ("na_average", "average")])
    def test_missing_answers(self, variant, missing):
        frame, own = data("poison_na"), {"variant": variant}
        mca = co.MCA(missing=missing).fit(frame, supplementary=frame.columns[:4].tolist())
        known = read("poison_na_MCA_eig", own)
        assert_same(mca.inertias_[: len(known)], known["eigenvalue"])
        assert_same(100 * mca.shares_[: len(known)], known["percentage of variance"])
        if missing == "indicator":
            known = read("poison_na_MCA_qualisup", own)
            at = places(mca.supplementary_columns_.labels, known)
            self.check_points(mca.supplementary_columns_, mca.supplementary_vtests_, at, known)
            known = read("poison_na_MCA_quantisup", own)
            assert_same(mca.supplementary_numbers_.correlations[:, :5], numbered(known, "coord"))

    def test_vtests_of_columns_placed_later(self):
        frame = data("poison")
        about = ["Sick", "Sex"]
        mca = co.MCA().fit(frame.iloc[:, POISON_ACTIVE])
        known = read("poison_MCA_qualisup", {"variant": "base"})
        placed = mca.supplementary(columns=frame[about])
        own = places(placed.columns.labels, known)
        assert_same(placed.vtests[own, :5], numbered(known, "v.test"))


def strip_names(table):
    """R calls the answers of columns that share some A_1."""
    levels = [level[len(name) + 1 :] for name, level in zip(table["variable"], table["level"], strict=True)]
    return table.assign(level=levels)


def fit_mjca(name, variant, **parameters):
    frame = data(name, dtype=str if name == "wg93" else None)
    active = frame.columns[POISON_ACTIVE if name == "poison" else slice(4)].tolist()
    left_out = ["Potato:Potato_n", "Fish:Fish_n"] if name == "poison" else [f"{letter}:3" for letter in "ABCD"]
    more = frame.columns[slice(2, 4) if name == "poison" else slice(4, 7)].tolist() if variant == "supcol" else []
    excluded = left_out if variant.startswith("subset") else None
    return co.MCA(exclude=excluded, **parameters).fit(frame[active + more], supplementary=more)


@pytest.mark.parametrize("name", ["poison", "wg93"])
class TestMjca:
    @pytest.mark.parametrize("variant", ["full", "subset", "supcol"])
    @pytest.mark.parametrize("version", ["indicator", "Burt", "adjusted"])
    def test_versions(self, name, version, variant):
        mca = fit_mjca(name, variant, correction=version.lower())
        known = read(f"{name}_mjca_inertia", {"lambda": version, "variant": variant})
        assert_same(mca.inertias_, known["inertia_of_coordinates"])
        if (version, variant) != ("indicator", "subset"):  # R has the shares of the full analysis there
            assert_same(mca.shares_, known["share"])
        if (version, variant) != ("indicator", "subset"):
            known = read(f"{name}_mjca_global", {"lambda": version, "variant": variant})
            assert mca.total_inertia_ == pytest.approx(known["inertia.t"].iloc[0], rel=1e-8)
        known = read(f"{name}_mjca_cols", {"lambda": version, "variant": variant, "supplementary": 0})
        own, d = places(mca.columns_.labels, known), min(5, len(mca.inertias_))
        for ours, theirs in (
            ("standard", "std"),
            ("principal", "principal"),
            ("contributions", "ctr"),
            ("cos2", "cor"),
        ):
            assert_same(getattr(mca.columns_, ours)[own, :d], numbered(known, theirs, d))
        assert_same(mca.columns_.mass[own], known["mass"])
        if version != "adjusted":  # R's of all answers; the adjusted table has other distances
            assert_same(mca.columns_.cos2[own, :2].sum(axis=1), known["quality_nd2"])
        if (version, variant) == ("Burt", "full"):
            assert_same(mca.columns_.inertia[own], known["inertia"])
            assert_same(mca.columns_.chi2_distance[own], known["dist"])
        if variant == "supcol":
            self.check_supplementary(mca, name, version)

    def check_supplementary(self, mca, name, version):
        known = read(f"{name}_mjca_cols", {"lambda": version, "variant": "supcol", "supplementary": 1})
        points = mca.supplementary_columns_
        own, d = places(points.labels, known), min(5, points.principal.shape[1])
        if version == "indicator":  # R's are those of the Burt table; FactoMineR's are compared above
            assert_same(points.standard[own, :d] * mca.inertias_[:d], numbered(known, "principal", d))
            return
        assert_same(points.principal[own, :d], numbered(known, "principal", d))
        assert_same(points.standard[own, :d], numbered(known, "std", d))
        squares = points.principal**2
        shares = points.cos2 if version == "Burt" else squares / squares.sum(axis=1, keepdims=True)  # of R's axes
        assert_same(shares[own, :d], numbered(known, "cor", d))

    def test_rows(self, name):
        if name == "wg93":
            pytest.skip("R has no rows of it")
        mca, known = fit_mjca(name, "full"), read("poison_mjca_indicator_rows")
        for ours, theirs in (
            ("standard", "std"),
            ("principal", "principal"),
            ("contributions", "ctr"),
            ("cos2", "cor"),
        ):
            assert_same(getattr(mca.rows_, ours)[:, :5], numbered(known, theirs))

    @pytest.mark.parametrize("variant", ["full", "supcol"])
    def test_joint_as_far_as_r_iterates(self, name, variant):
        mca = fit_mjca(name, variant, correction="joint")
        known = read(f"{name}_mjca_JCA_cols", {"variant": variant, "supplementary": 0})
        own = places(mca.columns_.labels, known)
        assert_same(mca.columns_.principal[own], numbered(known, "principal", 2), rtol=1e-4)
        if variant == "supcol":
            known = read(f"{name}_mjca_JCA_cols", {"variant": variant, "supplementary": 1})
            points = mca.supplementary_columns_
            own = places(points.labels, known)
            assert_same(points.principal[own], numbered(known, "principal", 2), rtol=1e-4)
            assert_same(points.quality[own], known["cor"], rtol=1e-4)

    @pytest.mark.parametrize("variant", ["tight", "tight_nd3", "subset_tight"])
    def test_joint(self, name, variant):
        d = 3 if "3" in variant else 2
        mca = fit_mjca(name, variant, correction="joint", n_components=d)
        known = read(f"{name}_mjca_inertia", {"lambda": "JCA", "variant": variant})
        assert_same(mca.inertias_, known["inertia_of_coordinates"][:d], rtol=1e-6)
        whole = read(f"{name}_mjca_global", {"lambda": "JCA", "variant": variant})
        assert mca.explained_share_ == pytest.approx(whole["inertia.et"].iloc[0], rel=1e-6)
        known = read(f"{name}_mjca_JCA_cols", {"variant": variant})
        own = places(mca.columns_.labels, known)
        assert_same(mca.columns_.standard[own], numbered(known, "std", d), rtol=1e-6)
        assert_same(mca.columns_.principal[own], numbered(known, "principal", d), rtol=1e-6)
        assert_same(mca.columns_.joint_contributions[own], known["ctr"], rtol=1e-6)
        assert_same(mca.columns_.quality[own], known["cor"], rtol=1e-6)
        assert np.isnan(mca.shares_).all()
