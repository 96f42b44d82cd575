"""CrossModalIndex: the same answers as by hand, by every ranking and engine, and no wrong ones in silence."""

import importlib.util
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal, norm

import correspondence as co
from correspondence.search.nearest_items import MIN_ITEMS_FOR_FAISS, ItemScores

RNG = np.random.default_rng(0)
N = 400
SHARED = RNG.normal(size=(N, 3))
X = SHARED + 0.5 * RNG.normal(size=(N, 3))
Y = SHARED @ RNG.normal(size=(3, 4)) + 0.5 * RNG.normal(size=(N, 4))
D = co.CCA(n_components=3).fit(X, Y).decomposition_
NAMES = [f"photo {i}" for i in range(N)]
PRIOR = RNG.random(N)
needs_faiss = pytest.mark.skipif(importlib.util.find_spec("faiss") is None, reason="faiss is not installed")
engines = pytest.mark.parametrize("engine", ["sklearn", pytest.param("faiss", marks=needs_faiss)])


def index(**options):
    return co.CrossModalIndex(D, NAMES, Y, NAMES, X, **options)


def values(by, scaled, prior):
    """Score of every y for every x, by hand: the larger the better."""
    F, G, s = D.f(X), D.g(Y), D.correlations
    if by == "distance":
        w = s if scaled else np.ones_like(s)
        return -np.linalg.norm((F * w)[:, None] - (G * w)[None], axis=2)
    if by == "cosine":
        w = s if scaled else np.ones_like(s)
        F, G = ((Z * w) / np.linalg.norm(Z * w, axis=1, keepdims=True) for Z in (F, G))
        return F @ G.T
    if by == "gaussian":  # log density of (f, g) less those of f and of g
        pairs = np.stack(np.broadcast_arrays(F[:, None], G[None]), axis=-1)
        joint = [
            multivariate_normal([0, 0], [[1, r], [r, 1]]).logpdf(pairs[:, :, i])
            - norm.logpdf(pairs[:, :, i]).sum(axis=-1)
            for i, r in enumerate(s)
        ]
        return sum(joint) + np.log(prior)
    ratio = 1 + (F * s) @ G.T
    return ratio * (prior / prior.sum() if by == "posterior" else 1)


RANKINGS = [
    ("posterior", False),
    ("gaussian", False),
    ("ratio", False),
    ("distance", False),
    ("distance", True),
    ("cosine", False),
    ("cosine", True),
]


@engines
@pytest.mark.parametrize(("by", "scaled"), RANKINGS)
def test_the_nearest_are_those_by_hand(by, scaled, engine):
    found = index(by=by, scaled=scaled, prior=PRIOR, engine=engine).tags(X[:50], k=7)
    expected = np.argsort(-values(by, scaled, PRIOR)[:50], axis=1)[:, :7]
    np.testing.assert_array_equal(found.index, expected)
    np.testing.assert_array_equal(found.labels, np.array(NAMES, dtype=object)[expected])


@pytest.mark.parametrize("by", ["posterior", "gaussian", "ratio", "distance", "cosine"])
def test_x_are_found_by_y(by):
    found = index(by=by).items(Y[:20], k=3)
    expected = np.argsort(-values("ratio" if by == "posterior" else by, False, np.ones(N)).T[:20], axis=1)[:, :3]
    np.testing.assert_array_equal(found.index, expected)


def test_distances_ratios_and_scores_are_those_of_the_decomposition():
    found = index(by="posterior", prior=PRIOR).tags(X[:5], k=4)
    rows = np.arange(5)[:, None]
    np.testing.assert_allclose(found.distances, -values("distance", False, None)[rows, found.index])
    np.testing.assert_allclose(found.ratios, D.density_ratio(X[:5], Y, pairwise=True)[rows, found.index])
    np.testing.assert_allclose(found.scores, np.clip(values("posterior", False, PRIOR), 0, 1)[rows, found.index])
    assert np.all(np.diff(found.scores, axis=1) <= 0)


