"""What an axis separates, in words."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import correspondence as co
from correspondence.core.functions import LabelFunctions, LinearFunctions
from correspondence.describe.axis_words import AxisWords, find_axis_words
from correspondence.describe.candidates import Ends, Word
from correspondence.describe.sentences import write_sentences
from correspondence.results.evidence import Evidence

HOSTILE = ["</script><img src=x onerror=alert(1)>", "a\nb\x00\x1b[31m", "x" * 10_000, "", "$x^2$, (y)", "\u202egnp"]


def texts(words):
    return [word.text for word in words]


def ends(negative, positive, of_variable=False):
    """Ends of words given as texts."""
    return Ends(
        tuple(Word(text, -1.0, 0.5) for text in negative), tuple(Word(text, 1.0, 0.5) for text in positive), of_variable
    )


def by(*functions):
    """Decomposition whose f are functions of the rows of X, and whose g is that of two labels."""

    def features(X):
        return np.column_stack([function(X) for function in functions])

    k = len(functions)
    f = LinearFunctions(np.zeros(k), np.eye(k), features)
    g = LabelFunctions(np.array(["no", "yes"], dtype=object), np.outer([-1.0, 1.0], np.ones(k)), np.array([0.5, 0.5]))
    return co.Decomposition(np.linspace(0.5, 0.25, k), f, g, 1.0, 100.0)


def scaled(values):
    return (values - values.mean()) / values.std()


def x_of(function, X, **kwargs):
    return find_axis_words(by(function), X, **kwargs)[0].x


# --- labels


def test_housetasks():
    first, second, third = find_axis_words(co.CA().fit(co.datasets.load_housetasks()))
    assert first.write_sentence() == "Axis 1 separates Wife (Laundry, Main_meal) from Husband (Repairs, Driving)."
    assert second.write_sentence() == "Axis 2 separates Husband (Repairs) from Jointly (Holidays)."
    assert (third.axis, texts(third.y.positive)) == (3, ["Alternating"])


def test_values_and_weights_are_coordinates_and_contributions():
    ca = co.CA().fit(co.datasets.load_smoke())
    rows = ca.rows_
    for words in find_axis_words(ca, n_words=10):
        i = words.axis - 1
        for word in (*words.x.negative, *words.x.positive):
            row = rows.labels.tolist().index(word.text)
            assert word.value == pytest.approx(rows.standard[row, i])
            assert word.weight == pytest.approx(rows.contributions[row, i])


def test_a_label_is_named_if_it_contributes_more_than_average_or_most_of_its_end():
    values = np.array([[-3.0], [-1.0], [0.5], [1.0], [1.1], [0.0]])
    places = (list("abcdef"), values, np.full(6, 1 / 6))
    (words,) = find_axis_words(by(lambda X: X[:, 0]), x_items=places)
    assert texts(words.x.negative) == ["a"]  # b has 1 of 12.46, less than a sixth
    assert texts(words.x.positive) == ["e"]
    assert words.x.negative[0].weight == pytest.approx(9 / 12.46)
    assert words.y.positive == (Word("yes", 1.0, 0.5),)


def test_an_end_where_nothing_lies_is_the_rest():
    """One label is far out; the others are all near the centre, and none of them is what the axis is about."""
    n = 12
    places = ([f"l{i}" for i in range(n)] + ["far"], np.array([[-0.1]] * n + [[8.0]]), [0.99 / n] * n + [0.01])
    words = AxisWords(1, None, find_axis_words(by(lambda X: X), y_items=places)[0].y)
    assert words.write_sentence() == "Axis 1 separates far from the rest."


def test_prior_counts():
    places = (["often", "rare"], np.array([[-1.0], [-2.0]]), [0.9, 0.1])
    assert texts(find_axis_words(by(lambda X: X), x_items=places)[0].x.negative) == ["often"]


def test_items_without_prior_do_not_lower_the_average():
    places = (list("abcd"), np.array([[-1.5], [-1.0], [1.0], [5.0]]), [0.4, 0.4, 0.2, 0])
    found = find_axis_words(by(lambda X: X), x_items=places)[0].x
    assert (texts(found.negative), texts(found.positive)) == (["a"], ["c"])  # b has 0.4 of 1.5, less than a third


def test_weights_of_the_fit_count():
    sample = np.array(["often", "rare"], dtype=object)
    values = {"often": -1.0, "rare": -2.0}
    g = LinearFunctions(
        np.zeros(1), np.eye(1), lambda Y: np.array([[values[y]] for y in Y]), sample, np.array([90.0, 10.0])
    )
    d = by(lambda X: X)
    (words,) = find_axis_words(co.Decomposition(d.pics, d.f, g, 1.0, 100.0))
    assert texts(words.y.negative) == ["often"]
    assert words.y.negative[0].weight == pytest.approx(0.9 / 1.3)


def test_labels_that_never_occur_are_left_out():
    table = pd.DataFrame([[5, 0, 1], [1, 0, 4]], index=["a", "b"], columns=["u", "never", "v"])
    with pytest.warns(co.LeftOut, match="never"):
        ca = co.CA().fit(table)
    (words,) = find_axis_words(ca)
    assert sorted(texts((*words.y.negative, *words.y.positive))) == ["u", "v"]


def test_numbers_of_words_and_axes():
    ca = co.CA().fit(co.datasets.load_housetasks())
    words = find_axis_words(ca, n_words=1, max_axes=2)
    assert [w.axis for w in words] == [1, 2]
    assert {len(end) for w in words for side in (w.x, w.y) for end in (side.negative, side.positive)} == {1}


def test_labels_of_a_learned_fit_are_found_without_y(rng):
    x = rng.normal(size=400)
    y = np.where(x > 0, "above", "below").astype(object)
    est = co.ACE(n_components=1).fit(x[:, None], y)
    (words,) = find_axis_words(est, x[:, None])
    assert {texts(words.y.negative)[0], texts(words.y.positive)[0]} == {"above", "below"}
    at = "positive" if texts(words.y.positive) == ["above"] else "negative"
    assert texts(getattr(words.x, at)) == ["high"]
    assert find_axis_words(est)[0].x is None
    assert find_axis_words(est, x[:, None], ["above", "below"]) == [words]  # masses are those of the fit


def test_labels_of_an_estimator_that_keeps_no_x(rng):
    x = rng.choice(["a", "b", "c"], 300).astype(object)
    y = (x == "a") + 0.1 * rng.normal(size=300)
    d = co.ACE(n_components=1).fit(x, y)
    (words,) = find_axis_words(d, x)
    a_end, high_end = (
        "positive" if name in texts(side.positive) else "negative" for name, side in (("a", words.x), ("high", words.y))
    )
    assert a_end == high_end


# --- tables


def frame(rng, n=500):
    return pd.DataFrame(
        {
            "alcohol": rng.lognormal(size=n),
            "sugar": rng.normal(size=n),
            "noise": rng.normal(size=n),
            "constant": np.ones(n),
            "colour": rng.choice(["red", "white"], n, p=[0.2, 0.8]),
        }
    )


def test_columns_by_their_correlation(rng):
    X = frame(rng)
    found = x_of(lambda X: scaled(scaled(np.log(X["alcohol"])) - 0.5 * X["sugar"]), X)
    assert texts(found.positive) == ["high alcohol", "low sugar"]
    assert texts(found.negative) == ["low alcohol", "high sugar"]
    assert found.positive[0].value == -found.negative[0].value == pytest.approx(np.sqrt(0.8), abs=0.05)
    assert found.positive[0].weight == pytest.approx(found.positive[0].value ** 2)


def test_polars_says_the_same(rng):
    X = frame(rng)
    f = scaled(X["sugar"].to_numpy())
    assert x_of(lambda _: f, pl.from_pandas(X)) == x_of(lambda _: f, X)


def test_outliers_and_units_do_not_matter(rng):
    X = frame(rng)
    f = scaled(X["sugar"].to_numpy())
    moved = X.assign(sugar=np.exp(30 * X["sugar"]))
    assert x_of(lambda _: f, X) == x_of(lambda _: f, moved)


def test_columns_of_labels(rng):
    X = frame(rng)
    found = x_of(lambda X: scaled((X["colour"] == "red").astype(float)), X)
    assert texts(found.positive) == ["colour = red"]
    assert texts(found.negative) == ["colour = white"]
    assert found.positive[0].value == pytest.approx(2, abs=0.3)
    assert found.positive[0].weight + found.negative[0].weight == pytest.approx(1)


def test_a_u_shape_has_extremes_and_a_middle(rng):
    X = frame(rng)
    found = x_of(lambda X: scaled(X["sugar"] ** 2), X)
    assert texts(found.positive) == ["very low or very high sugar"]
    assert texts(found.negative) == ["medium sugar"]
    assert texts(x_of(lambda X: scaled(-(X["sugar"] ** 2)), X).positive) == ["medium sugar"]


def test_a_column_has_one_form_only(rng):
    X = rng.normal(size=(500, 1))
    found = x_of(lambda X: scaled(X[:, 0] ** 2 + X[:, 0]), X)
    assert (texts(found.negative), texts(found.positive)) == (["low"], ["high"])


def test_a_column_that_bends_beside_one_that_does_not(rng):
    X = frame(rng)
    found = x_of(lambda X: scaled(scaled(X["sugar"] ** 2) + scaled(np.log(X["alcohol"]))), X)
    assert sorted(texts(found.positive)) == ["high alcohol", "very low or very high sugar"]


def test_columns_that_hardly_matter_are_not_named_but_the_best_is(rng):
    X = frame(rng, 5000)[["sugar", "noise"]]
    independent = rng.normal(size=5000)
    weak = x_of(lambda X: scaled(0.08 * X["sugar"] + independent), X)
    assert texts(weak.positive) == ["high sugar"]
    assert 0.05 < weak.positive[0].value < 0.1
    assert x_of(lambda X: scaled(independent), X) == Ends((), ())


def test_a_column_beside_a_strong_one(rng):
    X = pd.DataFrame(rng.normal(size=(5000, 2)), columns=["strong", "weak"])
    found = x_of(lambda X: scaled(X["strong"] + 0.09 * X["weak"]), X)
    assert texts(found.positive) == ["high strong"]


def test_columns_without_names_are_numbered(rng):
    X = rng.normal(size=(200, 3))
    assert texts(x_of(lambda X: scaled(X[:, 2]), X).positive) == ["high column 2"]
    assert texts(x_of(lambda X: scaled(np.array(X)[:, 2]), X.tolist()).positive) == ["high column 2"]
    numbered = pd.DataFrame(X, columns=pd.Index(np.arange(3)))
    assert texts(x_of(lambda X: scaled(X[2]), numbered).positive) == ["high column 2"]


def test_a_column_of_numbers_is_called_by_the_name_of_its_variable(rng):
    X = rng.normal(size=200)
    (words,) = find_axis_words(by(scaled), X)
    assert texts(words.x.positive) == ["high"]
    assert texts(words.complete_words(("price", "bought")).x.positive) == ["high price"]
    assert words.write_sentence(("price", "bought")) == "Axis 1 separates no (low price) from yes (high price)."
    column = pd.DataFrame({"euro": X})
    assert find_axis_words(by(lambda X: scaled(X["euro"])), column)[0].write_sentence(("price", "bought")) == (
        "Axis 1 separates no (low euro) from yes (high euro)."
    )


def test_a_label_called_high_is_not_completed():
    places = (["low", "high"], np.array([[-1.0], [1.0]]), [0.5, 0.5])
    words = AxisWords(1, None, find_axis_words(by(lambda X: X), y_items=places)[0].y)
    assert words.write_sentence(("price", "level")) == "Axis 1 separates low from high."


@pytest.mark.parametrize("kind", ["frame", "bool frame", "array", "sparse"])
def test_indicators_are_named_where_they_are(rng, kind):
    has = (rng.random((400, 4)) < [0.1, 0.5, 0.3, 0]).astype(float)
    names = ["rare", "half", "some", "never"]
    frame = pd.DataFrame(has, columns=names)
    X = {"frame": frame, "bool frame": frame.astype(bool), "array": has, "sparse": sp.csr_array(has)}[kind]
    found = x_of(lambda _: scaled(has[:, 0] - 0.2 * has[:, 1]), X, n_words=1)
    expected = ["rare", "half"] if "frame" in kind else ["column 0", "column 1"]
    assert texts((*found.positive, *found.negative)) == expected
    assert found.positive[0].value == pytest.approx(scaled(has[:, 0] - 0.2 * has[:, 1])[has[:, 0] == 1].mean())


def test_what_words_say_nothing_about(rng):
    for X in (rng.random((9, 1, 4, 4)), rng.random((9, 51)), sp.random_array((9, 51), density=0.5, rng=rng)):
        assert find_axis_words(by(lambda X: np.zeros(9)), X)[0].x is None


def test_beliefs_are_those_in_the_labels_of_y(rng):
    P = rng.dirichlet([1, 1, 1], 50)
    cca = co.ClassifierCA.from_beliefs(P, classes=["a", "b", "c"])
    words = find_axis_words(cca, P)
    assert [w.x for w in words] == [None, None]
    assert all(w.y.positive and w.y.negative for w in words)


def test_missing_values_of_a_model_that_takes_them(rng):
    X = frame(rng)
    f = scaled(X["sugar"].to_numpy() + 2 * (X["colour"] == "red"))
    holed = X.assign(
        sugar=X["sugar"].where(rng.random(500) > 0.3), colour=X["colour"].where(X["colour"] == "red", None)
    )
    found = x_of(lambda _: f, holed)
    assert texts(found.positive)[:2] == ["high sugar", "colour = red"]
    assert texts(found.negative)[:2] == ["low sugar", "colour = (missing)"]


def test_columns_without_a_value_have_no_words():
    X = pd.DataFrame({"empty": [np.nan, np.nan, np.nan], "constant": [1.0, 1.0, 1.0]})
    assert find_axis_words(by(lambda X: np.arange(3.0)), X)[0].x is None


def test_many_rows_are_sampled(rng):
    seen = []

    def function(X):
        seen.append(len(X))
        return scaled(X[:, 0])

    found = x_of(function, rng.normal(size=(50_000, 2)))
    assert seen == [20_000]
    assert texts(found.positive) == ["high column 0"]


def test_the_sample_is_the_same_each_time(rng):
    X = rng.normal(size=(30_000, 2))
    first, second = (x_of(lambda X: scaled(X[:, 0] + X[:, 1] ** 3), X) for _ in range(2))
    assert first == second


# --- texts

FILLERS = ["oil", "egg", "water", "sugar", "flour", "pepper", "onion", "butter", "milk", "rice"]


@pytest.fixture
def recipes(rng):
    spices = ["soy", "sesame", "basil", "parmesan"]
    is_asian = rng.random(300) < 0.4
    return is_asian, [
        " ".join(["Salt and", *rng.choice(spices[:2] if asian else spices[2:], 2), *rng.choice(FILLERS, 3), f"w{i}"])
        for i, asian in enumerate(is_asian)
    ]


def test_words_of_texts(recipes):
    is_asian, texts_ = recipes
    f = scaled(is_asian.astype(float))
    found = x_of(lambda _: f, texts_)
    assert set(texts(found.positive)) == {"soy", "sesame"}  # neither what all have, nor what only one has
    assert set(texts(found.negative)) == {"basil", "parmesan"}
    soy = np.array(["soy" in text for text in texts_])
    (word,) = [word for word in found.positive if word.text == "soy"]
    assert word.value == pytest.approx(f[soy].mean())
    assert word.weight == pytest.approx(soy.mean() * f[soy].mean() ** 2)


def test_words_that_merely_lie_on_a_side_are_not_named(rng):
    """Texts about space are at the end; the many about sales lie on the same side, but not there."""
    group = rng.choice(["space", "sale", "rest"], 2000, p=[0.1, 0.5, 0.4])
    place = {"space": 3.0, "sale": 0.8, "rest": -1.6}
    texts_ = [" ".join([name, *rng.choice(FILLERS, 3), f"w{i}"]) for i, name in enumerate(group)]
    f = scaled(np.array([place[name] for name in group]) + 0.1 * rng.normal(size=2000))
    found = x_of(lambda _: f, texts_)
    assert texts(found.positive) == ["space"]
    assert texts(found.negative) == ["rest"]


def test_copies_of_a_text_do_not_make_its_words_differ(rng):
    texts_ = [
        f"{word} {' '.join(rng.choice(FILLERS, 3))} w{i}" for i, word in enumerate(rng.choice(["yes", "no"], 500))
    ]
    texts_[:60] = ["yes whale"] * 60  # one text, sixty times
    f = scaled(np.array([text.startswith("yes") for text in texts_]).astype(float))
    found = x_of(lambda _: f, texts_)
    assert texts(found.positive) == ["yes"]
    assert texts(found.negative) == ["no"]


def test_rare_words_are_left_out(recipes):
    _, texts_ = recipes
    texts_ = [f"{text} saffron" if i < 4 else text for i, text in enumerate(texts_)]
    f = scaled(np.array(["saffron" in text for text in texts_]).astype(float))
    assert "saffron" not in texts(x_of(lambda _: f, texts_).positive)
    assert "saffron" in texts(x_of(lambda _: f[:8], texts_[:8]).positive)  # half of them


def test_words_that_all_have_are_left_out(recipes):
    is_asian, texts_ = recipes
    found = x_of(lambda _: 2 + is_asian, texts_)
    assert not {"salt", "and"} & {*texts(found.positive), *texts(found.negative)}


def test_texts_of_a_learned_fit(recipes):
    is_asian, texts_ = recipes
    est = co.CCA(n_components=1).fit(is_asian[:, None].astype(float), texts_)
    (words,) = find_axis_words(est, is_asian[:, None].astype(float))
    end = "positive" if texts(words.x.positive) == ["1"] else "negative"
    assert set(texts(getattr(words.y, end))) == {"soy", "sesame"}


def test_a_frame_of_one_column_of_texts(recipes):
    is_asian, texts_ = recipes
    f = scaled(is_asian.astype(float))
    assert x_of(lambda _: f, pd.DataFrame({"text": texts_})) == x_of(lambda _: f, texts_)


def test_texts_without_a_word():
    assert find_axis_words(by(lambda X: np.arange(3.0)), ["! ?", "? !", ". ,"])[0].x is None


# --- hostile labels, wrong arguments


def test_hostile_labels_stay_on_one_line():
    places = (HOSTILE, np.repeat([[-1.0], [1.0]], 3, axis=0), np.ones(6))
    (words,) = find_axis_words(by(lambda X: X), x_items=places, y_items=places)
    sentence = words.write_sentence(("na\nme", "z" * 1000))
    assert sentence.isprintable()
    assert len(sentence) < 600
    assert sentence.startswith('Axis 1 separates "</script><img src=x onerror=alert(1)>", a b [31m and xxx')
    assert sentence.endswith("""from '', "$x^2$, (y)" and gnp ('', "$x^2$, (y)", gnp).""")


def test_hostile_names_of_columns(rng):
    X = pd.DataFrame(rng.normal(size=(100, 2)), columns=HOSTILE[1:3])
    found = x_of(lambda X: scaled(X.iloc[:, 0] + X.iloc[:, 1]), X)
    assert sorted(texts(found.positive)) == ["high a b [31m", "high " + "x" * 39 + "…"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_words": 0}, "n_words must"),
        ({"max_axes": -1}, "max_axes must"),
        ({"x_items": (["a"], [[1.0]])}, "x_items must"),
        ({"y_items": (["a"], [1.0], [1.0])}, "places of y_items must"),
        ({"x_items": (["a", "b"], [[1.0]], [1.0])}, "places of x_items must"),
        ({"x_items": (["a"], [[1.0]], [-1.0])}, "prior of x_items must"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        find_axis_words(by(lambda X: X), **arguments)


@pytest.mark.parametrize("names", ["ab", ("a",), ("a", "b", "c")])
def test_names_are_two(names):
    with pytest.raises(ValueError, match="names must"):
        AxisWords(1, None, None).write_sentence(names)


# --- one sentence


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        (ends("a", "b"), ends("u", "v"), "separates u (a) from v (b)"),
        (ends("abcd", "ef"), ends("uvwx", "yz"), "separates u, v and w (a, b, c) from y and z (e, f)"),
        (None, ends("uvwx", "y"), "separates u, v and w from y"),
        (ends("abcd", "e"), None, "separates a, b and c from e"),
        (ends("", "b"), ends("", "v"), "separates v (b) from the rest"),
        (ends("a", ""), ends("", "v"), "separates a from v"),
        (ends("a", ""), None, "separates a from the rest"),
        (ends("", ""), ends("", ""), "has no words at its ends"),
        (None, None, "has no words at its ends"),
        (None, ends(["7", "8"], ["-1.5"]), "separates grade 7 and 8 from grade -1.5"),
        (None, ends(["7", "good"], ["3a"]), "separates 7 and good from 3a"),
        (ends(["low a"], ["high a"]), None, "separates low a from high a"),
        (ends(["low a", "high b"], ["high a", "low b"]), None, "separates low a and high b from the opposite"),
        (
            ends(["low a", "very low or very high b"], ["high a", "medium b"]),
            ends("u", "v"),
            "separates u (low a, very low or very high b) from v (the opposite)",
        ),
        (ends(["low a", "low b"], ["high a", "high b"]),) * 2
        + ("separates low a and low b (low a, low b) from the opposite",),
        (ends(["brown"], ["blond"]), ends(["brown"], ["blue"]), "separates brown (brown) from blue (blond)"),
        (ends(["low a", "low b"], ["high b", "high a"]), None, "separates low a and low b from high b and high a"),
        (ends(["low"], ["high"], True), ends("u", "v"), "separates u (low wine) from v (high wine)"),
        (None, ends(["bread and butter"], ["a, b"]), 'separates "bread and butter" from "a, b"'),
        (None, ends(["length (cm)"], ["sand"]), "separates length (cm) from sand"),
        (ends(["a (b)"], ["c and d"]), ends(["u (v)"], ["w"]), 'separates "u (v)" (a (b)) from w (c and d)'),
        (ends(["a, b"], ["c)"]), ends(["u"], ["w"]), 'separates u ("a, b") from w ("c)")'),
        (None, ends(['"q", r'], ["s"]), "separates \"'q', r\" from s"),
    ],
)
def test_sentence(x, y, expected):
    assert AxisWords(4, x, y).write_sentence(("wine", "grade")) == f"Axis 4 {expected}."


# --- three sentences

WORDS = [AxisWords(1, ends("a", "b"), ends("u", "v")), AxisWords(2, None, ends("w", "z")), AxisWords(3, None, None)]
AXES = "Axis 1 separates u (a) from v (b); axis 2 separates w from z."


def decomposition(*correlations):
    k = len(correlations)
    functions = LabelFunctions(np.array(["p", "q"], dtype=object), np.zeros((2, k)), np.array([0.5, 0.5]))
    return co.Decomposition(np.array(correlations) ** 2, functions, functions, 1.0, 100.0)


def held(*correlations, low=None, captured=0.1):
    r = np.array(correlations)
    intervals = np.column_stack([r - 0.05 if low is None else low, r + 0.05])
    return co.HeldOut(r, intervals, captured, np.zeros(2), 100.0, 0.95)


def crossfit(training, *correlations, **kwargs):
    h = held(*correlations, **kwargs)
    return with_evidence(h.correlations, intervals=h.intervals, captured=h.captured, training=np.array(training))


def with_evidence(*args, **kwargs):
    """What is read of the result of any procedure."""
    return SimpleNamespace(evidence=Evidence(*args, **kwargs))


def permuted(pvalues, *correlations, kind="held-out pairs"):
    return with_evidence(np.array(correlations), kind == "held-out pairs", pvalues=np.array(pvalues))


def latent(pvalues, training, *correlations, alpha=0.05, at_least=False):
    h = held(*correlations)
    return with_evidence(
        h.correlations,
        intervals=h.intervals,
        level=1 - alpha,
        pvalues=np.array(pvalues),
        alpha=alpha,
        training=np.array(training),
        may_be_more=at_least,
    )


def test_nothing_held_out():
    assert write_sentences(decomposition(0.74, 0.5), WORDS, names=("task", "who")) == [
        "task and who depend on each other strongly: the first pair of functions has a correlation of 0.74 on the "
        "training pairs.",
        AXES,
        "No single component was judged on held-out pairs, so these are training figures and optimistic.",
    ]


def test_held_out():
    assert write_sentences(decomposition(0.74, 0.5), WORDS, held(0.7, 0.3)) == [
        "x and y depend on each other strongly: the first pair of functions has a correlation of 0.70 "
        "(95 % 0.65 to 0.75) on held-out pairs.",
        AXES,
        "Both components are above 0 on new pairs (95 % intervals); training says 0.74 for the first, so there is "
        "little overfitting.",
    ]


def test_latent_dimension():
    found = latent([0.001, 0.002, 0.4], [0.9, 0.6, 0.5], 0.5, 0.3, 0.02)
    assert write_sentences(decomposition(0.9, 0.6, 0.5), WORDS, found)[1:] == [
        AXES,
        "Only the first two of three components are more than chance (p at most 0.002): do not read the other; "
        "training says 0.90 for the first, so there is strong overfitting: trust the held-out figures only.",
    ]


def test_level_of_a_latent_dimension():
    found = latent([0.001], [0.5], 0.45, alpha=0.1)
    assert "(90 % 0.40 to 0.50)" in write_sentences(decomposition(0.5), WORDS, found)[0]


def last(d, held_out):
    return write_sentences(d, WORDS, held_out)[-1]


@pytest.mark.parametrize(
    ("held_out", "expected"),
    [
        (held(0.4, 0.2, 0.0), "Only the first two of three components are above 0 on new pairs (95 % intervals): "),
        (held(0.4, 0.0, 0.2), "Only the first of three components is above 0 on new pairs (95 % intervals): "),
        (held(0.4), "The only component is above 0 on new pairs (95 % intervals); training says 0.50 for the first, "),
        (held(0.0), "The only component is not above 0 on new pairs (95 % intervals): do not read the axes."),
        (
            held(0.4, captured=-0.1),
            "The only component is above 0 on new pairs (95 % intervals); taken together",
        ),
        (crossfit([0.5], 0.4), "The only component is above 0 on new pairs (95 % intervals, a hint rather than a test"),
        (crossfit([0.9], 0.46), "training says 0.50 for the first, so there is little overfitting."),
        (crossfit([0.5], 0.4), "training says 0.50 for the first, so there is some overfitting."),
        (permuted([0.2, 0.5], 0.1, 0.0), "Neither of the two components is more than chance (p = 0.2): do not read"),
        (
            permuted([0.001] * 12, *[0.4] * 12),
            "All 12 components are more than chance (p at most 0.001); ",
        ),
        (permuted([0.01], 0.4, kind="refitted"), "; the correlations are training figures and optimistic."),
        (permuted([0.01], 0.4, kind="all pairs"), "; the correlations are training figures and optimistic."),
        (latent([0.01], [0.5], 0.45, at_least=True), "(p = 0.01), and there may be more; training says 0.50"),
        (latent([0.06], [0.5], 0.45), "The only component is not more than chance (p = 0.06): do not read the axes."),
    ],
)
def test_trust(held_out, expected):
    assert expected in last(decomposition(0.5), held_out)


@pytest.mark.parametrize(
    ("r", "expected"),
    [
        (0.05, "x and y depend on each other very weakly"),
        (0.1, "depend on each other weakly"),
        (0.3, "depend on each other moderately"),
        (0.5, "depend on each other strongly"),
        (0.8, "depend on each other very strongly"),
        (0.994, "a correlation of 0.99 on the training pairs."),
        (0.998, "a correlation of 0.998 on the training pairs, so that some function of each is all but known"),
        (0.99994, "a correlation of 0.9999 on the training pairs, so that some function"),
        (1.0, "a correlation of 1 on the training pairs, so that some function"),
    ],
)
def test_strength(r, expected):
    assert expected in write_sentences(decomposition(r), [])[0]


def test_an_interval_close_to_1():
    found = co.HeldOut(np.array([0.9964]), np.array([[0.9921, 0.9982]]), 0.9, np.zeros(2), 75.0, 0.95)
    assert (
        "a correlation of 0.996 (95 % 0.992 to 0.998) on held-out pairs"
        in write_sentences(decomposition(1.0), [], found)[0]
    )


def test_strength_by_a_test_on_the_training():
    first, *_ = write_sentences(decomposition(0.5), [], permuted([0.01], 0.45, kind="all pairs"))
    assert first.endswith("a correlation of 0.45 on the training pairs.")


def test_axes_that_do_not_hold_are_not_told():
    d = decomposition(0.5, 0.4)
    assert write_sentences(d, WORDS, permuted([0.01, 0.2], 0.4, 0.1))[1] == "Axis 1 separates u (a) from v (b)."
    first, second = write_sentences(d, WORDS, permuted([0.1, 0.2], 0.1, 0.1))
    assert first.startswith("It is not clear that x and y depend on each other: the first pair")
    assert second.startswith("Neither of the two components is more than chance")


def test_axes_without_words_are_not_told():
    assert (
        write_sentences(decomposition(0.5, 0.4), [AxisWords(1, None, None), WORDS[1]])[1]
        == "Axis 2 separates w from z."
    )
    assert len(write_sentences(decomposition(0.5), [AxisWords(1, None, ends("", ""))])) == 2


def test_no_components():
    assert write_sentences(decomposition(), []) == ["Nothing was found that x and y have in common."]
    assert find_axis_words(decomposition()) == []


def test_a_constant_has_no_correlation():
    first, second = write_sentences(decomposition(0.5), WORDS, held(0.0, low=-1.0))
    assert "a correlation of 0.00 (95 % -1 to 0.05)" in first
    assert "not above 0" in second


def test_a_later_component_may_hold_where_the_first_does_not():
    found = last(decomposition(0.5, 0.4), held(0.0, 0.4))
    assert found.startswith("The first component is not above 0 on new pairs"), "not that neither is"


def test_beliefs_of_a_classifier(rng):
    cca = co.ClassifierCA.from_beliefs(rng.dirichlet([0.1, 0.1], 500))
    r = float(cca.correlations_[0])
    first, *_, final = write_sentences(cca, [])
    assert first.endswith("as the classifier believes.")
    assert final == "Nothing was compared with true classes, so these figures are what the classifier believes."
    for gap, expected in ((0.1, "too sure of itself."), (-0.1, "too cautious."), (0.01, "about what is found.")):
        assert last(cca, held(r - gap)).endswith(expected)
    assert f"training says {r:.2f} for the first" in last(cca, crossfit([0.8], 0.78)), "as in the table of the fit"


def test_the_real_objects(rng):
    X = rng.normal(size=(400, 2))
    Y = np.column_stack([X[:, 0] + 0.5 * rng.normal(size=400), rng.normal(size=400)])
    est = co.CCA(n_components=2)
    d = co.CCA(n_components=2).fit(X, Y).decomposition_
    words = find_axis_words(d, X)
    for found in (
        co.latent_dimension(est, X, Y, n_permutations=99, progress=False),
        co.permutation_test(est, X, Y, 99, progress=False),
        co.crossfit(est, X, Y, progress=False),
        d.evaluate(X, Y),
    ):
        said = write_sentences(d, words, found, ("in", "out"))
        assert len(said) == 3
        assert said[0].startswith("in and out depend on each other very strongly: ")
        assert "column 0" in said[1]


# --- whatever comes


def assert_sound(words, n_words):
    for w in words:
        for side in filter(None, (w.x, w.y)):
            assert all(word.value < 0 for word in side.negative)
            assert all(word.value > 0 for word in side.positive)
            for end in (side.negative, side.positive):
                weights = [word.weight for word in end]
                assert weights == sorted(weights, reverse=True)
                assert all(0 < weight <= 1 for weight in weights)
                assert len(end) <= n_words
        assert w.write_sentence().isprintable()


@pytest.mark.filterwarnings("ignore::correspondence.LeftOut")
@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.integers(2, 6), st.integers(1, 4))
def test_random_tables(seed, rows, columns, n_words):
    rng = np.random.default_rng(seed)
    ca = co.CA().fit(rng.poisson(1.5, size=(rows, columns)) + np.eye(rows, columns))
    words = find_axis_words(ca, n_words=n_words)
    assert len(words) == min(10, ca.decomposition_.n_components)
    assert_sound(words, n_words)
    assert 1 <= len(write_sentences(ca, words)) <= 3


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(st.floats(-1e9, 1e9), st.sampled_from("abc"), st.integers(0, 1)), min_size=2, max_size=40),
    st.integers(0, 2**32 - 1),
)
def test_random_frames(rows, seed):
    X = pd.DataFrame(rows, columns=["number", "label", "flag"])
    F = np.random.default_rng(seed).normal(size=(2, len(X)))
    assert_sound(find_axis_words(by(lambda _: F[0], lambda _: F[1]), X, n_words=3), 3)


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(max_size=30), min_size=2, max_size=40), st.integers(0, 2**32 - 1))
def test_random_texts(values, seed):
    F = np.random.default_rng(seed).normal(size=len(values))
    d = by(lambda X: np.resize(F, len(X)))
    assert_sound(find_axis_words(d, values), 6)
    assert_sound(find_axis_words(d, [f"{text} {i}" for i, text in enumerate(values)]), 6)


def test_a_first_component_that_was_not_judged_has_its_training_figure():
    ca = co.CA().fit(co.datasets.load_smoke())
    intervals = np.tile([-1.0, 1.0], (3, 1))
    held_out = with_evidence(np.zeros(3), intervals=intervals, pvalues=np.array([0.01, 1, 1]))
    strength, *_, trust = write_sentences(ca, find_axis_words(ca), held_out)
    assert "0.27 on the training pairs" in strength
    assert "p = 0.01" in trust
    assert "-1" not in strength + trust


# --- one verdict


def test_a_dependence_that_held_out_pairs_do_not_confirm_has_no_strength():
    """A test on all pairs finds what a few held-out ones cannot show: no sentence denies the dependence."""
    found = with_evidence(
        np.array([-0.18]), intervals=np.array([[-0.41, 0.07]]), pvalues=np.array([0.002]), training=np.array([0.5])
    )
    strength, *_, trust = write_sentences(decomposition(0.5), WORDS, found)
    assert "not clear how strongly" in strength
    assert "more than chance" in trust
    assert "trust the held-out figures only" not in trust


def test_names_of_columns_stay_as_they_are():
    assert write_sentences(decomposition(0.4), [], names=("age", "children"))[0].startswith("age and children")


# --- words that people read


def test_two_codes_are_classes(rng):
    X = frame(rng).assign(gender=rng.choice([1.0, 2.0], 500))
    found = x_of(lambda X: scaled(X["gender"]), X)
    assert (texts(found.negative), texts(found.positive)) == (["gender 1"], ["gender 2"])


def test_a_label_that_is_a_number_follows_its_column(rng):
    X = frame(rng).assign(gender=rng.choice(["1", "2", "3"], 500))
    assert texts(x_of(lambda X: scaled((X["gender"] == "3").astype(float)), X).positive) == ["gender 3"]


def test_a_nameless_variable_of_two_codes_has_them_after_its_name(rng):
    X = rng.choice([0.0, 1.0], (500, 1))
    words = AxisWords(1, x_of(lambda X: scaled(X[:, 0]), X), None)
    assert words.describe_ends(("gender", "y")) == ("gender 0", "gender 1")


def test_function_words_and_hashes_are_not_named(rng):
    is_long = rng.random(500) < 0.5
    X = pd.DataFrame(
        {
            "plot": [
                f"{'of the whale' if flag else 'dog'} {' '.join(rng.choice(FILLERS, 3))} w{i}"
                for i, flag in enumerate(is_long)
            ],
            "key": np.where(is_long, "ff7c18ad303d4b603ac3f8cff7e611ffc7", "352d0cf7f3e9be14dad7df644ad65efc27"),
        }
    )
    assert texts(x_of(lambda _: scaled(is_long.astype(float)), X).positive) == ["plot: whale"]
