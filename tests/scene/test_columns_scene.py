"""What pictures show of an analysis of many columns, before it is drawn."""

import numpy as np
import pandas as pd
import pytest
from surveys import make_survey

import correspondence as co
from correspondence.scene.many_columns import find_shares, has_many_columns, make_columns_scene, write_axis_title


@pytest.fixture(scope="module")
def mca():
    return co.MCA().fit(make_survey(), supplementary=["age", "sex"])


def test_an_analysis_of_many_columns_is_recognised_by_what_it_has(mca):
    assert has_many_columns(mca)
    assert not has_many_columns(co.MCA())
    assert not has_many_columns(co.CA().fit(co.datasets.load_smoke()))
    assert not has_many_columns(mca.decomposition_)


def test_answers_know_their_variable_share_and_order(mca):
    answers = make_columns_scene(mca).answers
    frame = make_survey()
    assert answers.variables == ["often", "drink", "sugar"]
    assert answers.answers == ["never", "seldom", "often", "coffee", "tea", "no", "yes"]
    assert answers.codes.tolist() == [0, 0, 0, 1, 1, 2, 2]
    np.testing.assert_allclose(answers.shares[4], (frame["drink"] == "tea").mean())
    assert [line.tolist() for line in answers.lines] == [[0, 1, 2]]


def test_answers_carry_their_variable_where_nothing_else_tells_it(mca):
    answers = make_columns_scene(mca).answers
    assert answers.texts.tolist() == answers.answers  # few variables: a legend tells them by colour
    assert answers.full_texts.tolist()[-3:] == ["tea", "sugar: no", "sugar: yes"]
    assert make_columns_scene(mca).supplementary.texts.tolist() == ["sex: f", "sex: m"]


def test_excluded_answers_are_not_shown():
    mca = co.MCA(exclude=["often:seldom"]).fit(make_survey()[["often", "drink", "sugar"]])
    answers = make_columns_scene(mca).answers
    assert len(answers) == len(mca.columns_) == 6
    assert answers.answers[:2] == ["never", "often"]
    assert [line.tolist() for line in answers.lines] == [[0, 1]]


def test_a_missing_answer_is_not_on_the_line_of_ordered_ones():
    frame = make_survey()[["often", "drink"]]
    frame.loc[:20, "often"] = None
    answers = make_columns_scene(co.MCA().fit(frame)).answers
    assert len(answers.lines[0]) == 3
    assert (answers.codes == 0).sum() == 4


def test_shares_of_supplementary_answers_are_those_of_their_rows(mca):
    passive = make_columns_scene(mca).supplementary
    np.testing.assert_allclose(passive.shares, make_survey()["sex"].value_counts(normalize=True).sort_index())


def test_numbers_are_those_of_the_fit_and_those_outside():
    mixed = co.MixedCA().fit(make_survey().assign(height=lambda f: f["age"] ** 2), supplementary=["height"])
    numbers = make_columns_scene(mixed).numbers
    assert numbers.labels.tolist() == ["age", "height"]
    assert numbers.is_supplementary.tolist() == [False, True]
    assert numbers.choose([0, 1], 0.0, 1).labels.tolist() == ["age"]
    assert len(numbers.choose([0, 1], 1.5, 5)) == 0


def test_a_smooth_number_that_bends_has_a_path():
    rng = np.random.default_rng(1)
    x = rng.uniform(-1, 1, 400)
    frame = pd.DataFrame({"x": x, "u": np.where(x**2 + 0.05 * rng.normal(size=400) > 0.3, "far", "near"), "y": x**2})
    mixed = co.MixedCA(numeric="smooth", n_components=2).fit(frame)
    numbers = make_columns_scene(mixed).numbers
    path = numbers.find_path(0, [0])
    assert path.shape[1] == 2
    middle, ends = path[len(path) // 2, 0], path[[0, -1], 0]
    assert np.sign(ends[0]) == np.sign(ends[1]) == -np.sign(middle)  # a straight arrow could not say that
    # The path is where rows with such numbers lie on average.
    near = np.abs(x) < 0.1
    assert mixed.rows_.standard[near, 0].mean() == pytest.approx(middle, abs=0.3)
    linear = make_columns_scene(co.MixedCA(n_components=2).fit(frame)).numbers
    assert linear.find_path(0, [0]) is None


def test_groups_see_rows_around_their_own_place():
    frame = make_survey().assign(height=lambda f: f["age"] + 1)
    groups = {"habits": ["often", "drink", "sugar"], "body": ["age", "height", "sex"]}
    scene = make_columns_scene(co.MixedCA(groups=groups).fit(frame))
    assert [(group.name, group.position) for group in scene.groups] == [("habits", 0), ("body", 1)]
    np.testing.assert_allclose(np.mean([group.places for group in scene.groups], axis=0), scene.rows.places, atol=1e-9)
    assert scene.numbers.groups.tolist() == [1, 1]


def test_other_rows_can_be_shown(mca):
    new = make_survey(30, seed=5)
    scene = make_columns_scene(mca, new)
    np.testing.assert_allclose(scene.rows.places, mca.transform(new))
    assert scene.rows.labels is None


def test_rows_are_named_only_if_they_are_few_and_have_names():
    frame = make_survey(20)[["often", "drink", "sugar"]]
    assert not make_columns_scene(co.MCA().fit(frame)).has_row_names
    named = frame.set_axis([f"person {i}" for i in range(20)])
    assert make_columns_scene(co.MCA().fit(named)).has_row_names
    assert not make_columns_scene(co.MCA().fit(frame.set_axis([str(i) for i in range(20)]))).has_row_names


@pytest.mark.parametrize(
    ("correction", "told"), [("indicator", "% of inertia"), ("burt", "(Burt)"), ("adjusted", "(adjusted)")]
)
def test_axes_have_their_share_by_the_convention(correction, told):
    mca = co.MCA(correction=correction).fit(make_survey()[["often", "drink", "sugar"]])
    title = write_axis_title(mca, 0)
    assert title.endswith(told)
    assert f"{100 * mca.shares_[0]:.1f} %" in title


def test_axes_of_a_joint_analysis_have_no_share_of_their_own():
    mca = co.MCA(correction="joint").fit(make_survey()[["often", "drink", "sugar"]])
    assert find_shares(mca) is None
    assert write_axis_title(mca, 1) == f"Axis 2: inertia {mca.inertias_[1]:.4f} (joint)"