@pytest.mark.parametrize(("by", "scaled"), [each for each in RANKINGS if each[0] != "gaussian"])
def test_scores_are_what_items_are_ranked_by(by, scaled):
    made = index(by=by, scaled=scaled, prior=PRIOR)
    by_hand = values(by, scaled, PRIOR)
    found, near = made.tags(X[:20], k=6), made.tags(X[:20], radius=1.2)
    np.testing.assert_allclose(found.scores, by_hand[np.arange(20)[:, None], found.index])
    for i, each in enumerate(near.index):
        np.testing.assert_allclose(
            near.scores[i], np.maximum(by_hand[i, each], 0) if by == "posterior" else by_hand[i, each]
        )


def test_ratios_of_gaussian_functions():
    found = index(by="gaussian").tags(X[:5], k=4)
    expected = np.exp(values("gaussian", False, np.ones(N)))[np.arange(5)[:, None], found.index]
    np.testing.assert_allclose(found.ratios, expected)
    whole = index(by="gaussian", prior=PRIOR).tags(X[:20], k=N)
    np.testing.assert_allclose(whole.scores.sum(axis=1), 1)
    odds = whole.ratios * PRIOR[whole.index]
    np.testing.assert_allclose(whole.scores, odds / odds.sum(axis=1, keepdims=True))
    near = index(by="gaussian", prior=PRIOR).tags(X[:20], radius=0.8)
    for i, each in enumerate(near.index):
        np.testing.assert_allclose(near.scores[i], whole.scores[i, np.isin(whole.index[i], each)])


@pytest.mark.parametrize("scaled", [False, True])
def test_within_a_radius(scaled):
    distances = -values("distance", scaled, None)
    found = index(by="distance", scaled=scaled).tags(X, radius=0.8)
    assert found.index.shape == (N,)
    for i, each in enumerate(found.index):
        inside = np.flatnonzero(distances[i] <= 0.8)
        np.testing.assert_array_equal(each, inside[np.argsort(distances[i, inside], kind="stable")])
        np.testing.assert_allclose(found.distances[i], distances[i, each])
    counts = [len(each) for each in found.index]
    assert min(counts) == 0 < max(counts) or scaled


def test_within_a_radius_the_best_by_the_ranking_come_first():
    by_hand = values("posterior", False, PRIOR)
    found = index(by="posterior", prior=PRIOR).tags(X[:20], k=3, radius=1.5)
    distances = -values("distance", False, None)
    for i, each in enumerate(found.index):
        inside = np.flatnonzero(distances[i] <= 1.5)
        np.testing.assert_array_equal(each, inside[np.argsort(-by_hand[i, inside])][:3])


def test_the_ranking_suits_the_items():
    labels = co.CrossModalIndex(co.CA().fit(co.datasets.load_smoke()), ["none"], ["none"])
    tags = co.CrossModalIndex.of_tags(D, ["a"], Y, Y[:, :1] > 0)
    assert ["by " + repr(by) in repr(each) for by, each in (("posterior", labels), ("posterior", tags))] == [True, True]
    assert "by 'gaussian'" in repr(index())


@pytest.mark.parametrize("est", [co.CCA(), co.ACE(), co.KernelCCA(), co.CA()], ids=lambda est: type(est).__name__)
def test_labels_have_the_prior_of_any_fit(est):
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b", "c"], 600, p=[0.6, 0.3, 0.1])
    x = np.select([y == "a", y == "b"], [0.0, 1.0], 2.0) + rng.normal(size=600)
    x = (x > 1).astype(str) if isinstance(est, co.CA) else x[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.FewerComponents)  # fewer components than asked for
        est.fit(x, y)
    labels = co.CrossModalIndex(est, ["a", "b", "c"], ["a", "b", "c"])
    np.testing.assert_allclose(labels.prior, [np.mean(y == label) for label in "abc"])
    assert "by 'posterior'" in repr(labels)
    one = co.CrossModalIndex(est, ["b"], ["b"])  # a part of the labels has the same probabilities
    whole = labels.tags(x[:5], k=3)
    np.testing.assert_allclose(one.tags(x[:5]).scores[:, 0], whole.scores[whole.labels == "b"])


