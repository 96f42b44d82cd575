"""Every public result as a table in a notebook: well formed, escaped, small, with the figures of the frame."""

import inspect
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import SGDClassifier

import correspondence as co
from correspondence._util.html_tables import MAX_COLUMNS, MAX_LINE_LETTERS, MAX_ROWS, render_table
from correspondence._util.text import one_line

HOSTILE = ["</td></table><script>alert(1)</script>", '<img src=x onerror="alert(1)">', "a&amp;b <i>c", "{{7*7}}", "d"]
NO_TABLES = {"ExplorerPage", "TrainingRecorder"}  # a page, and what is at work
MAX_LETTERS = 50_000
KNOWN = {"held_out", "training", "pic", "pvalue", "correlation", "low", "high"}


def make_pairs(n=120):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 2))
    return x, x + rng.normal(size=(n, 2))


def make_labels(n=200):
    rng = np.random.default_rng(1)
    hidden = rng.integers(3, size=n)
    answers = {
        name: np.array(HOSTILE, object)[np.where(rng.random(n) < 0.7, hidden, rng.integers(4, size=n))]
        for name in ("<b>often", "drink&", "sugar")
    }
    return pd.DataFrame(answers)


@pytest.fixture(scope="module")
def results():
    """One instance of each public result class, with labels that are HTML wherever there are labels."""
    rng = np.random.default_rng(2)
    x, y = make_pairs()
    frame, labels = make_labels(), np.array(HOSTILE, object)
    table = co.Table(rng.integers(1, 30, size=(30, 5)), [f"{HOSTILE[i % 5]}{i}" for i in range(30)], labels)
    counts = pl.DataFrame({"site": [f"{HOSTILE[i % 5]}{i}" for i in range(12)]}).with_columns(
        *[pl.Series(name, rng.integers(1, 9, 12)) for name in HOSTILE]
    )
    ca, cca, mca = co.CA().fit(table), co.CCA(2).fit(x, y), co.MCA(2).fit(frame)
    constrained = co.CA().fit(counts, constraints={HOSTILE[0]: rng.normal(size=12)})
    asymmetric = co.CA(response="columns").fit(table)
    ordered = co.CA(1, ordered=["rows", "columns"]).fit(table)
    joint = co.MCA(n_components=2, correction="joint").fit(frame)
    mixed_frame = frame.assign(size=rng.normal(size=len(frame)), age=rng.normal(size=len(frame)))
    mixed = co.MixedCA(2, groups={HOSTILE[0]: list(frame), "numbers": ["size", "age"]}).fit(mixed_frame)
    beliefs = rng.dirichlet(np.ones(3), 60)
    classifier = co.ClassifierCA.from_beliefs(beliefs, HOSTILE[:3])
    truth = labels[rng.integers(3, size=60)]
    clusters = co.Clusters(2, n_resamples=5, random_state=0).fit(mca)
    index = co.CrossModalIndex(ca, ca.columns_.labels, ca.columns_.labels)
    calibrated = co.CrossModalIndex(cca, None, y[60:], held_out=(x[:60], y[:60]))
    dimension = co.latent_dimension(co.CCA(2), x, y, n_permutations=19, progress=False)
    recorder = co.TrainingRecorder(SGDClassifier(loss="log_loss", random_state=0), x[:60], truth, every=2)
    timeline = recorder.partial_fit(x[:60], truth, batch_size=10, epochs=2).timeline()
    found = [
        ca.rows_, ca.decomposition_, ca.chi2_test_, ca.bootstrap(10, random_state=0), table,
        ca.supplementary(numbers=pl.DataFrame({name: rng.normal(size=30) for name in HOSTILE})),
        constrained.anova("term", 9), constrained.partition_, constrained.scores("sites"), constrained.unconstrained_,
        asymmetric.decomposition_, asymmetric.columns_, asymmetric.tau_test_, asymmetric.evaluate(table),
        ordered.rows_, joint.columns_, mixed.columns_, mixed.numbers_, mixed.groups_,
        co.associations(mixed_frame), co.axis_tests(ca), co.describe_columns(mixed_frame), co.structure(cca, x, y),
        co.describe_groups(mixed_frame, "sugar"), co.describe_groups(mixed_frame, "sugar").categories,
        co.describe_groups(["the sea & <b>sand</b>", "a tree"] * 20, HOSTILE[:2] * 20),
        co.describe_axes(mca), clusters.paragons_, clusters.agreement_,
        dimension, dimension.test, co.crossfit(co.CCA(2), x, y, progress=False), cca.evaluate(x, y),
        co.pic_intervals(co.CCA(1), x, y, 20, progress=False),
        co.latent_dimension(co.MCA(2), frame, n_permutations=19, progress=False),
        co.latent_dimension(co.MCA(2), frame, n_permutations=19, progress=False).held_out,
        co.compare(x, y, ["cca"], progress=False),
        co.compare_classifiers({HOSTILE[0]: lambda X: beliefs, "b": lambda X: beliefs[::-1]}, x[:60]),
        classifier.confusing(beliefs), classifier.calibration(beliefs, truth), classifier.class_similarity(),
        classifier.faithfulness(beliefs),
        index, index.tags(ca.rows_.labels, k=3), calibrated.calibration["tags"],
        timeline, co.Transition(0.0, 1.0, 2.0, 0.5), co.Moments().update(x, y),
        co.Pairs(pl.LazyFrame({HOSTILE[0]: x[:, 0], "b": y[:, 0]}), x=HOSTILE[0], y="b"),
    ]  # fmt: skip
    return {type(result).__name__: result for result in found}


