"""CSV files as people write them, and what is said of those that cannot be read."""

import datetime

import narwhals as nw
import pytest

from correspondence.data.file_formats import read_frame, read_pairs

NUMBERS, LETTERS = [1, 2, 3, 4], ["x", "y", "x", "z"]


def columns(frame):
    return nw.from_native(frame).to_dict(as_series=False)


def rows(separator, end="\n"):
    return end.join(separator.join(map(str, row)) for row in [("a", "b"), *zip(NUMBERS, LETTERS, strict=True)]) + end


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_csv_of_any_separator(write, separator):
    data = read_pairs(write(rows(separator)), ["a"], ["b"])
    assert columns(data.X) == {"a": NUMBERS}
    assert columns(data.Y) == {"b": LETTERS}
    assert data.groups is None
    assert data.n_missing == 0


def test_tsv_with_commas_in_every_row(write):
    data = read_pairs(write("a\tb\n1\tx,y\n2\tz,w\n", "data.tsv"), ["a"], ["b"])
    assert columns(data.Y) == {"b": ["x,y", "z,w"]}


def test_types_are_those_of_the_whole_column(write):
    data = read_pairs(write("a,b\n" + "1,x\n" * 2000 + "1.5,y\n"), ["a"], ["b"])
    assert columns(data.X)["a"][-2:] == [1.0, 1.5]


@pytest.mark.parametrize("text", ["\ufeff" + rows(","), rows(",", "\r\n"), "\ufeff" + rows(";", "\r\n")])
def test_files_from_windows(write, text):
    data = read_pairs(write(text), ["a"], ["b"])
    assert columns(data.X) == {"a": NUMBERS}
    assert columns(data.Y) == {"b": LETTERS}


def test_quoted_separators(write):
    data = read_pairs(write('a,b\n1,"x,1"\n2,"y;2"\n3,"x ""q"""\n4,"a\nb"\n'), ["a"], ["b"])
    assert columns(data.X) == {"a": NUMBERS}
    assert columns(data.Y) == {"b": ["x,1", "y;2", 'x "q"', "a\nb"]}


def test_names_of_any_characters(write):
    data = read_pairs(write("Größe in m,$y$ \u65e5\u672c\n1,ж\n2,я\n"), ["Größe in m"], ["$y$ \u65e5\u672c"])
    assert columns(data.X) == {"Größe in m": [1, 2]}
    assert columns(data.Y) == {"$y$ \u65e5\u672c": ["ж", "я"]}


def test_a_column_more_than_once(write):
    """Libraries rename the second, or refuse."""
    with pytest.raises(ValueError, match=r"'a', so rename one\.$"):
        read_pairs(write("a,a,b\n1,2,x\n3,4,y\n"), ["a"], ["b"])


def test_rows_of_different_lengths(write):
    with pytest.raises(ValueError, match=r"cannot be read as \.csv: .*[^.]\.$"):
        read_pairs(write("a,b\n1,x,3\n2,y,4\n"), ["a"], ["b"])


@pytest.mark.parametrize("missing", ["NA", "NaN", "nan", "null"])
def test_words_for_a_missing_number(write, missing):
    data = read_pairs(write(f"a,b\n1.5,x\n{missing},y\n3.5,z\n"), ["a"], ["b"])
    assert columns(data.X) == {"a": [1.5, 3.5]}
    assert data.n_missing == 1


def test_blank_lines_are_no_rows(write):
    assert read_pairs(write(rows(",") + "\n\n"), ["a"], ["b"]).n_missing == 0


def test_decimal_commas(write):
    data = read_pairs(write("a;b\n1,5;x\n-2;y\n0,25;z\n"), ["a"], ["b"])
    assert columns(data.X) == {"a": [1.5, -2, 0.25]}


def test_the_first_column_may_have_no_name(write):
    frame = read_frame(write(",a\nx,1\ny,2\n"))
    assert frame.columns == ["", "a"]
    assert frame[""].to_list() == ["x", "y"]


def test_the_first_line_may_end_where_the_look_at_the_file_does(tmp_path):
    (tmp_path / "a.csv").write_bytes(f"a,{'b' * 4093}\r\n1,2\r\n3,4\r\n".encode())
    assert read_frame(tmp_path / "a.csv").shape == (2, 2)


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (["2020-01-02", "NA", "2021-12-31"], [datetime.date(2020, 1, 2), None, datetime.date(2021, 12, 31)]),
        (["2020-01-02 10:30:00"], [datetime.datetime(2020, 1, 2, 10, 30)]),
        (["10:30:00"], [datetime.time(10, 30)]),
        (["2020-01-02", "31-12-2021"], ["2020-01-02", "31-12-2021"]),
        (["2020-01-02"] * 200 + ["later"], ["2020-01-02"] * 200 + ["later"]),
        (["20200102T101010"], ["20200102T101010"]),
    ],
)
def test_dates(write, texts, values):
    assert read_frame(write("a,b\n" + "".join(f"{text},1\n" for text in texts)))["a"].to_list() == values


@pytest.mark.parametrize("name", ["d[1].csv", "d*.csv", "d?.csv"])
def test_the_name_of_a_file_is_no_pattern(write, name):
    write("a,b\n1,x\n", "d1.csv")
    assert read_frame(write("a,b\n5,x\n", name))["a"].to_list() == [5]


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        (b"1,low,3\n", "line 5002 has 3 cells"),
        (b"1,m\xefd\n", "UTF-8"),
        (b'1,"hi"gh\n', "a quote"),
        (b'1,"low\n2,high\n', "a quote"),
        (b"9" * 40 + b",low\n", "line 5002 .*too large"),
    ],
)
def test_what_is_wrong_far_below(write, end, reason):
    with pytest.raises(ValueError, match=reason):
        read_frame(write(b"a,b\n" + b"1,low\n" * 5000 + end))


def test_an_index_that_pandas_wrote_twice_has_no_name(write):
    assert read_frame(write("Unnamed: 0,x\n0,1.5\n1,2.5\n")).columns == ["", "x"]


def test_decimal_commas_may_be_padded(write):
    assert read_frame(write("a;b\n 1,5;x\n2,5 ;y\n"))["a"].to_list() == [1.5, 2.5]