def test_texts_are_no_labels():
    words = np.random.default_rng(0).choice(["red", "blue", "dog", "cat", "cow", "here", "there", "now"], (300, 6))
    texts = [" ".join(row) for row in words]
    assert "by 'gaussian'" in repr(co.CrossModalIndex(co.CCA(n_components=2).fit(texts, texts), None, texts[:2]))


def test_exact_scores_of_x():
    tasks = co.datasets.load_housetasks()
    both = co.CrossModalIndex(co.CA().fit(tasks), tasks.columns, tasks.columns, tasks.rows, tasks.rows)
    found = both.items(["Husband"], k=13)
    column = tasks.toarray()[:, list(tasks.columns).index("Husband")]
    np.testing.assert_allclose(found.scores[0], (column / column.sum())[found.index[0]], atol=1e-12)


def test_what_an_index_holds_cannot_be_changed():
    names = np.arange(N)
    numbered = co.CrossModalIndex(D, names, Y)
    names[:] = 7
    assert numbered.items_y.tolist() == list(range(N))
    for values in (numbered.g, numbered.prior, numbered.items_y):
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 0


def test_without_components_all_are_in_one_place():
    flat = co.CrossModalIndex(D.truncate(0), NAMES, Y, prior=PRIOR)
    np.testing.assert_array_equal(flat.tags(X[:2], k=2).index, [np.argsort(-PRIOR)[:2]] * 2)
    assert [len(each) for each in flat.tags(X[:2], radius=0.1).index] == [N, N]


@pytest.mark.parametrize(("by", "scaled"), RANKINGS)
def test_ranked_in_another_way(by, scaled):
    other = index(prior=PRIOR).ranked(by, scaled)
    expected = index(by=by, scaled=scaled, prior=PRIOR)
    np.testing.assert_array_equal(other.tags(X).index, expected.tags(X).index)
    np.testing.assert_array_equal(other.items(Y).distances, expected.items(Y).distances)


def test_the_partner_comes_first_if_nothing_is_missing():
    same = co.CrossModalIndex(co.CCA(n_components=3).fit(X, X), NAMES, X)
    np.testing.assert_array_equal(same.tags(X, k=1).index[:, 0], np.arange(N))


def test_five_unless_told_and_never_more_than_there_are():
    small = co.CrossModalIndex(D, NAMES[:8], Y[:8])
    assert small.tags(X[:2]).labels.shape == (2, 5)
    assert small.tags(X[:2], k=100).labels.shape == (2, 8)


def test_many_queries_are_searched_in_blocks(monkeypatch):
    expected = index().tags(X, k=3)
    monkeypatch.setattr("correspondence.search.items.QUERIES_PER_BLOCK", 7)
    best, sizes = ItemScores.find_best, []
    monkeypatch.setattr(ItemScores, "find_best", lambda self, a, k: sizes.append(len(a)) or best(self, a, k))
    found = index().tags(X, k=3)
    assert max(sizes) == 7
    assert sum(sizes) == N
    np.testing.assert_array_equal(found.index, expected.index)
    np.testing.assert_array_equal(found.ratios, expected.ratios)


def test_labels_have_the_prior_of_the_fit():
    rng = np.random.default_rng(1)
    x = rng.choice(list("abc"), 500)
    y = np.where(rng.random(500) < 0.6, x, rng.choice(list("abbb"), 500))
    ca = co.CA().fit(x, y)
    found = co.CrossModalIndex(ca, list("abc"), list("abc")).tags(["a", "b", "c"], k=3)
    shares = np.array([[np.mean(y[x == a] == b) for b in found.labels[i]] for i, a in enumerate("abc")])
    np.testing.assert_allclose(found.scores, shares, atol=1e-12)  # all components: the exact conditional distribution


