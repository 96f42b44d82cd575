"""What was learnt when: certainty, separation, their order, and sudden transitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from correspondence.classifiers.estimator import ClassifierCA
from correspondence.recording.recorder import TrainingRecorder
from correspondence.results.timeline import Timeline, find_lasting_steps, find_transitions

NAMES = ["ant", "bee", "cat", "dog"]


def answered(frames, y=None, classes=None):
    """Recorder of these beliefs, one frame for each."""
    left = list(frames)
    recorder = TrainingRecorder(lambda rows: left.pop(0), np.arange(len(frames[0])), y, every=1, classes=classes)
    while left:
        recorder.step()
    return recorder


def learning(when, steps=20, width=2.0, n=80):
    """Beliefs of a model that learns each class at its own step."""
    codes = np.arange(n) % len(when)
    frames = []
    for step in range(steps + 1):
        sure = 1 / (1 + np.exp(-(step - np.asarray(when)) / width))
        P = np.full((n, len(when)), 0.01)
        P += ((1 - sure[codes]) / len(when))[:, None]
        P[np.arange(n), codes] += sure[codes]
        frames.append(P / P.sum(axis=1, keepdims=True))
    return frames, codes


@pytest.fixture(scope="module")
def timeline():
    frames, codes = learning([12, 4, 99, 8])
    return answered(frames, np.array(NAMES, object)[codes], NAMES).timeline()


# --- what is measured


def test_classes_are_learnt_in_their_order(timeline):
    assert timeline.order.tolist() == ["bee", "dog", "ant", "cat"]
    assert np.isnan(timeline.learnt[2])
    np.testing.assert_allclose(timeline.learnt[[1, 3, 0]], [4, 8, 12], atol=2)


def test_certainty_is_belief_where_it_is_right_and_right_where_it_is_believed():
    frames, codes = learning([5, 2, 9])
    timeline = answered(frames, codes).timeline()
    for i in (0, 20, 7):
        right = [frames[i][codes == c, c].sum() for c in range(3)]
        found = [right[c] / (codes == c).sum() for c in range(3)]
        meant = [right[c] / frames[i][:, c].sum() for c in range(3)]
        np.testing.assert_allclose(timeline.certainty[i], np.minimum(found, meant), atol=2e-3)
    assert not np.allclose(found, meant, atol=0.01)


def test_a_class_that_is_believed_of_everything_is_not_learnt():
    P = np.tile([0.8, 0.1, 0.1], (30, 1))
    codes = np.arange(30) % 3
    for y in (codes, None):
        timeline = answered([P] * 5, y).timeline()
        assert (timeline.certainty < 0.35).all()
        assert np.isnan(timeline.learnt).all()


@pytest.mark.parametrize("beliefs", [[0.5, 0.5], [0.0, 1.0]])
def test_a_constant_model_has_learnt_and_separated_nothing(beliefs):
    timeline = answered([np.tile(beliefs, (40, 1))] * 3, np.arange(40) % 2).timeline()
    assert np.isnan(timeline.learnt).all()
    assert np.isnan(timeline.separated).all()
    assert (timeline.separation == 0).all()


def test_certainty_without_labels_is_the_pic_of_the_class_against_all_others():
    frames, _ = learning([5, 2, 9])
    timeline = answered(frames).timeline()
    P = frames[7]
    for c in range(3):
        against = ClassifierCA.from_beliefs(np.column_stack([P[:, c], 1 - P[:, c]]))
        np.testing.assert_allclose(timeline.certainty[7, c], against.pics_[0], atol=2e-3)
    assert timeline.accuracy is None
    assert timeline.order.tolist() == [1, 0, 2]


def test_a_class_without_probes_is_never_learnt():
    frames, codes = learning([1, 1, 1])
    timeline = answered([P[codes < 2] for P in frames], codes[codes < 2]).timeline()
    assert np.isnan(timeline.certainty[:, 2]).all()
    assert np.isnan(timeline.learnt[2])
    assert timeline.order[-1] == 2


def test_pics_and_chi2_are_those_of_each_frame():
    frames, codes = learning([5, 2, 9])
    recorder = answered(frames, codes)
    timeline = recorder.timeline()
    assert timeline.pics.shape == (21, 2)
    for i in (0, 10, 20):
        d = recorder.decomposition(i)
        np.testing.assert_allclose(timeline.pics[i], d.pics)
        np.testing.assert_allclose(timeline.chi2[i], d.chi2)
    assert (np.diff(timeline.pics, axis=1) <= 0).all()
    assert timeline.accuracy.tolist() == recorder.accuracy.tolist()


def test_pics_are_padded_where_a_class_is_never_believed():
    P = np.random.default_rng(0).dirichlet(np.ones(3), 50)
    none = np.column_stack([P[:, 0], P[:, 1:].sum(axis=1), np.zeros(50)])
    timeline = answered([none, P]).timeline()
    assert timeline.pics[0, 0] > 0
    assert timeline.pics[0, 1] == 0
    assert timeline.certainty[0, 2] == 0
    assert np.isfinite(timeline.separation).all()


def test_separation_is_what_the_overlap_leaves():
    frames, codes = learning([5, 2, 9])
    recorder = answered(frames, codes)
    timeline = recorder.timeline()
    assert timeline.pairs.tolist() == [[0, 1], [0, 2], [1, 2]]
    overlap = ClassifierCA.from_beliefs(recorder.beliefs(8)).overlap_
    np.testing.assert_allclose(timeline.separation[8], 1 - overlap[[0, 0, 1], [1, 2, 2]])
    assert timeline.separated[0] <= timeline.separated[1]
    for pair, step in enumerate(timeline.separated):
        since = timeline.steps >= step
        assert (timeline.separation[since, pair] >= 0.5).all()
        assert (timeline.separation[~since, pair][-1:] < 0.5).all()


def test_of_many_pairs_those_that_overlap_most_at_the_end_are_followed(monkeypatch):
    monkeypatch.setattr("correspondence.recording.learning.MOST_PAIRS", 2)
    frames, codes = learning([2, 2, 40, 40])
    timeline = answered(frames, codes).timeline()
    full = 1 - ClassifierCA.from_beliefs(frames[-1]).overlap_[np.triu_indices(4, 1)]
    assert timeline.separation.shape == (21, 2)
    np.testing.assert_allclose(np.sort(timeline.separation[-1]), np.sort(full)[:2], atol=1e-2)
    assert [2, 3] in timeline.pairs.tolist()


def test_a_timeline_is_read_only_and_says_what_it_is(timeline):
    for name in ("steps", "pics", "chi2", "accuracy", "certainty", "learnt", "separation", "separated", "pairs"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(timeline, name)[0] = 0
    lines = repr(timeline).splitlines()
    assert lines[0].startswith("Timeline: 21 frames, steps 0 to 20, 4 classes, total inertia ")
    assert [line.split()[0] for line in lines[2:6]] == ["bee", "dog", "ant", "cat"]
    assert [line.split()[1] for line in lines[2:6]] == [*(f"{timeline.learnt[i]:.0f}" for i in (1, 3, 0)), "never"]
    assert "separated: " in repr(timeline)
    assert max(map(len, lines)) < 160


def test_repr_of_many_classes_is_short():
    frames, codes = learning(np.arange(30) / 2, n=60)
    text = repr(answered(frames, codes).timeline())
    assert "... and 10 more" in text
    assert "separated first: 0 | 1" in text
    assert "separated last: " in text


def test_frame_has_a_row_for_each_step(timeline):
    frame = timeline.to_frame("pandas")
    assert list(frame.columns) == ["step", "chi2", "accuracy", "pic1", "pic2", "pic3"] + [
        f"certainty {name}" for name in NAMES
    ]
    assert frame["step"].tolist() == list(range(21))
    assert np.allclose(frame["certainty dog"], timeline.certainty[:, 3])
    assert type(timeline.to_frame("polars")).__module__.startswith("polars")


def test_classes_that_are_the_same_as_text_make_no_frame():
    frames, _ = learning([1, 2])
    with pytest.raises(ValueError, match="classes must"):
        answered(frames, classes=[1, "1"]).timeline().to_frame()


def test_one_frame_is_a_timeline():
    frames, codes = learning([5, 2, 9], steps=0)
    timeline = answered(frames, codes).timeline()
    assert len(timeline) == 1
    assert timeline.transitions == []
    assert isinstance(timeline, Timeline)


# --- from when on


@given(st.lists(st.booleans(), min_size=1, max_size=40))
def test_lasting_is_the_first_step_from_which_on_it_mostly_holds(values):
    steps = 10 * np.arange(len(values))
    found = find_lasting_steps(steps, np.array(values)[:, None])[0]
    mostly = [i for i in range(len(values)) if values[i] and np.mean(values[i:]) >= 0.9]
    if not values[-1]:
        assert np.isnan(found)
    else:
        assert found == 10 * mostly[0]


def test_what_is_forgotten_for_a_moment_was_learnt():
    holds = np.ones((40, 3), bool)
    holds[:5] = False
    holds[20, 1] = False
    holds[10:20, 2] = False
    assert find_lasting_steps(np.arange(40), holds).tolist() == [5, 5, 20]


# --- transitions

STEPS = np.arange(0, 2000, 10)


@pytest.mark.parametrize("at", [105, 505, 1505, 1895])
def test_a_step_is_one_transition_in_the_right_place(at):
    (found,) = find_transitions(STEPS, np.where(at < STEPS, 3.0, 0.5))
    assert found.middle == pytest.approx(at)
    assert found.start < at < found.end
    assert found.end - found.start < 100
    assert found.rise == pytest.approx(2.5)


@pytest.mark.parametrize(
    "chi2",
    [
        STEPS / 1000,
        1 + STEPS / 10000,
        2 - STEPS / 1000,
        np.zeros(200),
        np.full(200, 2.5),
        1e-5 * np.random.default_rng(0).random(200),
        1 + 0.02 * np.random.default_rng(0).random(200),
        STEPS / 1000 + 0.02 * np.random.default_rng(1).random(200),
        2 + np.sin(STEPS / 60),
    ],
    ids=["linear", "slow", "falling", "zero", "level", "tiny", "noise", "noisy growth", "oscillation"],
)
def test_slow_growth_and_noise_are_no_transitions(chi2):
    assert find_transitions(STEPS, chi2) == []


def test_several_transitions_are_found_in_their_order():
    chi2 = sum(1 / (1 + np.exp(-(STEPS - at) / 15)) for at in (400, 1000, 1600))
    found = find_transitions(STEPS, chi2 + 0.01 * np.random.default_rng(0).random(200))
    np.testing.assert_allclose([t.middle for t in found], [400, 1000, 1600], atol=10)
    assert all(0.5 < t.rise < 1.1 for t in found)


def test_to_learn_again_what_was_forgotten_is_no_transition():
    chi2 = np.where(STEPS < 300, 0.2, 2.0) - np.where((STEPS > 800) & (STEPS < 900), 1.5, 0)
    (found,) = find_transitions(STEPS, chi2)
    assert found.middle == pytest.approx(295)
    assert found.rise == pytest.approx(1.8)


def test_a_rise_from_the_first_step_on_is_found():
    (found,) = find_transitions(STEPS, 4 * (1 - np.exp(-STEPS / 100)))
    assert found.start <= 10
    assert 30 < found.end < 150


def test_steps_need_not_be_at_equal_distances():
    steps = np.concatenate([np.arange(0, 1000, 40), np.arange(1000, 1500, 10), [2600]])
    linear = find_transitions(steps, steps / 1000)
    assert linear == []
    (found,) = find_transitions(steps, 1 / (1 + np.exp(-(steps - 1200) / 20)))
    assert found.middle == pytest.approx(1200, abs=5)


def test_slow_growth_between_distant_frames_does_not_hide_a_transition():
    steps = np.concatenate([np.arange(0, 500, 10), [10500]])
    (found,) = find_transitions(steps, np.interp(steps, [0, 250, 260, 500, 10500], [0, 0, 1, 1, 7]))
    assert found.middle == pytest.approx(255, abs=3)


def test_a_single_bad_frame_later_does_not_hide_a_transition():
    chi2 = np.where(STEPS < 500, 0.5, 3.0)
    chi2[150] = 0.2
    assert any(t.middle == pytest.approx(495, abs=10) for t in find_transitions(STEPS, chi2))
