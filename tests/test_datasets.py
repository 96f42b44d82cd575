import os
from pathlib import Path

import pytest

import correspondence as co


def test_small_tables():
    shapes = [load().shape for load in (co.datasets.load_smoke, co.datasets.load_housetasks, co.datasets.load_hair_eye)]
    assert shapes == [(5, 4), (13, 4), (4, 4)]


@pytest.mark.skipif(
    not Path(os.environ.get("CORRESPONDENCE_DATA", "nowhere"), "scale/20news-bydate.tar.xz").is_file(),
    reason="CORRESPONDENCE_DATA does not hold scale/20news-bydate.tar.xz",
)
def test_newsgroups():
    table = co.datasets.fetch_newsgroups()
    assert table.shape == (18846, 173762)
    assert table.counts.nnz == 2952534
    assert table.total == 5467226


def test_newsgroups_come_from_scikit_learn_without_a_data_folder(monkeypatch):
    from types import SimpleNamespace

    posts = SimpleNamespace(filenames=["a/1", "b/2"], data=["hello world", "hello again"])
    monkeypatch.delenv("CORRESPONDENCE_DATA", raising=False)
    monkeypatch.setattr("sklearn.datasets.fetch_20newsgroups", lambda **kwargs: posts)
    table = co.datasets.fetch_newsgroups()
    assert table.rows.tolist() == ["a/1", "b/2"]
    assert table.columns.tolist() == ["again", "hello", "world"]