def test_tags_are_conditional_expectations():
    has_tag = (RNG.random((N, 6)) < 1 / (1 + np.exp(-2 * Y @ RNG.normal(size=(4, 6))))).astype(float)
    for members in (has_tag, sp.csr_array(has_tag), has_tag.astype(bool)):
        tagged = co.CrossModalIndex.of_tags(D, list("abcdef"), Y, members, NAMES, X)
        found = tagged.tags(X, k=6)
        expected = np.clip(D.conditional_expectation(has_tag, X, Y), 0, 1)
        np.testing.assert_allclose(np.sort(found.scores), np.sort(expected), atol=1e-12)
        np.testing.assert_allclose(tagged.prior, has_tag.mean(axis=0))
    ratio = 1 + (D.f(X) * D.correlations) @ tagged.g[2]
    np.testing.assert_array_equal(tagged.items(tags=["c"], k=5).index[0], np.argsort(-ratio)[:5])


@pytest.mark.parametrize("by", ["posterior", "distance"])
def test_saved_and_loaded(tmp_path, by):
    before = index(by=by, scaled=True, prior=PRIOR)
    before.save(tmp_path / "photos.safetensors")
    after = co.CrossModalIndex.load(tmp_path / "photos.safetensors")
    assert repr(after) == repr(before)
    for a, b in ((before.tags(X[:9]), after.tags(X[:9])), (before.items(tags=NAMES[:9]), after.items(tags=NAMES[:9]))):
        for name in ("labels", "index", "distances", "ratios", "scores"):
            np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


def test_an_index_without_x_is_saved_too(tmp_path):
    co.CrossModalIndex(D, None, Y).save(tmp_path / "y.safetensors")
    after = co.CrossModalIndex.load(tmp_path / "y.safetensors")
    assert after.items_x is None
    assert after.items_y.tolist() == list(range(N))


def test_a_decomposition_is_no_index(tmp_path):
    D.save(tmp_path / "d.safetensors")
    with pytest.raises(ValueError, match="holds a"):
        co.CrossModalIndex.load(tmp_path / "d.safetensors")


def test_as_a_frame():
    frame = index().tags(X[:2], k=3).to_frame("pandas")
    assert frame.columns.tolist() == ["query", "rank", "label", "index", "distance", "ratio", "score"]
    assert frame["query"].tolist() == [0, 0, 0, 1, 1, 1]
    assert frame["rank"].tolist() == [1, 2, 3, 1, 2, 3]
    found = index(by="distance").tags(X, radius=0.3)
    assert len(found.to_frame("pandas")) == sum(map(len, found.index))
    assert len(index(by="distance").tags(X[:2], radius=0.0).to_frame("pandas")) == 0


