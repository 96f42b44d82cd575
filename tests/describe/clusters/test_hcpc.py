"""Clusters equal FactoMineR's HCPC: gains, numbers of clusters, partitions, paragons (tests/oracle/many)."""

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import correspondence as co

ORACLE = Path(__file__).parents[2] / "oracle" / "many"


def read(name):
    return pd.read_csv(ORACLE / f"{name}.csv", dtype={"name": str, "cluster": str})


def read_data(name):
    return pd.read_csv(ORACLE / f"{name}_data.csv", index_col=0)


@cache
def fit(name):
    if name.startswith("poison"):
        weights = 1 + np.arange(55) % 3 if "roww" in name else None
        return co.MCA(n_components=int(name[-1])).fit(read_data("poison").iloc[:, 4:], sample_weight=weights)
    if name.startswith("decathlon"):
        return co.MixedCA(n_components=5).fit(read_data("decathlon").iloc[:, :10])
    table = pd.read_csv(ORACLE.parent / f"{name.split('_')[0]}_table.csv", index_col=0)
    return co.CA(n_components=3).fit(table.iloc[:14, :5])


CASES = [
    "poison_MCA_ncp5",
    "poison_MCA_ncp2",
    "poison_MCA_roww_ncp5",
    "decathlon_PCA_ncp5",
    "children_CA_ncp3_rows",
    "housetasks_CA_ncp3_rows",
]
NUMBERS = ["gain", 3, 4]


def name_setting(number, consolidate):
    return f"{'auto' if number == 'gain' else f'k{number}'}_{'consol' if consolidate else 'noconsol'}"


def list_settings():
    for case in CASES:
        known = read(f"{case}_HCPC_global")["setting"].tolist()
        for number in NUMBERS:
            for consolidate in (True, False):
                if name_setting(number, consolidate) in known:
                    yield case, number, consolidate


SETTINGS = list(list_settings())


def are_same(a, b):
    return len(set(zip(a, b, strict=True))) == len(set(a)) == len(set(b))


@pytest.mark.parametrize("case", CASES)
def test_gains(case):
    known = read(f"{case}_HCPC_gains")
    clusters = co.Clusters("gain", n_resamples=0).fit(fit(case))
    for ours, column in ((clusters.inertia_gains_, "inertia_gain"), (clusters.within_, "within")):
        np.testing.assert_allclose(ours, known[column], rtol=0, atol=1e-8 * known[column].max())
    quotients = known.dropna(subset="quotient")
    np.testing.assert_array_equal(clusters.gain_numbers_, quotients["k"])
    np.testing.assert_allclose(clusters.quotients_, quotients["quotient"], rtol=1e-8)


@pytest.mark.parametrize(("case", "number", "consolidate"), SETTINGS)
def test_partition(case, number, consolidate):
    setting = name_setting(number, consolidate)
    summary = read(f"{case}_HCPC_global").set_index("setting").loc[setting]
    known = read(f"{case}_HCPC_clusters").set_index("name")
    est = fit(case)
    clusters = co.Clusters(number, consolidate=consolidate, n_resamples=0).fit(est)
    assert clusters.n_clusters_ == summary["nb_clust"]
    names = list(known.index) if len(set(known.index)) == len(clusters.labels_) else None
    assert names == [str(label) for label in est.rows_.labels]
    # Hartigan and Wong's k-means and Lloyd's end in other places from the same start; either is right.
    accepted = [known[column] for column in (setting, f"{setting}_lloyd") if column in known]
    assert any(are_same(clusters.labels_, labels) for labels in accepted)
    assert clusters.total_inertia_ == pytest.approx(summary["total_inertia"], rel=1e-8)
    assert clusters.between_[0] == pytest.approx(summary["bw_before_consol"], rel=1e-8)
    if consolidate:
        after = [summary["bw_after_consol"], summary["bw_after_lloyd"]]
        assert min(abs(clusters.between_[1] / value - 1) for value in after) < 1e-8


@pytest.mark.parametrize(("case", "number", "consolidate"), SETTINGS)
def test_members(case, number, consolidate):
    """Paragons and specific members have the distances of HCPC; names may differ where distances tie."""
    setting = name_setting(number, consolidate)
    labels = read(f"{case}_HCPC_clusters").set_index("name")[setting]
    known = read(f"{case}_HCPC_paragons")
    known = known[known["setting"] == setting]
    est = fit(case)
    clusters = co.Clusters(number, consolidate=consolidate, n_resamples=0).fit(est)
    if len(known) == 0 or not are_same(clusters.labels_, labels):
        pytest.skip("no paragons are given of this partition")
    number_of = dict(zip(labels.astype(str), clusters.labels_, strict=True))
    for kind, members in (("para", clusters.paragons_), ("dist", clusters.specific_)):
        rows = known[known["kind"] == kind]
        ours = members.to_frame("pandas").set_index(["cluster", "rank"])["distance"]
        theirs = [ours[number_of[c], r] for c, r in zip(rows["cluster"], rows["rank"], strict=True)]
        np.testing.assert_allclose(theirs, rows["distance"], atol=1e-8)
        assert len(theirs) == len(ours)


def test_clusters_are_numbered_by_their_means_on_the_first_axis():
    est = fit("decathlon_PCA_ncp5")
    clusters = co.Clusters("gain", n_resamples=0).fit(est)
    means = [est.rows_.principal[clusters.labels_ == j, 0].mean() for j in range(clusters.n_clusters_)]
    assert means == sorted(means)
    np.testing.assert_allclose(clusters.centers_[:, 0], means)
