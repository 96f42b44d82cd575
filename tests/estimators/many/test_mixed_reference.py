"""Analyses of numbers and answers equal FactoMineR's FAMD, PCA and MFA."""

import numpy as np
import pytest

import correspondence as co

from .reference import assert_same, data, numbered, read


def check_shared(mixed, prefix, variant=None, d=5):
    known = read(f"{prefix}_eig", variant)
    k = min(len(known), len(mixed.inertias_))
    assert_same(mixed.inertias_[:k], known["eigenvalue"][:k])
    assert_same(100 * mixed.shares_[:k], known["percentage of variance"][:k])
    known = read(f"{prefix}_ind", variant)
    assert_same(mixed.rows_.principal[:, :d], numbered(known, "coord", d))
    assert_same(100 * mixed.rows_.contributions[:, :d], numbered(known, "contrib", d))
    assert_same(mixed.rows_.cos2[:, :d], numbered(known, "cos2", d))


def check_numbers(mixed, known, d=5):
    assert_same(mixed.numbers_.coordinates[:, :d], numbered(known, "coord", d))
    assert_same(100 * mixed.numbers_.contributions[:, :d], numbered(known, "contrib", d))
    assert_same(mixed.numbers_.cos2[:, :d], numbered(known, "cos2", d))


def check_answers(mixed, known, d=5):
    answers = [str(label).split(":", 1)[1] for label in mixed.columns_.labels]
    own = [answers.index(name) for name in known["name"]]
    assert_same(mixed.columns_.principal[own, :d], numbered(known, "coord", d))
    assert_same(100 * mixed.columns_.contributions[own, :d], numbered(known, "contrib", d))
    assert_same(mixed.columns_.cos2[own, :d], numbered(known, "cos2", d))
    assert_same(mixed.vtests_[own, :d], numbered(known, "v.test", d))


def check_variables(mixed, known, d=5):
    """Compare eta2, contributions (eta2 by inertia) and FactoMineR's cos2 (eta2 squared, by the answers but one)."""
    names = [label.split(":")[0] for label in mixed.columns_.labels]
    places = [mixed.variables_.tolist().index(name) for name in known["variable"]]
    eta2 = mixed.eta2_[places, :d]
    width = np.array([max(names.count(name) - 1, 1) for name in known["variable"]])
    assert_same(eta2, numbered(known, "coord", d))
    assert_same(100 * eta2 / mixed.inertias_[:d], numbered(known, "contrib", d))
    assert_same(eta2**2 / width[:, None], numbered(known, "cos2", d))


class TestFamd:
    @pytest.mark.parametrize("variant", ["base", "roww"])
    def test_geomorphology(self, variant):
        weights = 1 + np.arange(75) % 4 if variant == "roww" else None
        mixed, own = co.MixedCA().fit(data("geomorphology"), sample_weight=weights), {"variant": variant}
        check_shared(mixed, "geomorphology_FAMD", own)
        check_numbers(mixed, read("geomorphology_FAMD_quantivar", own))
        check_answers(mixed, read("geomorphology_FAMD_qualivar", own))
        known = read("geomorphology_FAMD_var", own)
        check_variables(mixed, known)

    def test_supplementary(self):
        frame = data("wine")
        names = [frame.columns[j - 1] for j in (1, 2, 16, 22, 29, 28, 30, 31)]
        mixed = co.MixedCA().fit(frame[names], supplementary=names[6:], supplementary_rows=[3, 20])
        check_shared(mixed, "wine_FAMD_sup")
        check_numbers(mixed, read("wine_FAMD_sup_quantivar"))
        check_answers(mixed, read("wine_FAMD_sup_qualivar"))
        known = read("wine_FAMD_sup_indsup")
        assert_same(mixed.supplementary_rows_.principal[:, :5], numbered(known, "coord"))
        assert_same(mixed.supplementary_rows_.cos2[:, :5], numbered(known, "cos2"))
        known = read("wine_FAMD_sup_quantisup")
        assert_same(mixed.supplementary_numbers_.correlations[:, :5], numbered(known, "coord"))
        assert_same(mixed.supplementary_numbers_.cos2[:, :5], numbered(known, "cos2"))
        assert_same(mixed.supplementary_numbers_.cos2[:, :5], numbered(read("wine_FAMD_sup_varsup"), "coord"))
        assert_same(mixed.supplementary_numbers_.cos2[:, :5] ** 2, numbered(read("wine_FAMD_sup_varsup"), "cos2"))
        check_variables(mixed, read("wine_FAMD_sup_var"))


