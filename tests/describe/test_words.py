"""Characteristic words and documents: equal to descfreq of FactoMineR, and on other documents."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import correspondence as co
from correspondence.datasets.data_folder import find_in_data_folder
from tests.estimators.many.reference import read


def load_tables(name):
    if name == "housetasks":
        return co.datasets.load_housetasks()
    children = co.datasets.load_children()
    counts = np.hstack(
        [children.table.toarray(), children.columns.toarray()]
    )  # R describes with the supplementary ones
    return co.Table(counts, children.table.rows, [*children.table.columns, *children.columns.columns])


@pytest.mark.parametrize("name", ["housetasks", "children"])
def test_words_are_those_of_descfreq(name):
    table = load_tables(name)
    clusters = read(f"{name}_CA_ncp3_rows_HCPC_clusters").set_index("name")["k3_consol"]
    found = co.describe_groups(table, clusters.loc[table.rows.tolist()].astype(str).to_numpy(dtype=object))
    theirs = read(f"{name}_CA_ncp3_rows_HCPC_k3_consol_descvar_freq")
    theirs = theirs.assign(cluster=theirs["cluster"].astype(str)).set_index(["cluster", "column"])
    frame = found.words.to_frame("pandas")
    ours = frame.set_index(["group", "word"])
    listed = ours[ours["pvalue"] < 0.05]
    assert set(listed.index) == set(theirs.index)
    ours = ours.loc[theirs.index]
    assert 100 * ours["share"].to_numpy() == pytest.approx(theirs["Intern %"].to_numpy(), rel=1e-8)
    assert 100 * ours["overall"].to_numpy() == pytest.approx(theirs["glob %"].to_numpy(), rel=1e-8)
    assert ours["n"].tolist() == theirs["Intern freq"].tolist()
    assert ours["pvalue"].to_numpy() == pytest.approx(theirs["p.value"].to_numpy(), rel=1e-6, abs=0)
    assert ours["vtest"].to_numpy() == pytest.approx(theirs["v.test"].to_numpy(), rel=1e-8)


@pytest.fixture(scope="module")
def topics():
    rng = np.random.default_rng(0)
    words = {"sea": ["sand", "boat", "wave"], "wood": ["leaf", "tree", "bird"]}
    names = [list(words)[i] for i in rng.integers(2, size=120)]
    common = ["house", "dog", "man", "day", "one", "go"]
    return [" ".join(rng.choice([*common, *words[name]], rng.integers(5, 30))) for name in names], names


def test_texts_are_counted(topics):
    texts, names = topics
    found = co.describe_groups(texts, names)
    assert {row["word"] for row in found.find_words("sea")} == {"sand", "boat", "wave"}
    assert found.totals.sum() == sum(len(text.split()) for text in texts)
    frame = found.words.to_frame("pandas").query("group == 'sea' and word == 'boat'").iloc[0]
    of_group = [text for text, name in zip(texts, names, strict=True) if name == "sea"]
    assert frame["n"] == sum(text.split().count("boat") for text in of_group)
    assert frame["documents"] == sum("boat" in text for text in of_group)
    assert "of its words" in found.write_sentences()[0]


def test_documents_are_ranked(topics):
    texts, names = topics
    found = co.describe_groups(texts, names)
    table = found.documents.to_frame("pandas")
    assert set(table["criterion"]) == {"profile", "words"}
    words = found.words.to_frame("pandas").pivot(index="word", columns="group", values="vtest")
    for _, row in table.iterrows():
        assert names[row["position"]] == row["group"]
        tokens = pd.Series(texts[row["position"]].split())
        assert row["mean_vtest"] == pytest.approx(words.loc[tokens, row["group"]].mean())
        profile = tokens.value_counts(normalize=True).reindex(words.index, fill_value=0)
        own = found.words.to_frame("pandas").query("group == @row['group']").set_index("word").loc[words.index]
        expected = np.sqrt(((profile - own["share"]) ** 2 / own["overall"]).sum())
        assert row["distance"] == pytest.approx(expected)
        assert row["n"] >= 10
    best = table.query("criterion == 'words'")
    assert (best.groupby("group")["mean_vtest"].diff().dropna() <= 0).all()


def test_forms_of_a_table_give_the_same(topics):
    texts, names = topics
    vocabulary = sorted({word for text in texts for word in text.split()})
    counts = np.array([[text.split().count(word) for word in vocabulary] for text in texts])
    from_texts = co.describe_groups(texts, names)
    for table in (sp.csr_matrix(counts), co.Table(counts, range(120), vocabulary)):
        found = co.describe_groups(table, np.array(names))
        assert found.words["vtest"] == pytest.approx(from_texts.words["vtest"])


def test_forms_of_texts_give_the_same(topics):
    texts, names = topics
    found = co.describe_groups(texts, names)
    lists = [text.split() for text in texts]
    forms = [
        tuple(texts),
        np.array(texts),
        np.array(texts, dtype=object),
        pd.Series(texts),
        pl.Series(texts),
        pd.DataFrame({"text": texts}),
        pl.DataFrame({"text": texts}),
        lists,
        pd.Series(lists),
        pl.Series(lists),
    ]
    for form in forms:
        ours = co.describe_groups(form, names)
        assert ours.words["vtest"] == pytest.approx(found.words["vtest"])
        assert ours.documents["position"].tolist() == found.documents["position"].tolist()
    rows = [list(row) for row in zip(names, names[::-1], strict=True)]  # lists of one length are the rows of a table
    assert co.describe_groups(rows, names).variables["column"].tolist() == ["0", "1"]


def test_short_texts_and_missing_ones_are_documents():
    titles = pd.Series(["Heat", "Rain man", None, "Heat wave", "Rain"] * 2 + [f"Word{i}x" for i in range(20)])
    groups = list("abcab") * 6
    found = co.describe_groups(titles.to_frame("Title"), groups)
    assert found.sizes.sum() == 30
    assert found.totals.sum() == 32
    with pytest.raises(ValueError, match="index"):
        co.describe_groups(titles, pd.Series(groups, index=titles.index[::-1]))


def test_words_hold_on_other_documents(topics):
    texts, names = topics
    shuffled = np.random.default_rng(1).permutation(names)
    held = co.describe_groups(texts, names, held_out=0.4)
    assert held.n_held_out == 48
    assert {row["word"] for row in held.find_words("sea")} <= {"sand", "boat", "wave"}
    assert held.find_words("sea")
    assert not co.describe_groups(texts, shuffled, held_out=0.4).find_words("sea")


def test_bad_input_is_one_sentence(topics):
    texts, names = topics
    for values, by, options, argument in [
        (texts, names[:3], {}, "by"),
        (texts, "topic", {}, "by"),
        (texts, ["a"] * 120, {}, "by"),
        (texts, np.arange(120) / 4, {}, "by"),
        (texts, pd.Series(np.arange(120) % 60 + 1900), {}, "by"),
        (texts, names, {"held_out": (texts, names)}, "held_out"),
        (["!", "?"], ["a", "b"], {}, "frame"),
        (texts, names, {"held_out": 2}, "held_out"),
        (texts, names, {"sample_weight": np.ones(120)}, "sample_weight"),
        (sp.csr_matrix((4, 3)), list("aabb"), {}, "frame"),
    ]:
        with pytest.raises(ValueError, match=rf"\b{argument}\b") as error:
            co.describe_groups(values, by, **options)
        assert "\n" not in str(error.value)
    assert len(co.describe_groups(texts, np.arange(120) % 20).groups) == 20  # clusters
    assert len(co.describe_groups(texts, np.arange(120) % 4 / 2).groups) == 4
    with pytest.warns(co.LeftOut, match="by"):
        assert co.describe_groups(texts, [None, *names[1:]]).sizes.sum() == 119


@pytest.mark.slow
@pytest.mark.skipif(find_in_data_folder("scale/20news-bydate.tar.xz") is None, reason="no CORRESPONDENCE_DATA")
def test_newsgroups():
    posts = co.datasets.fetch_newsgroups()
    groups = np.array([str(name).split("/")[-2] for name in posts.rows], dtype=object)
    with pytest.warns(co.LeftOut, match="words"):
        found = co.describe_groups(posts, groups, held_out=0.3)
    assert found.find_words("rec.sport.hockey")[0]["word"] == "hockey"
    assert {row["word"] for row in found.find_words("sci.space")[:3]} == {"space", "nasa", "launch"}