def test_repr():
    assert repr(index()) == "CrossModalIndex of 400 y and 400 x, 3 components, by 'gaussian'"
    assert "none" in repr(index().tags(X[:1], radius=0))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: index(by="angle"), "by must .*angle"),
        (lambda: index(engine="annoy"), "engine must .*annoy"),
        (lambda: co.CrossModalIndex(D, NAMES[:3], Y), "items_y must .*400 .*got 3"),
        (lambda: co.CrossModalIndex(D, NAMES, Y, NAMES), "X is missing"),
        (lambda: co.CrossModalIndex(D, [], Y[:0]), "Y is empty"),
        (lambda: co.CrossModalIndex(D, NAMES, Y, prior=[1, 2]), "prior must .*400"),
        (lambda: co.CrossModalIndex(D, NAMES, Y).items(Y[:1]), "no x to find"),
        (lambda: index().items(), "either y or tags"),
        (lambda: index().items(Y[:1], tags=NAMES[:1]), "either y or tags"),
        (lambda: index().items(tags=["dog"]), "tags must .*'dog'[.]$"),
        (lambda: index().items(tags=["photo_7"]), "tags must .*photo_7.*photo 7"),
        (lambda: index().items(["photo 7"]), "y must .*photo 7.*tags="),
        (lambda: index().items("photo 7"), "y must .*photo 7.*tags="),
        (lambda: index(scaled="no"), "scaled must"),
        (lambda: index().items(tags=[]), "tags must"),
        (lambda: index().items(tags=[{}]), "tags must"),
        (lambda: co.CrossModalIndex.of_tags(D, ["a", "b"], Y, Y[:, :1] > 0), "tags must .*each of the 1"),
        (lambda: index().ranked("auto"), "by must .*auto"),
        (lambda: co.CrossModalIndex(D, ["a"] * N, Y, None, X).items(tags=["a"]), "tags must .*more than once"),
        (lambda: index().tags(X[:1], k=0), "k must"),
        (lambda: index().tags(X[:1], radius=-1), "radius must .*-1"),
        (lambda: index().tags(X[:1], radius=float("nan")), "radius must .*nan"),
        (lambda: index().tags(X[:0]), "x is empty"),
        (lambda: co.CrossModalIndex.of_tags(D, ["a"], Y, Y[:, :1]), "has_tag must be 1"),
        (lambda: co.CrossModalIndex.of_tags(D, ["a"], Y, np.ones((3, 1))), "has_tag must .*400"),
        (lambda: co.CrossModalIndex.of_tags(D, ["a"], Y, np.zeros((N, 1))), "has_tag has 1 tag"),
    ],
)
def test_mistakes_get_one_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_missing_faiss_is_told(monkeypatch):
    monkeypatch.setattr("correspondence.search.nearest_items.has_faiss", lambda: False)
    with pytest.raises(ImportError, match=r"faiss: pip install .*\[search\]"):
        index(engine="faiss")


def test_labels_without_a_place_are_refused():
    table = co.Table(np.array([[3.0, 1, 0], [1, 4, 0]]), list("ab"), list("xyz"))
    with pytest.warns(co.LeftOut, match="Left out"):
        ca = co.CA().fit(table)
    with pytest.raises(ValueError, match="Y has 1 value"):
        co.CrossModalIndex(ca, list("xyz"), list("xyz"))


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 60), st.integers(1, 5), st.integers(1, 9), st.integers(0, 10_000))
def test_scores_are_searched_exactly(m, d, k, seed):
    rng = np.random.default_rng(seed)
    B, c, A = rng.integers(-2, 3, (m, d)).astype(float), rng.integers(-1, 2, m).astype(float), rng.normal(size=(4, d))
    found = ItemScores(B, c, "sklearn").find_best(A, min(k, m))
    by_hand = A @ B.T + c
    np.testing.assert_allclose(np.take_along_axis(by_hand, found, 1), -np.sort(-by_hand)[:, : min(k, m)], atol=1e-12)


@needs_faiss
def test_faiss_is_taken_for_few_queries_of_many_items():
    scores = ItemScores(np.zeros((MIN_ITEMS_FOR_FAISS, 1)), np.zeros(MIN_ITEMS_FOR_FAISS))
    assert scores.uses_faiss(1)
    assert not scores.uses_faiss(1000)
    assert not ItemScores(np.zeros((10, 1)), np.zeros(10)).uses_faiss(1)


@pytest.mark.slow
def test_nets_of_your_own_are_passed_again(tmp_path):
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    net = torch.nn.Linear(3, 2)
    own = co.PICE(n_components=2, x_net=net, y_net=torch.nn.Linear(4, 2), max_steps=20, progress=False).fit(X, Y)
    before = co.CrossModalIndex(own, NAMES, Y)
    before.save(tmp_path / "own.safetensors")
    with pytest.raises(ValueError, match="x_net is missing"):
        co.CrossModalIndex.load(tmp_path / "own.safetensors")
    after = co.CrossModalIndex.load(tmp_path / "own.safetensors", torch.nn.Linear(3, 2), torch.nn.Linear(4, 2))
    np.testing.assert_array_equal(after.tags(X[:9]).labels, before.tags(X[:9]).labels)
