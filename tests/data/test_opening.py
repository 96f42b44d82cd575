"""Files of pairs: which they are, and what is wrong with them."""

import pytest

import correspondence as co

pytest.importorskip("duckdb")


def test_no_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="no file"):
        co.Pairs(tmp_path / "*.parquet", x="a", y="b")


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_numbered_column_that_only_one_of_the_files_has(tmp_path, order):
    (tmp_path / "0.csv").write_text("a,b\n1,u\n2,v\n")
    (tmp_path / "1.csv").write_text("a,b,a_1\n1,u,3\n2,v,4\n")
    assert co.count_pairs([str(tmp_path / f"{i}.csv") for i in order], "a", "b").total == 4


def test_a_name_that_two_columns_of_one_of_the_files_have(tmp_path):
    (tmp_path / "0.csv").write_text("a,b\n1,u\n2,v\n")
    (tmp_path / "1.csv").write_text("a,b,a\n1,u,3\n2,v,4\n")
    with pytest.raises(ValueError, match="two columns of one of the 2 files"):
        co.count_pairs(str(tmp_path / "*.csv"), "a", "b")


def test_paths_are_taken_as_they_are(tmp_path):
    for name in ("a[1].csv", "a1.csv", "b*.csv", "bb.csv"):
        (tmp_path / name).write_text(f"x,y\n{name},u\n")
    assert co.count_pairs(tmp_path / "a[1].csv", "x", "y").rows.tolist() == ["a[1].csv"]
    assert co.count_pairs([tmp_path / "b*.csv"], "x", "y").rows.tolist() == ["b*.csv"]
    assert co.count_pairs(str(tmp_path / "*.csv"), "x", "y").total == 4
    with pytest.raises(FileNotFoundError, match=r"no file .*c.csv"):
        co.count_pairs([tmp_path / "bb.csv", tmp_path / "c.csv"], "x", "y")
