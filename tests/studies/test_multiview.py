"""The multi-view studies: their pairs and measures on images made here, and one quick run on digits."""

import numpy as np
import pytest
import torch
from pages import data_of
from records import check_record, read_rows, require_data

import correspondence as co
from correspondence.studies import multiview, multiview_runs, views
from correspondence.studies.reproducing import reproduce_study

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("one_thread")]


def draw_blobs(rng, n):
    """Draw noisy images with a bright spot in one of three places, the class."""
    y = rng.integers(3, size=n)
    images = rng.normal(60, 30, (n, 12, 12))
    for i, label in enumerate(y):
        images[i, 4 * label : 4 * label + 4, 4:8] += 120
    return images.clip(0, 255).astype(np.uint8), np.array(["left", "middle", "right"], dtype=object)[y]


def make_generator(seed=0):
    return torch.Generator().manual_seed(seed)


def draw_bars(n, size=21):
    """Draw vertical bars through the centre."""
    images = torch.zeros(n, 1, size, size)
    images[:, :, 3:-3, size // 2 - 1 : size // 2 + 2] = 1
    return images


def measure_angles(images):
    """Measure the angle of the main axis of each image against the vertical, from -pi/2 to pi/2."""
    at = torch.arange(images.shape[-1]) - (images.shape[-1] - 1) / 2
    mass = images[:, 0] / images[:, 0].sum(dim=(1, 2), keepdim=True)
    xx, yy = ((mass * square).sum(dim=(1, 2)) for square in (at**2, at[:, None] ** 2))
    xy = (mass * at * at[:, None]).sum(dim=(1, 2))
    return 0.5 * torch.atan2(2 * xy, yy - xx)


def test_partners_are_others_of_the_same_class(rng):
    labels = rng.choice(["a", "b", "c"], 50)
    chosen = views.draw_partners(labels, rng)
    assert (labels[chosen] == labels).all()
    assert (chosen != np.arange(50)).all()
    assert sorted(chosen) == list(range(50))


def test_rotation_is_uniform_within_an_eighth_of_a_turn():
    found = measure_angles(views.rotate_images(draw_bars(2000), make_generator()))
    assert found.abs().max() < np.pi / 4 + 0.02
    quantiles = torch.quantile(found, torch.tensor([0.1, 0.3, 0.5, 0.7, 0.9]))
    np.testing.assert_allclose(quantiles, np.pi / 4 * np.array([-0.8, -0.4, 0, 0.4, 0.8]), atol=0.05)


def test_noise_is_uniform_and_cut_off():
    images = torch.zeros(200, 1, 10, 10)
    images[100:] = 0.5
    seen = views.rotate_and_add_noise(images, make_generator())[:, :, 4:6, 4:6]  # where rotation changes nothing
    assert 0 <= seen.min() < 0.01
    assert seen.max() == 1
    assert abs(seen[:100].mean() - 0.5) < 0.05
    assert seen[100:].min() > 0.49
    assert abs((seen[100:] == 1).double().mean() - 0.5) < 0.1
    assert (
        views.rotate_and_add_noise(draw_bars(300), make_generator())
        != views.rotate_images(draw_bars(300), make_generator())
    ).any()


def test_passes_draw_new_pairs_but_repeat_for_a_seed(rng):
    images = np.arange(30, dtype=np.uint8)[:, None, None].repeat(2, 1).repeat(2, 2)
    labels = np.array(["a", "b", "c"])[np.arange(30) % 3]

    def passes(seed):
        pairs = views.ViewPairs(images, labels, views.keep_images, views.keep_images, 8, seed)
        return [np.concatenate([np.stack(batch)[:, :, 0, 0, 0] for batch in pairs], axis=1) * 255 for _ in range(2)]

    first, second = passes(0)
    for x, y in (first, second):
        np.testing.assert_allclose(np.sort(x), np.arange(30), atol=1e-4)
        np.testing.assert_allclose(np.sort(y), np.arange(30), atol=1e-4)
        np.testing.assert_allclose(x.round() % 3, y.round() % 3)
    assert (first != second).any()
    np.testing.assert_array_equal(passes(0), [first, second])
    assert (passes(1)[0] != first).any()


@pytest.mark.parametrize("is_shared", [True, False])
def test_three_classes_share_two_components(rng, is_shared, monkeypatch):
    monkeypatch.setattr(views, "N_COMPONENTS", 6)
    train, test = draw_blobs(rng, 1000), draw_blobs(rng, 400)
    data = co.datasets.ImageClasses(*train, *test, ["left", "middle", "right"])
    view = views.keep_images if is_shared else views.rotate_and_add_noise
    recipe = views.ViewRecipe((8, 16, 64), 4, 64, 5e-3, 0.01, held_out=300, view_x=views.keep_images, view_y=view)
    run = multiview_runs.measure_views(recipe, data, seed=1)  # one seed of a hundred has a component too many by chance
    assert run.n == 700
    assert run.shared.tolist() == [True] * 2 + [False] * 4
    assert run.n_found == 2
    assert (run.held.correlations[:2] > 0.7).all()
    assert run.svm_error < 0.05
    assert run.cluster_accuracy > 0.95
    x, y = (functions.features.net for functions in (run.pice.decomposition_.f, run.pice.decomposition_.g))
    assert (x is y) == is_shared


def test_band_of_chance(rng):
    F, G = rng.normal(size=(2, 2000, 40))
    band = multiview_runs.find_chance_band(F, G)
    assert 3 / np.sqrt(2000) < band < 4.2 / np.sqrt(2000)  # the largest of 40 in one of 100 cases
    assert multiview_runs.find_chance_band(3 * F + 1, G) == pytest.approx(band)


def test_clusters_are_matched_one_to_one(rng):
    truth = np.repeat(["a", "b", "c"], 50)
    F = np.repeat(np.eye(3), 50, axis=0) * 10 + rng.normal(size=(150, 3)) * 0.1
    assert multiview_runs.measure_cluster_accuracy(F, truth, 0) == 1
    truth[:10] = "c"
    assert multiview_runs.measure_cluster_accuracy(F, truth, 0) == pytest.approx(140 / 150)


def test_ends_of_a_component():
    names = ["airplane", "bird", "cat", "ship", "truck"]
    assert multiview.list_end_classes(names, np.array([-1.0, 0.9, 0.8, -0.6, -0.1])) == [
        "vehicles: airplane, ship",
        "animals: bird, cat",
    ]
    assert multiview.list_end_classes(names, np.array([-1.0, 2.0, 0.9, -0.6, -0.9])) == [
        "vehicles: airplane, truck, ship",
        "bird",
    ]
    assert multiview.list_end_classes(["1", "2", "3"], np.array([0.1, -1.0, 0.9])) == ["2", "3"]


def test_noisy_digits(tmp_path):
    require_data("mnist/train-images-idx3-ubyte.gz")
    name = "multiview-noisy-mnist"
    files = reproduce_study(name, tmp_path, quick=True)
    assert [path.name for path in files] == [
        f"{name}{end}" for end in (".csv", ".png", "-pairs.png", "-explore.html", ".md", ".json")
    ]
    rows = read_rows(files[0])
    held_out = np.array([float(row["held_out"]) for row in rows])
    assert len(held_out) == 40
    assert held_out[0] > 0.5
    assert np.abs(held_out[9:]).max() < 0.2  # ten classes share nine components
    assert held_out[:9].sum() > np.sum([float(row["cca_held_out"]) for row in rows][:9])
    check_record(tmp_path, name)
    text = files[-2].read_text(encoding="utf-8")
    assert f"({name}.png)" in text
    assert f"({name}-pairs.png)" in text
    assert f"({name}-explore.html)" in text
    page = data_of(tmp_path / f"{name}-explore.html")
    assert [cloud["n"] for cloud in page["clouds"]] == [1000, 1000]
    assert [cloud["sprites"]["width"] for cloud in page["clouds"]] == [28, 28]
    assert page["classes"]["names"] == [f"digit {digit}" for digit in range(10)]
    assert page["axes"][0]["held_out"] == pytest.approx(held_out[0], abs=1e-4)
    assert "2.2 | 97.5" in text
    assert "at most M - 1 components" in text