class TestPca:
    @pytest.mark.parametrize("variant", ["base", "noscale", "roww_indsup"])
    def test_decathlon(self, variant):
        frame, own = data("decathlon"), {"variant": variant}
        if variant == "noscale":
            pca = co.MixedCA(standardize=False).fit(frame.iloc[:, :10])
        else:
            more = {"supplementary": frame.columns[10:].tolist()}
            if variant != "base":
                weights = np.r_[1 + np.arange(38) % 3, 1, 1, 1]
                more |= {"supplementary_rows": [38, 39, 40], "sample_weight": weights}
            pca = co.MixedCA().fit(frame, **more)
        check_shared(pca, "decathlon_PCA", own)
        assert_same(pca.rows_.chi2_distance, read("decathlon_PCA_ind", own)["dist"])
        known = read("decathlon_PCA_var", own)
        check_numbers(pca, known)
        assert_same(pca.numbers_.correlations[:, :5], numbered(known, "cor"))
        if variant != "noscale":
            self.check_supplementary(pca, own)

    def check_supplementary(self, pca, own):
        known = read("decathlon_PCA_qualisup", own)
        points = pca.supplementary_columns_
        assert [label.split(":")[1] for label in points.labels] == known["name"].tolist()
        assert_same(points.principal[:, :5], numbered(known, "coord"))
        assert_same(points.cos2[:, :5], numbered(known, "cos2"))
        assert_same(points.chi2_distance, known["dist"])
        assert_same(pca.supplementary_vtests_[:, :5], numbered(known, "v.test"))
        known = read("decathlon_PCA_qualisup_eta2", own)
        assert_same(pca.supplementary_eta2_["Competition"][:5], numbered(known, "eta2")[0])
        known = read("decathlon_PCA_quantisup", own)
        assert_same(pca.supplementary_numbers_.correlations[:, :5], numbered(known, "cor"))
        assert_same(pca.supplementary_numbers_.cos2[:, :5], numbered(known, "cos2"))
        if own["variant"] == "roww_indsup":
            known = read("decathlon_PCA_indsup", own)
            assert_same(pca.supplementary_rows_.principal[:, :5], numbered(known, "coord"))
            assert_same(pca.supplementary_rows_.cos2[:, :5], numbered(known, "cos2"))


GROUP_SIZES = {"orig": 2, "olf": 5, "vis": 3, "olfag": 10, "gust": 9, "ens": 2}


def list_groups(frame):
    starts = np.cumsum([0, *GROUP_SIZES.values()])
    return {name: frame.columns[a : a + n].tolist() for (name, n), a in zip(GROUP_SIZES.items(), starts, strict=False)}


@pytest.fixture(scope="module", params=["wine_MFA", "wine_MFA_mixed"])
def wine(request):
    frame = data("wine")
    groups = list_groups(frame)
    if request.param == "wine_MFA":
        return request.param, co.MixedCA(groups=groups).fit(frame, supplementary=groups["orig"] + groups["ens"])
    scaled = [name for group in ("vis", "olfag", "gust", "ens") for name in groups[group]]
    mixed = co.MixedCA(groups=groups, standardize=scaled)
    return request.param, mixed.fit(frame, supplementary=groups["ens"])


