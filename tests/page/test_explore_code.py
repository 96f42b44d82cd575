"""The code of a view: the Python runs and draws the same axes and points, and the command line writes the same page."""

import shlex

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from browser import opened
from click.testing import CliRunner
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

import correspondence as co
from correspondence.app.cli import main

pytestmark = pytest.mark.slow

DESK = {"viewport": {"width": 1280, "height": 800}}
PLACES = """role => { const { model, plane } = explorer, cloud = model.role(role);
    return Array.from({ length: cloud.n }, (_, j) => [0, 1].map(k => plane.xy[2 * (cloud.start + j) + k])); }"""
CHOOSE = """choices => {
    for (const [id, value] of Object.entries(choices)) {
        const select = document.getElementById(id), change = new Event("change");
        select.value = value;
        select.dispatchEvent(change);
    }
}"""


def run_code(text, **known):
    """Run the code but for the page itself; return the axes that it drew."""
    drawing, page = text.split("# This page")
    assert "co.explore(est" in page
    names = dict(known)
    exec(drawing, names)
    return names["ax"]


def check_code(path, choices, role, **known):
    """Compare the picture of the code with the page; return the code."""
    with opened(path, keeps_policy=False, **DESK) as seen:
        page = seen.page
        page.wait_for_selector("html[data-ready=yes]")
        page.evaluate(CHOOSE, choices)
        places = np.array(page.evaluate(PLACES, role))
        page.click("#code")
        text = page.inner_text("#python")
        assert page.locator("#command").count() == 0, "no command wrote it"
    assert seen.problems == []
    ax = run_code(text, **known)
    drawn = [np.asarray(one.get_offsets()) for one in ax.collections if len(one.get_offsets())]
    everything = np.vstack(drawn)
    away = np.abs(places[:, None] - everything[None]).max(axis=2).min(axis=1)
    assert away.max() < 2e-3 * np.abs(places).max(), "each point of the page is in the picture"
    plt.close(ax.figure)
    return text, ax


def test_code_of_a_table_and_of_a_classifier(tmp_path):
    ca = co.CA().fit(co.datasets.load_housetasks())
    path = co.explore(ca, path=tmp_path / "table.html", names=("task", "who"))
    text, ax = check_code(path, {"first": "2", "second": "0", "map": "rowgreen"}, "y", est=ca)
    assert 'axes=(3, 1), map="rowgreen")' in text
    assert 'co.explore(est, names=names, path="page.html")' in text
    assert (ax.get_xlabel()[:6], ax.get_ylabel()[:6]) == ("Axis 3", "Axis 1")
    X, y = load_iris(return_X_y=True)
    cca = co.ClassifierCA(LogisticRegression(max_iter=500).fit(X, y)).fit(X, y)
    path = co.explore(cca, X, path=tmp_path / "net.html", classes=y)
    text, ax = check_code(path, {"shapes": "confidence"}, "x", est=cca, X=X, classes=y)
    assert 'map="rowprincipal", X=X, classes=classes, ellipses="confidence")' in text
    assert len(ax.patches) >= 3


def test_code_of_a_survey_and_of_a_triplot(tmp_path):
    frame = co.datasets.load_poison()
    mca = co.MCA().fit(frame[:, 4:])
    path = co.explore(mca, path=tmp_path / "survey.html", groups=frame["Sick"])
    text, _ = check_code(path, {"first": "1", "second": "2", "shapes": "hull"}, "y", est=mca, groups=frame["Sick"])
    assert "axes=(2, 3)" in text
    assert "groups=groups, hulls=True" in text
    fever = list(mca.variables_).index("Fever")
    text, _ = check_code(path, {"paint": str(fever), "shapes": "confidence"}, "x", est=mca, frame=frame)
    assert 'groups=frame["Fever"], ellipses="confidence"' in text
    counts, environment = co.datasets.load_dune()
    ca = co.CA().fit(counts, constraints=environment[["A1", "Management"]])
    path = co.explore(ca, path=tmp_path / "triplot.html")
    text, ax = check_code(path, {"second": "4", "map": "symbiplot", "sites": "lc"}, "x", est=ca)
    assert 'axes=("CCA1", "CA1"), map="symbiplot", sites="lc"' in text
    assert ax.get_ylabel().startswith("CA1")


def test_code_takes_columns_out_of_arrays_and_by_names_of_any_kind(tmp_path):
    X, y = load_iris(return_X_y=True)
    cca = co.ClassifierCA(LogisticRegression(max_iter=500).fit(X, y)).fit(X, y)
    path = co.explore(cca, X, path=tmp_path / "net.html")
    text, _ = check_code(path, {"paint": "2", "shapes": "hull"}, "x", est=cca, X=X)
    assert "groups=X[:, 2], hulls=True" in text
    labels, frame = np.array(["a", "b"])[(X[:, 0] > 6).astype(int)], pd.DataFrame({7: X[:, 0], "n" * 400: X[:, 1]})
    ace = co.ACE(1).fit(X[:, 0], labels)
    path = co.explore(ace, X[:, 0], labels, tmp_path / "line.html", data=frame)
    for key, said in {"0": "groups=X)", "1": "groups=data[7])", "2": f"groups=data['{'n' * 400}'])"}.items():
        with opened(path, **DESK) as seen:
            seen.page.wait_for_selector("html[data-ready=yes]")
            seen.page.evaluate(CHOOSE, {"paint": key, "shapes": "confidence"})
            text = seen.page.evaluate("explorer.code.writePython()")
        assert said in text
        assert run_code(text, est=ace, X=X[:, 0], Y=labels, data=frame).get_xlabel()
    survey = co.datasets.load_poison()[:, 4:].to_numpy()
    path = co.explore(co.MCA().fit(survey), path=tmp_path / "survey.html")
    with opened(path, **DESK) as seen:
        seen.page.wait_for_selector("html[data-ready=yes]")
        seen.page.evaluate(CHOOSE, {"paint": "3"})
        assert "groups=frame[:, 3])" in seen.page.evaluate("explorer.code.writePython()")
    plt.close("all")


def test_a_page_tells_the_command_that_wrote_it(tmp_path):
    data = tmp_path / "my data; it's.csv"
    co.datasets.load_poison()[["Sick", "Fish", "Cheese"]].write_csv(data)
    arguments = ["analyze", str(data), "--x", "Sick", "--y", "Fish", "-o", str(tmp_path / "out $HOME")]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    (report,) = (tmp_path / "out $HOME").glob("*.html")
    with opened(report, keeps_policy=True, **DESK) as seen:
        seen.page.wait_for_selector("html[data-ready=yes]")
        seen.page.click("#code")
        command = seen.page.inner_text("#command")
        seen.page.locator("[data-copy=command]").click()
        seen.page.locator("#copied", has_text="op").wait_for()
    assert shlex.split(command) == ["correspondence", *arguments]
    assert seen.problems == []
