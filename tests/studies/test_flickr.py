"""Photographs and captions: terms, nets, rankings, and a quick run of the study."""

import numpy as np
import pytest
from pages import data_of
from records import check_record, read_rows, require_data

import correspondence as co
from correspondence.studies import flickr_runs
from correspondence.studies.reproducing import reproduce_study

torch = pytest.importorskip("torch")
captions = pytest.importorskip("correspondence.studies.captions")


def test_terms():
    some = [["Two dogs run .", "A dog in shorts"], ["the Dog's shorts, a short man", "shorts"] + ["shorts"] * 2]
    terms = captions.Terms(4).fit(some)
    assert terms.names_[:2] == ["shorts", "dog"]  # "short" is rare beside "shorts", "dog" is not beside "dogs"
    assert len(terms.names_) == 4
    counts = terms.transform([["dog dogs", "DOGS and shorts"], ["nothing known"]])
    assert counts[:, :2].tolist() == [[1, 2], [0, 0]]  # captions that have the term, not mentions
    assert counts.shape == (2, 4)


def test_precision_by_hand(monkeypatch):
    for name, value in (("TAGS_PER_IMAGE", 1), ("IMAGES_PER_TAG", 1), ("N_COMMON_TAGS", 2)):
        monkeypatch.setattr(flickr_runs, name, value)
    kind = np.repeat([0, 1, 2], [60, 30, 10])
    X = np.eye(3)[kind]
    cca = co.CCA(n_components=2).fit(X, X)
    index = co.CrossModalIndex.of_tags(cca, ["a", "b", "c"], X, X, None, X[[0, 60, 90]])
    has = np.array([[True, False, False], [False, False, True], [False, False, True]])
    assert flickr_runs.measure_tag_precision(index, X[[0, 60, 90]], has) == pytest.approx(2 / 3)  # finds a, b, c
    assert (
        flickr_runs.measure_image_precision(index, has) == 0.5
    )  # of a the first photograph, of b the second, which has c


def test_colours_and_edges_by_hand():
    photo = torch.zeros(1, 3, 64, 64)
    photo[0, 0, :32, 32:] = 255  # the quarter above to the right is red
    features = captions.compute_colours_and_edges(photo)[0]
    assert len(features) == captions.N_FEATURES
    colours = features[: flickr_runs.N_COLOUR_COLUMNS].reshape(64, 2, 2)
    assert colours[0].tolist() == [[1, 0], [1, 1]]
    assert colours[48].tolist() == [[0, 1], [0, 0]]
    sixteenths = features[flickr_runs.N_COLOUR_COLUMNS :][: 16 * 27].reshape(27, 4, 4)
    assert sixteenths[18].sum() == 4
    whole, cells = features[-2 * 36 * 9 :].reshape(2, 9, 6, 6)
    assert {int(i) for i in whole.sum((1, 2)).nonzero()} >= {0, 4}  # across the left border of red, down the lower
    assert cells[:, 0, 0].sum() == 0
    assert cells[:, 1, 3].argmax() == 0
    assert cells[:, 3, 4].argmax() == 4


def test_photos_vary_in_training_only():
    torch.manual_seed(0)
    net = captions.PhotoNet(5, width=4)
    photos = torch.randint(256, (3, 3, 64, 64)).float()
    assert not torch.equal(net._vary_photos(photos), net._vary_photos(photos))
    assert net._vary_photos(photos).shape == (3, 3, 48, 48)
    net.eval()
    outputs = net(photos)
    assert outputs.shape == (3, 5)
    assert torch.equal(outputs, net(photos))
    assert torch.allclose(outputs, net(photos.flip(3)), atol=1e-3)  # rounding may change a colour


def test_captions_are_thinned_in_training_only():
    counts = np.random.default_rng(0).integers(0, 6, (50, 8)).astype(np.float32)
    counts[:, 0] = 2  # a constant term divides by no zero
    torch.manual_seed(0)
    net = captions.CaptionNet(counts, 3)
    rows = torch.from_numpy(counts)
    assert not torch.equal(net(rows), net(rows))
    assert torch.isfinite(net(rows)).all()
    assert torch.equal(net.eval()(rows), net(rows))


@pytest.mark.slow
def test_a_quick_run(tmp_path, monkeypatch):
    require_data("flickr8k/images64.zip")
    monkeypatch.setattr(flickr_runs, "N_COMPONENTS", 12)
    files = reproduce_study("flickr", tmp_path, quick=True)
    assert [path.name for path in files] == [
        f"flickr{end}" for end in (".csv", ".png", "-tags.png", "-images.png", "-explore.html", ".md", ".json")
    ]
    rows = {row["method"]: row for row in read_rows(files[0])}
    linear = ["CCA, pixels", "CCA, colours", "CCA, colours and edges"]
    assert list(rows) == ["PICE", *linear, "always the commonest tags", "chance"]
    chance, popular = rows["chance"], rows["always the commonest tags"]
    assert float(rows["CCA, colours"]["precision_of_images"]) > float(chance["precision_of_images"])
    assert float(popular["precision_of_tags"]) > 5 * float(chance["precision_of_tags"])
    for method in ("PICE", "CCA, pixels"):
        assert float(rows[method]["precision_of_tags"]) > float(rows[method]["precision_of_tags_without_prior"])
    check_record(tmp_path, "flickr")
    text = files[-2].read_text(encoding="utf-8")
    for path in files[1:-2]:
        assert f"({path.name})" in text
    assert "0.317 | 0.201 | 0.095" in text
    assert "quick run" in text
    photos, tags = (page := data_of(files[-3]))["clouds"]
    assert (photos["n"], tags["n"]) == (flickr_runs.QUICK_PHOTOS, flickr_runs.N_TERMS)
    assert photos["sprites"]["kind"] == "jpeg"
    assert "dog" in tags["labels"]
    assert page["by"] == "posterior"
    assert len(photos["labels"][0]) > 10  # a caption


def test_without_the_data(tmp_path, monkeypatch):
    monkeypatch.delenv("CORRESPONDENCE_DATA", raising=False)
    with pytest.raises(co.datasets.MissingDataError, match="CORRESPONDENCE_DATA"):
        reproduce_study("flickr", tmp_path / "new", quick=True)
    assert not list(tmp_path.iterdir())