class TestMfa:
    def test_rows_and_columns(self, wine):
        prefix, mfa = wine
        check_shared(mfa, prefix)
        known = read(f"{prefix}_quantivar")
        check_numbers(mfa, known)
        assert_same(mfa.numbers_.correlations[:, :5], numbered(known, "cor"))
        known, numbers = read(f"{prefix}_quantivarsup"), mfa.supplementary_numbers_
        assert_same(numbers.correlations[:, :5], numbered(known, "cor"))
        assert_same(numbers.cos2[:, :5], numbered(known, "cos2"))
        if prefix == "wine_MFA_mixed":
            known = read("wine_MFA_mixed_qualivar")
            answers = [str(label).split(":", 1)[1] for label in mfa.columns_.labels]
            own = [answers.index(name) for name in known["name"]]
            assert_same(mfa.columns_.principal[own, :5], numbered(known, "coord"))
            assert_same(100 * mfa.columns_.contributions[own, :5], numbered(known, "contrib"))
            assert_same(mfa.columns_.cos2[own, :5], numbered(known, "cos2"))
            assert_same(mfa.vtests_[own, :5], numbered(known, "v.test"))
        else:
            known, points = read("wine_MFA_qualivarsup"), mfa.supplementary_columns_
            own = [[str(label).split(":", 1)[1] for label in points.labels].index(name) for name in known["name"]]
            assert_same(points.principal[own, :5], numbered(known, "coord"))
            assert_same(points.cos2[own, :5], numbered(known, "cos2"))
            assert_same(mfa.supplementary_vtests_[own, :5], numbered(known, "v.test"))

    def test_groups(self, wine):
        prefix, mfa = wine
        known, groups = read(f"{prefix}_group"), mfa.groups_
        own = [groups.labels.tolist().index(name) for name in known["group"]]
        assert groups.is_active[own].tolist() == (known["role"] == "active").tolist()
        assert_same(groups.coordinates[own, :5], numbered(known, "coord"))
        assert_same(groups.cos2[own, :5], numbered(known, "cos2"))
        active = groups.is_active[own]
        assert_same(groups.correlations[own, :5][active], numbered(known, "correlation")[active])
        assert_same(100 * groups.contributions[own, :5][active], numbered(known, "contrib")[active])

    def test_coefficients(self, wine):
        prefix, mfa = wine
        for name in ("Lg", "RV"):
            known = read(f"{prefix}_group_{name}", index_col=0)
            own = [*(mfa.groups_.labels.tolist().index(group) for group in known.columns[:-1]), len(mfa.groups_)]
            assert_same(getattr(mfa.groups_, name)[np.ix_(own, own)], known.to_numpy())
        assert_same(mfa.groups_.inertia_ratio[:5], read(f"{prefix}_inertia_ratio")["inertia_ratio"])

    def test_partial_rows(self, wine):
        prefix, mfa = wine
        known = read(f"{prefix}_ind_partial")
        rows = [str(label) for label in mfa.rows_.labels]
        places = [name.rsplit(".", 1) for name in known["name"]]
        ours = np.array([mfa.partial_rows_[group][rows.index(row), :5] for row, group in places])
        assert_same(ours, numbered(known, "coord"))
        np.testing.assert_allclose(np.mean(list(mfa.partial_rows_.values()), axis=0), mfa.rows_.principal, atol=1e-12)

        within = ((np.stack(list(mfa.partial_rows_.values())) - mfa.rows_.principal)[:, :, :5] ** 2).sum(axis=0)
        assert_same(100 * within / within.sum(axis=0), numbered(read(f"{prefix}_ind"), "within"))

    def test_partial_answers(self, wine):
        """The partial points of an answer are the means of those of its rows."""
        prefix, mfa = wine
        frame = data("wine")
        known = read(f"{prefix}_{'qualivarsup' if prefix == 'wine_MFA' else 'qualivar'}_partial")
        theirs = numbered(known, "coord")
        pairs = [name.rsplit(".", 1) for name in known["name"]]
        ours = []
        for answer, group in pairs:
            own = (frame.iloc[:, :2] == answer).any(axis=1).to_numpy()
            ours.append(mfa.partial_rows_[group][own, :5].mean(axis=0))
        ours = np.array(ours)
        if prefix == "wine_MFA_mixed":  # of all groups but the one that is not standardised, R's are shifted
            signs = np.sign((mfa.rows_.principal[:, :5] * numbered(read("wine_MFA_mixed_ind"), "coord")).sum(axis=0))
            ours = ours * signs
            shift = np.where([[group != "olf"] for _, group in pairs], theirs - ours, 0)
            first = next(j for j, (_, group) in enumerate(pairs) if group != "olf")
            ours = ours + np.where([[group != "olf"] for _, group in pairs], shift[first], 0)
        assert_same(ours, theirs)

    def test_separate_analyses(self, wine):
        prefix, mfa = wine
        frame, known, groups = data("wine"), read(f"{prefix}_separate_eig"), mfa.groups_
        for name, own in known.groupby("group"):
            inertias = groups.separate_inertias[groups.labels.tolist().index(name)][: len(own)]
            assert_same(inertias, (own["eigenvalue"] / own["eigenvalue"].iloc[0])[: len(inertias)])
            alone = co.MixedCA(standardize=mfa.standardize).fit(frame[list_groups(frame)[name]])
            share = 2 if name == "orig" else 1  # the two columns of answers are an MCA, whose inertias are means
            assert_same(alone.inertias_[: len(own)] / share, own["eigenvalue"][: len(alone.inertias_)])
            assert_same(100 * alone.shares_[: len(own)], own["percentage"][: len(alone.inertias_)])

    def test_partial_axes(self, wine):
        prefix, mfa = wine
        known = read(f"{prefix}_partial_axes")
        places = [name.split(".", 1) for name in known["name"]]
        groups = mfa.groups_.labels.tolist()
        ours = [mfa.groups_.partial_axes[groups.index(group)][int(axis[3:]) - 1, :5] for axis, group in places]
        np.testing.assert_allclose(np.abs(ours), np.abs(numbered(known, "cor")), atol=1e-8)
        inertias = [mfa.groups_.separate_inertias[groups.index(group)][int(axis[3:]) - 1] for axis, group in places]
        active = [mfa.groups_.is_active[groups.index(group)] for _, group in places]
        contributions = np.square(ours) * np.where(active, inertias, 0)[:, None]
        assert_same(100 * contributions / contributions.sum(axis=0), numbered(known, "contrib"))  # of the axes written