def list_public_results():
    public = [getattr(co, name) for name in co.__all__]
    classes = [c for c in public if inspect.isclass(c) and not issubclass(c, BaseEstimator | Warning)]
    return sorted(c.__name__ for c in classes if c.__name__ not in NO_TABLES)


class Read(HTMLParser):
    """The texts of paragraphs and cells; an element that is not closed in its place is an error."""

    def __init__(self, html):
        super().__init__()
        self.open, self.names, self.lines, self.rows = [], set(), [], []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.names |= {name for name, _ in attrs}
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag == "p":
            self.lines.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data
        elif self.open[-1] == "p":
            self.lines[-1] += data


def list_failures(check, results, names):
    failures = {}
    for name in names:
        try:
            check(name, results[name])
        except Exception as error:
            failures[name] = error
    return failures


def test_results_are_small_tables_whose_labels_stay_text(results):
    assert list_failures(check_table, results, list_public_results()) == {}


def check_table(name, result):
    html = result._repr_html_()
    read = Read(html)
    assert len(html) < MAX_LETTERS
    assert read.names <= {"style", "scope"}
    assert not {"script", "img", "b", "i"} & {tag.split()[0] for tag in html.replace("</", "<").split("<")[1:] if tag}
    assert 2 <= len(read.rows) <= MAX_ROWS + 1
    assert {len(row) for row in read.rows} == {len(read.rows[0])}
    assert len(read.rows[0]) <= MAX_COLUMNS
    if name not in ("Comparison", "Chi2Test", "TauTest", "Transition"):  # the text has no head, or is a tuple's
        assert read.lines[0] == one_line(repr(result).split("\n")[0], MAX_LINE_LETTERS)


def test_figures_are_those_of_the_frame(results):
    names = [name for name in list_public_results() if hasattr(getattr(co, name), "to_frame")]
    assert len(names) > 25
    assert list_failures(check_figures_of_frame, results, names) == {}


def check_figures_of_frame(name, result):
    frame = result.to_frame("pandas")
    head, *rows = Read(result._repr_html_()).rows
    if name == "Timeline":  # the table has its classes, as the text has
        assert {row[0] for row in rows} == {one_line(label) for label in result.classes}
        return
    assert ["label" if column == "" else column for column in head] == [one_line(column) for column in frame][
        :MAX_COLUMNS
    ]
    assert len(rows) == min(len(frame), MAX_ROWS)
    for row, values in zip(rows, frame.to_numpy(dtype=object), strict=False):
        for text, value in zip(row, values, strict=False):
            assert_same(text, value)


def assert_same(text, value):
    if value is None or value != value:
        assert text == "\N{EN DASH}"
    elif isinstance(value, str | bool):
        assert text == (one_line(value) if value != "" else "")
    else:
        assert float(text.replace("\N{MINUS SIGN}", "-")) == pytest.approx(
            value, rel=0.05 if value < 1e-3 else 1e-3, abs=5.1e-5
        )


def test_figures_are_those_of_the_text(results):
    names = "CrossFit", "Decomposition", "HeldOut", "HeldOutTau", "LatentDimension", "PermutationTest", "PicIntervals"
    assert list_failures(check_figures_of_text, results, names) == {}


def check_figures_of_text(name, result):
    head, *rows = Read(result._repr_html_()).rows
    figures = [text for row in rows for column, text in zip(head, row, strict=True) if column in KNOWN]
    assert figures
    assert [text for text in figures if text.replace("\N{MINUS SIGN}", "-") not in repr(result)] == []


def test_large_results_are_cut_before_they_are_laid_out(monkeypatch):
    table = co.Table(np.ones((3000, 4)) + np.eye(3000, 4), list(range(3000)), HOSTILE[:4])
    rows = co.CA(2).fit(table).rows_
    monkeypatch.setattr(co.Points, "_collect_columns", count_rows := CountRows(co.Points._collect_columns))
    assert "… and 2,980 more rows and 4 more columns" not in rows._repr_html_()
    assert "… and 2,980 more rows" in rows._repr_html_()
    assert set(count_rows.seen) == {MAX_ROWS}
    wide = co.Table(np.ones((2, 300)), ["a", "b"], list(range(300)))
    assert "… and 291 more columns" in wide._repr_html_()


class CountRows:
    def __init__(self, method):
        self.method, self.seen = method, []

    def __get__(self, points, kind):
        self.seen.append(len(points))
        return lambda: self.method(points)


def test_numbers_are_to_the_right_and_readable():
    columns = {
        "pvalue": [1.23e-12, 0.5],
        "n": [3, -4],
        "whole": [1e6, 2.0],
        "text": ["a\u202eb\n", ""],
        "none": [None, np.nan],
    }
    html = render_table([], columns, 2)
    assert [row[1:] for row in Read(html).rows[1:]] == [
        ["3", "1000000", "a b", "\N{EN DASH}"],
        ["\N{MINUS SIGN}4", "2", "", "\N{EN DASH}"],
    ]
    assert [row[0] for row in Read(html).rows[1:]] == ["1.2e\N{MINUS SIGN}12", "0.5000"]
    assert [html.count(f"text-align: {side}") for side in ("right", "left")] == [12, 3]
    assert "color:" not in html
