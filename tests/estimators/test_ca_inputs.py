"""What `CA.fit` reads: sources of pairs, and how often they are opened."""

import polars as pl
import pytest

import correspondence as co
from correspondence.data.pairs import opening

FRAME = pl.DataFrame({"drink": ["tea", "tea", "beer", "beer"], "time": ["am", "am", "pm", "am"], "n": [1, 2, 3, 1]})


@pytest.fixture
def openings(monkeypatch):
    """Files of each opening."""
    opened, open_files = [], opening.open_files

    def open_and_note(source, name):
        opened.append(source)
        return open_files(source, name)

    monkeypatch.setattr(opening, "open_files", open_and_note)
    return opened


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("weights", [None, "n"])
def test_pairs_in_files_are_opened_once(ending, weights, tmp_path, openings):
    path = tmp_path / f"pairs.{ending}"
    getattr(FRAME, f"write_{ending}")(path)
    ca = co.CA().fit(co.Pairs(str(path), x="drink", y="time", weights=weights))
    assert openings == [str(path)]
    expected = co.CA().fit(co.count_pairs(FRAME, "drink", "time", weights))
    assert ca.pics_.tolist() == expected.pics_.tolist()


def test_a_file_of_two_columns_is_opened_once(tmp_path, openings):
    path = tmp_path / "pairs.csv"
    FRAME.select("drink", "time").write_csv(path)
    ca = co.CA().fit(path)
    assert len(openings) == 1
    ca.evaluate(path)
    assert len(openings) == 2
    assert ca.pics_.tolist() == co.CA().fit(FRAME["drink"], FRAME["time"]).pics_.tolist()


def test_pairs_can_be_counted_again_and_again_while_they_are_read(tmp_path, openings):
    path = tmp_path / "pairs.csv"
    FRAME.write_csv(path)
    pairs = co.Pairs(str(path), x="drink", y="time")
    fits = [co.CA().fit(pairs).pics_.tolist() for _ in pairs] + [co.CA().fit(pairs).pics_.tolist()]
    assert fits[0] == fits[-1]
    assert len(openings) == 2  # by `Pairs`, and by the loop


def test_pairs_in_memory_keep_the_order_of_their_categories():
    frame = FRAME.with_columns(pl.col("drink").cast(pl.Enum(["tea", "beer"])))
    assert co.CA().fit(co.Pairs(frame, x="drink", y="time")).rows_.labels.tolist() == ["tea", "beer"]
