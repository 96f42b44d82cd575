"""Boundaries between classes lie where the beliefs tie, and the confusing inputs are those next to one."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax

import correspondence as co
from correspondence.classifiers.boundaries import (
    boundary_beliefs,
    find_smallest_margins,
    given_shares,
    measure_overlap,
    shares_of_others,
)

NAMES = np.array(list("abcdefg"), object)
EXAMPLES = settings(max_examples=60)


def random_beliefs(seed, k, n=40, concentration=1.0):
    return np.random.default_rng(seed).dirichlet(np.full(k, concentration), n)


@st.composite
def cases(draw, least=2):
    """A fitted analysis of 2 to 7 classes, and two of the classes."""
    k = draw(st.integers(least, 7))
    P = random_beliefs(draw(st.integers(0, 10**6)), k, concentration=draw(st.sampled_from([0.3, 1.0, 4.0])))
    a, b = draw(st.permutations(range(k)))[:2]
    return co.ClassifierCA.from_beliefs(P, NAMES[:k]), a, b


def straight(points):
    """Whether points lie on a line, in equal steps."""
    steps = np.diff(points, axis=0)
    return np.allclose(steps, steps[:1], atol=1e-9)


def hold(cca, points, a, b):
    """Beliefs at points of the boundary between two classes."""
    Q = cca.beliefs_at(points)
    np.testing.assert_allclose(Q.sum(axis=1), 1, atol=1e-10)
    np.testing.assert_allclose(Q[:, a], Q[:, b], atol=1e-10)
    assert (Q >= -1e-10).all()
    assert (Q.max(axis=1) <= Q[:, a] + 1e-10).all()
    return Q


# --- boundaries


@EXAMPLES
@given(cases(), st.integers(2, 30))
def test_on_a_boundary_two_classes_tie_and_no_other_is_likelier(case, n):
    cca, a, b = case
    k = len(cca.classes_)
    points = cca.boundary(NAMES[a], NAMES[b], n)
    assert points.shape == (n, k - 1)
    Q = hold(cca, points, a, b)
    np.testing.assert_allclose(Q[0, [a, b]], 0.5, atol=1e-10)
    assert straight(points)
    if k > 2:
        third = np.delete(Q[-1], [a, b]).max()
        assert third == pytest.approx(Q[-1, a], abs=1e-10)
        assert (np.diff(Q[:, a]) < 0).all()
        assert (np.delete(Q[:-1], [a, b], axis=1).max(axis=1) < Q[:-1, a]).all()
    else:
        np.testing.assert_allclose(points, points[:1].repeat(n, axis=0), atol=1e-12)


@EXAMPLES
@given(cases())
def test_the_order_of_the_pair_does_not_matter(case):
    cca, a, b = case
    np.testing.assert_allclose(cca.boundary(NAMES[a], NAMES[b]), cca.boundary(NAMES[b], NAMES[a]), atol=1e-12)


@EXAMPLES
@given(st.integers(0, 10**6), st.permutations([0, 1, 2]), st.integers(2, 20))
def test_three_classes_have_the_rays_of_the_paper(seed, order, n):
    cca = co.ClassifierCA.from_beliefs(random_beliefs(seed, 3))
    a, b, c = order
    p = np.linspace(1 / 2, 1 / 3, n)
    ray = np.empty((n, 3))
    ray[:, a] = ray[:, b] = p
    ray[:, c] = 1 - 2 * p
    np.testing.assert_allclose(boundary_beliefs(3, a, b, n, np.ones(3)), ray, atol=1e-12)
    np.testing.assert_allclose(cca.boundary(a, b, n), cca.locate(ray), atol=1e-9)
    G, s = cca.transform_y([0, 1, 2]), cca.correlations_
    by_paper = ray @ np.linalg.inv(
        np.diag([1, *s]) @ np.column_stack([np.ones(3), G]).T @ np.diag(cca.prior_)
    )  # F = P (diag(sqrt(lambda)) G^T diag(p))^{-1}
    np.testing.assert_allclose(cca.boundary(a, b, n), by_paper[:, 1:], atol=1e-8)


SPARSE = {
    "rounding": [[0, 0.5, 0.5], [1, 0, 0], [0, 1, 0], [0, 1, 0], [1, 0, 0]],
    "zeros": [[0, 0.5, 0.5], [0.5, 0, 0.5], [1, 0, 0], [0, 1, 0]],
    "never together": [[0, 0.5, 0.5], [1, 0, 0], [0, 0.75, 0.25], [1, 0, 0]],
}


@pytest.mark.parametrize(
    ("beliefs", "a", "b"),
    [("zeros", 0, 1), ("rounding", 1, 2), ("never together", 1, 2), ("never together", 0, 2)],
)
def test_rays_of_three_classes_do_not_depend_on_what_is_mixed_up(beliefs, a, b):
    cca = co.ClassifierCA.from_beliefs(SPARSE[beliefs])
    Q = hold(cca, cca.boundary(a, b, 5), a, b)
    np.testing.assert_allclose(Q[-1], 1 / 3, atol=1e-9)


def test_boundaries_of_sparse_beliefs():
    """Such as trees have: many zeros, and classes that are never believed of the same input."""
    rng = np.random.default_rng(1)
    for _ in range(100):
        weights = rng.integers(1, 4, (8, 4)) * (rng.random((8, 4)) < 0.4)
        weights[weights.sum(axis=1) == 0, 0] = 1
        weights[0] += weights.sum(axis=0) == 0
        cca = co.ClassifierCA.from_beliefs(weights / weights.sum(axis=1, keepdims=True))
        if len(cca.pics_) == 3:
            for a, b in ((0, 1), (1, 2), (3, 0)):
                hold(cca, cca.boundary(a, b, 4), a, b)


def test_how_many_points():
    cca = co.ClassifierCA.from_beliefs(random_beliefs(0, 4))
    assert cca.boundary(0, 1).shape == (100, 3)
    only = cca.boundary(0, 1, n=1)
    np.testing.assert_allclose(cca.beliefs_at(only), [[0.5, 0.5, 0, 0]], atol=1e-10)


def test_fewer_components_are_a_projection():
    P = random_beliefs(0, 5)
    whole, part = co.ClassifierCA.from_beliefs(P), co.ClassifierCA.from_beliefs(P, n_components=2)
    np.testing.assert_array_equal(part.boundary(0, 3), whole.boundary(0, 3)[:, :2])


def test_by_default_the_rest_is_shared_as_the_model_does_when_it_means_the_two():
    P = random_beliefs(3, 5)
    cca = co.ClassifierCA.from_beliefs(P)
    means = [P[:, i] @ P / P[:, i].sum() for i in (1, 4)]  # beliefs where the model means a, and where b
    shares = np.delete(means[0] + means[1], [1, 4])
    rest = np.delete(cca.beliefs_at(cca.boundary(1, 4, 3)), [1, 4], axis=1)
    np.testing.assert_allclose(rest[1:] / rest[1:].sum(axis=1, keepdims=True), [shares / shares.sum()] * 2, atol=1e-9)
    np.testing.assert_allclose(shares_of_others(P.T @ P / 40, 1, 4), means[0] + means[1], atol=1e-12)


@EXAMPLES
@given(cases(least=3), st.data())
def test_others_as_class_mapping_and_array(case, data):
    cca, a, b = case
    k = len(cca.classes_)
    free = [i for i in range(k) if i not in (a, b)]
    c = data.draw(st.sampled_from(free))
    by_class = cca.boundary(NAMES[a], NAMES[b], 5, others=NAMES[c])
    Q = hold(cca, by_class, a, b)
    assert Q[-1, c] == pytest.approx(1 / 3, abs=1e-9)
    np.testing.assert_allclose(np.delete(Q, [a, b, c], axis=1), 0, atol=1e-9)
    np.testing.assert_array_equal(cca.boundary(NAMES[a], NAMES[b], 5, {NAMES[c]: 7}), by_class)
    shares = np.array([data.draw(st.integers(1, 5)) for _ in range(k)])
    points = cca.boundary(NAMES[a], NAMES[b], 5, shares)
    Q = hold(cca, points, a, b)
    rest = shares[free] / shares[free].sum()
    np.testing.assert_allclose(Q[1:, free] / Q[1:, free].sum(axis=1, keepdims=True), [rest] * 4, atol=1e-8)
    assert Q[-1, a] == pytest.approx(Q[-1, free].max(), abs=1e-9)
    mapping = dict(zip(NAMES[:k].tolist(), shares.tolist(), strict=True))
    for others in (mapping, shares.tolist(), pd.Series(shares), 10 * shares):
        np.testing.assert_allclose(cca.boundary(NAMES[a], NAMES[b], 5, others), points, atol=1e-9)


def test_others_that_are_never_predicted_get_nothing():
    P = np.insert(random_beliefs(0, 3), 3, 0.0, axis=1)
    with pytest.warns(co.LeftOut, match="never predicted"):
        cca = co.ClassifierCA.from_beliefs(P)
    equal = cca.boundary(0, 1, 4, others=[1, 1, 1, 1])
    np.testing.assert_allclose(equal, cca.boundary(0, 1, 4), atol=1e-12)
    with pytest.raises(
        ValueError, match=r"^others must give a share to a class other than a and b that is predicted\.$"
    ):
        cca.boundary(0, 1, others=3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"a": "x", "b": "b"}, r"^a: 'x' is not a class, choose among 'a', 'b', 'c'\.$"),
        ({"a": "a", "b": 1}, r"^b: 1 is not a class, choose among 'a', 'b', 'c'\.$"),
        ({"a": ["a"], "b": "b"}, r"^a: \['a'\] is not a class"),
        ({"a": "b", "b": "b"}, r"^a and b must be two different classes, got 'b' twice\.$"),
        ({"a": "a", "b": "b", "n": 0}, r"^n must be a whole number of at least 1, got 0\.$"),
        ({"a": "a", "b": "b", "n": 2.0}, "^n must be a whole number"),
        ({"a": "a", "b": "b", "others": "x"}, "^others: 'x' is not a class, choose among"),
        ({"a": "a", "b": "b", "others": {"x": 1}}, "^others: 'x' is not a class, choose among"),
        ({"a": "a", "b": "b", "others": "a"}, r"^others must give a share to a class other than a and b"),
        ({"a": "a", "b": "b", "others": [1, 1, 0]}, r"^others must give a share to a class other than a and b"),
        (
            {"a": "a", "b": "b", "others": [1, 1]},
            r"^others must be a class, or a share of at least 0 for each of the 3",
        ),
        ({"a": "a", "b": "b", "others": [1, 1, -1]}, "^others must be a class, or a share of at least 0"),
        ({"a": "a", "b": "b", "others": [1, 1, np.nan]}, "^others must be a class, or a share of at least 0"),
        ({"a": "a", "b": "b", "others": {"c": -1}}, "^others must be a class, or a share of at least 0"),
        ({"a": "a", "b": "b", "others": ["a", "c"]}, "^others must be an array of numbers"),
    ],
)
def test_bad_questions_about_boundaries(arguments, message):
    cca = co.ClassifierCA.from_beliefs(random_beliefs(0, 3), list("abc"))
    with pytest.raises(ValueError, match=message):
        cca.boundary(**arguments)


def test_text_is_no_share():
    with pytest.raises(ValueError, match=r"^others"):
        given_shares({"c": "much"}, np.array(list("abc"), object))


def test_many_classes_are_not_all_listed():
    cca = co.ClassifierCA.from_beliefs(random_beliefs(0, 12))
    with pytest.raises(ValueError, match=r"8, 9 and 2 more"):
        cca.boundary(0, 12)


def test_overlap_of_a_class_never_predicted_is_0():
    second = np.array([[0.5, 0.1, 0], [0.1, 0.4, 0], [0, 0, 0]])
    expected = 0.1 / np.sqrt(0.2)
    np.testing.assert_allclose(measure_overlap(second), [[1, expected, 0], [expected, 1, 0], [0, 0, 0]])


# --- confusing inputs


def brute_force(P, n, pair=None):
    """Rows in order of the margin between their two largest beliefs, earlier ones first."""
    found = []
    for i, row in enumerate(P):
        order = sorted(range(len(row)), key=lambda c: (-row[c], c))
        if pair is None or set(order[:2]) == set(pair):
            found.append((row[order[0]] - row[order[1]], i, order[:2]))
    found.sort(key=lambda entry: entry[:2])
    return found[:n]


def agree(result, expected, names):
    assert result.index.tolist() == [i for _, i, _ in expected]
    assert result.pairs.tolist() == [[names[c] for c in top] for _, _, top in expected]
    np.testing.assert_allclose(result.margin, [margin for margin, _, _ in expected], atol=1e-12)
    assert (np.diff(result.margin) >= 0).all()


@pytest.mark.slow
@EXAMPLES
@given(st.integers(0, 10**6), st.integers(2, 7), st.integers(1, 50), st.sampled_from([1, 7, 1000]))
def test_confusing_inputs_by_brute_force(seed, k, n, size):
    P = random_beliefs(seed, k, 40)
    cca = co.ClassifierCA(lambda rows: rows, classes=NAMES[:k], batch_size=size).fit(P)
    result = cca.confusing(P, n)
    agree(result, brute_force(P, n), NAMES)
    assert len(result) == min(n, 40)
    np.testing.assert_allclose(result.beliefs, P[result.index], atol=1e-12)
    np.testing.assert_allclose(result.position, cca.transform(P)[result.index], atol=1e-9)
    assert result.pairs[:, 0].tolist() == cca.predict(P)[result.index].tolist()
    stream = cca.confusing((P[i : i + 9] for i in range(0, 40, 9)), n)
    assert stream.index.tolist() == result.index.tolist()
    if k > 2:
        a, b = np.random.default_rng(seed).permutation(k)[:2]
        agree(cca.confusing(P, n, between=(NAMES[a], NAMES[b])), brute_force(P, n, (a, b)), NAMES)


@pytest.mark.parametrize("size", [1, 4, 5, 100])
def test_ties_go_by_position(size):
    P = np.array([[0.5, 0.3, 0.2], [0.2, 0.4, 0.4], [0.3, 0.5, 0.2], [0.4, 0.2, 0.4], [0.5, 0.5, 0], [0.3, 0.2, 0.5]])
    P = np.tile(P, (2, 1))
    cca = co.ClassifierCA(lambda rows: rows, classes=list("abc"), batch_size=size).fit(P)
    agree(cca.confusing(P, 7), brute_force(P, 7), "abc")
    assert cca.confusing(P, 7).index.tolist()[:6] == [1, 3, 4, 7, 9, 10]
    assert cca.confusing(P, 2, between=("c", "b")).index.tolist() == [1, 7]
    assert cca.confusing(P, 2, between=("c", "b")).pairs.tolist() == [["b", "c"]] * 2


def test_ties_of_three_and_of_two_classes():
    cca = co.ClassifierCA.from_beliefs(random_beliefs(0, 3))
    result = cca.confusing([[1 / 3, 1 / 3, 1 / 3], [0.2, 0.2, 0.6], [0.6, 0.2, 0.2]])
    assert result.margin[0] == 0
    assert result.pairs[0].tolist() == [0, 1]
    two = co.ClassifierCA.from_beliefs(random_beliefs(0, 2), ["no", "yes"])
    result = two.confusing([[0.5, 0.5], [0.4, 0.6], [0.55, 0.45]])
    assert result.index.tolist() == [0, 2, 1]
    assert result.pairs.tolist() == [["no", "yes"], ["no", "yes"], ["yes", "no"]]


def tied_beliefs(k, n=300):
    """Beliefs in whole parts, so that many of them tie."""
    weights = np.random.default_rng(k).integers(0, 4, (n, k)).astype(float)
    weights[:, 0] += weights.sum(axis=1) == 0
    return weights / weights.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("k", [3, 4, 7, 12])
def test_of_two_that_tie_the_first_class_comes_first(k):
    P = tied_beliefs(k)
    P = P[(P.max(axis=1, keepdims=True) == P).sum(axis=1) == 2]
    index, top, margin = find_smallest_margins(P, len(P))
    assert len(P) > 20
    np.testing.assert_array_equal(margin, 0)
    assert top.tolist() == [np.flatnonzero(row == row.max()).tolist() for row in P[index]]


@pytest.mark.parametrize("k", [7, 12])
def test_of_three_that_tie_the_first_is_the_one_predicted(k):
    P = tied_beliefs(k)
    cca = co.ClassifierCA.from_beliefs(P)
    result = cca.confusing(P, len(P))
    assert result.pairs[:, 0].tolist() == cca.predict(P)[result.index].tolist()


def test_closest_of_single_precision():
    P = random_beliefs(5, 6, 200).astype(np.float32)
    index, top, margin = find_smallest_margins(P, 10)
    expected = brute_force(P.astype(np.float64), 10)
    assert index.tolist() == [i for _, i, _ in expected]
    assert top.tolist() == [order for _, _, order in expected]
    assert (np.diff(margin) >= 0).all()


def test_nothing_between_two_classes():
    cca = co.ClassifierCA.from_beliefs([[0.6, 0.4, 0], [0.5, 0, 0.5]], list("abc"))
    result = cca.confusing([[0.6, 0.4, 0]], between=("b", "c"))
    assert len(result) == 0
    assert result.position.shape == (0, 1)
    assert repr(result) == "Confusing: 0 inputs, the closest call first"


def test_models_are_asked_for_confusing_inputs():
    rng = np.random.default_rng(0)
    X, W = rng.normal(size=(50, 3)), rng.normal(size=(3, 4))
    frame = pd.DataFrame(X)
    cca = co.ClassifierCA(lambda rows: softmax(rows.to_numpy() @ W, axis=1), batch_size=20).fit(frame)
    agree(cca.confusing(frame, 8), brute_force(softmax(X @ W, axis=1), 8), range(4))


def test_frame_and_text_of_confusing_inputs():
    cca = co.ClassifierCA.from_beliefs(random_beliefs(0, 3), list("abc"))
    result = cca.confusing(random_beliefs(1, 3), 3)
    for backend, kind in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
        frame = result.to_frame(backend)
        assert isinstance(frame, kind)
        assert list(frame.columns) == ["index", "first", "second", "margin", "f1", "f2"]
        assert frame["first"].to_list() == result.pairs[:, 0].tolist()
        assert frame["second"].to_list() == result.pairs[:, 1].tolist()
        np.testing.assert_array_equal(frame["f2"].to_numpy(), result.position[:, 1])
    lines = repr(result).splitlines()
    assert lines[0] == "Confusing: 3 inputs, the closest call first"
    first, second = result.pairs[0]
    assert lines[1].split() == [
        str(result.index[0]),
        first,
        f"{result.beliefs[0].max():.3f}",
        "|",
        f"{second},",
        "margin",
        f"{result.margin[0]:.3g}",
    ]
    assert repr(cca.confusing(random_beliefs(1, 3), 25)).splitlines()[-1] == "  ..."
    for name in ("index", "pairs", "margin", "position", "beliefs"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(result, name)[0] = getattr(result, name)[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 0}, r"^n must be a whole number of at least 1, got 0\.$"),
        ({"n": "all"}, "^n must be a whole number"),
        ({"between": ("a", "x")}, "^between: 'x' is not a class, choose among 'a', 'b', 'c'"),
        ({"between": ("a", "a")}, "^a and b must be two different classes, got 'a' twice"),
    ],
)
def test_bad_questions_about_confusing_inputs(arguments, message):
    P = random_beliefs(0, 3)
    with pytest.raises(ValueError, match=message):
        co.ClassifierCA.from_beliefs(P, list("abc")).confusing(P, **arguments)


@pytest.mark.parametrize("between", [("a",), ("a", "b", "c"), 3, "ab", {"a", "b"}, sp.coo_array([0, 1])])
def test_between_is_a_pair(between):
    P = random_beliefs(0, 3)
    with pytest.raises(ValueError, match=r"^between"):
        co.ClassifierCA.from_beliefs(P, list("abc")).confusing(P, between=between)


COLUMNS = [list, np.array, pd.Series, pl.Series, pytest.importorskip("torch").tensor]


@pytest.mark.parametrize("column", COLUMNS)
def test_a_pair_and_shares_of_any_library(column):
    P = random_beliefs(0, 3)
    cca = co.ClassifierCA.from_beliefs(P, [0, 1, 2])
    pair = cca.confusing(P, between=column([0, 2])).index
    np.testing.assert_array_equal(pair, cca.confusing(P, between=(0, 2)).index)
    np.testing.assert_allclose(given_shares(column([0.0, 0.5, 0.5]), cca.classes_), [0, 0.5, 0.5])
