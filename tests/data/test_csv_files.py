"""CSV files as people write them, and what is said of those that cannot be read."""

import bz2
import datetime
import gzip
import lzma
import os
import zipfile

import narwhals as nw
import numpy as np
import polars as pl
import pytest

from correspondence.data.file_formats import column_names, read_file, read_frame
from correspondence.data.text_columns import Readings

NUMBERS, LETTERS = [1, 2, 3, 4], ["x", "y", "x", "z"]


def columns(frame):
    return nw.from_native(frame).to_dict(as_series=False)


def rows(separator, end="\n"):
    return end.join(separator.join(map(str, row)) for row in [("a", "b"), *zip(NUMBERS, LETTERS, strict=True)]) + end


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_csv_of_any_separator(write, separator):
    assert columns(read_frame(write(rows(separator)))) == {"a": NUMBERS, "b": LETTERS}


def test_tsv_with_commas_in_every_row(write):
    assert columns(read_frame(write("a\tb\n1\tx,y\n2\tz,w\n", "data.tsv"))) == {"a": [1, 2], "b": ["x,y", "z,w"]}


def test_types_are_those_of_the_whole_column(write):
    assert columns(read_frame(write("a,b\n" + "1,x\n" * 2000 + "1.5,y\n")))["a"][-2:] == [1.0, 1.5]


@pytest.mark.parametrize("text", ["\ufeff" + rows(","), rows(",", "\r\n"), "\ufeff" + rows(";", "\r\n")])
def test_files_from_windows(write, text):
    assert columns(read_frame(write(text))) == {"a": NUMBERS, "b": LETTERS}


def test_quoted_separators(write):
    frame = read_frame(write('a,b\n1,"x,1"\n2,"y;2"\n3,"x ""q"""\n4,"a\nb"\n'))
    assert columns(frame) == {"a": NUMBERS, "b": ["x,1", "y;2", 'x "q"', "a\nb"]}


def test_names_of_any_characters(write):
    frame = read_frame(write("Größe in m,$y$ \u65e5\u672c\n1,ж\n2,я\n"))
    assert columns(frame) == {"Größe in m": [1, 2], "$y$ \u65e5\u672c": ["ж", "я"]}


def test_a_column_more_than_once(write):
    """Libraries rename the second, or refuse."""
    with pytest.raises(ValueError, match=r"'a', so rename one\.$"):
        read_frame(write("a,a,b\n1,2,x\n3,4,y\n"))


def test_rows_of_different_lengths(write):
    with pytest.raises(ValueError, match=r"cannot be read as \.csv: .*[^.]\.$"):
        read_frame(write("a,b\n1,x,3\n2,y,4\n"))


@pytest.mark.parametrize("missing", ["NA", "NaN", "nan", "null"])
def test_words_for_a_missing_number(write, missing):
    assert columns(read_frame(write(f"a,b\n1.5,x\n{missing},y\n3.5,z\n")))["a"] == [1.5, None, 3.5]


def test_blank_lines_are_no_rows(write):
    assert columns(read_frame(write(rows(",") + "\n\n"))) == {"a": NUMBERS, "b": LETTERS}


def test_decimal_commas(write):
    assert columns(read_frame(write("a;b\n1,5;x\n-2;y\n0,25;z\n")))["a"] == [1.5, -2, 0.25]


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
        (b"1,m\x8dd\n", "UTF-8"),
        (b'1,"hi"gh\n', "a quote"),
        (b'1,"low\n2,high\n', "a quote"),
    ],
)
def test_what_is_wrong_far_below(write, end, reason):
    with pytest.raises(ValueError, match=reason):
        read_frame(write(b"a,b\n" + b"1,low\n" * 5000 + end))


def test_an_index_that_pandas_wrote_twice_has_no_name(write):
    assert read_frame(write("Unnamed: 0,x\n0,1.5\n1,2.5\n")).columns == ["", "x"]


def test_decimal_commas_may_be_padded(write):
    assert read_frame(write("a;b\n 1,5;x\n2,5 ;y\n"))["a"].to_list() == [1.5, 2.5]


# --- numbers as people write them


@pytest.mark.parametrize("separator", ["\t", ";", "|", ","])
def test_thousands_are_not_decimals(write, rng, separator):
    income = np.exp(rng.normal(7.5, 1, 400)).astype(int)
    quote = '"' if separator == "," else ""
    lines = [f"{quote}{i:,}{quote}{separator}{i / 3:.1f}\n" for i in income]
    file = read_file(write(f"income{separator}spent\n" + "".join(lines), "d.tsv" if separator == "\t" else "d.csv"))
    assert file.frame["income"].to_list() == income.tolist()
    (note,) = file.list_notes(["income"])
    assert "--decimal comma" in note
    assert file.list_notes(["spent"]) == []


def test_other_columns_decide_between_two_readings(write):
    text = "a;b;c\n1.234;0,5;1,234\n999;1,5;5678\n"
    file = read_file(write(text))
    assert file.frame.rows() == [(1234, 0.5, 1.234), (999, 1.5, 5678)]
    assert file.readings.decimal == "comma"
    point = read_file(write("a;b\n1,234;0.5\n999;1.5\n"))
    assert point.frame.rows() == [(1234, 0.5), (999, 1.5)]


def test_the_user_decides_between_two_readings(write):
    path = write("a;b\n1,234;x\n999;y\n")
    assert read_file(path, Readings(decimal="comma")).frame["a"].to_list() == [1.234, 999]
    assert "may be" not in "".join(read_file(path, Readings(decimal="comma")).list_notes())


def test_codes_with_leading_zeros_are_labels(write):
    frame = read_frame(write("a,zip\n1,01234\n2,1234\n3,20001\n"))
    assert frame["zip"].to_list() == ["01234", "1234", "20001"]


def test_one_marker_of_a_missing_value(write):
    file = read_file(write("a,b\n" + "1.5,2\n" * 300 + "?,1\n"))
    assert file.frame["a"].to_list() == [1.5] * 300 + [None]
    (note,) = file.list_notes()
    assert "'?'" in note


def test_huge_whole_numbers(write):
    assert read_frame(write("a,b\n1,x\n" + "9" * 40 + ",y\n"))["a"].to_list() == [1, 1e40]


def test_many_remarks_are_cut_short(write):
    names = ";".join(f"c{i}" for i in range(30))
    file = read_file(write(f"{names}\n" + ";".join(["1,5"] * 30) + "\n"))
    assert len(file.list_notes()) < 12
    assert "more" in file.list_notes()[-1]


# --- dates


@pytest.mark.parametrize(
    ("texts", "first"),
    [
        (["12/31/2020", "01/02/2020"], datetime.date(2020, 12, 31)),
        (["31/12/2020", "01/02/2020"], datetime.date(2020, 12, 31)),
        (["31.12.2020", "1.2.2020"], datetime.date(2020, 12, 31)),
        (["2020/12/31", "2020/01/02"], datetime.date(2020, 12, 31)),
        (["2020-12-31T10:30:00", "2020-01-02T00:00:00.5"], datetime.datetime(2020, 12, 31, 10, 30)),
        (["31/12/2020 10:30", "01/02/2020 00:00"], datetime.datetime(2020, 12, 31, 10, 30)),
        (["10:30", "23:59"], datetime.time(10, 30)),
    ],
)
def test_formats_of_dates(write, texts, first):
    file = read_file(write("a,b\n" + "".join(f"{text},1\n" for text in texts)))
    assert file.frame["a"][0] == first
    assert file.list_notes() == []


def test_dates_with_zones(write):
    values = read_frame(write("a,b\n2020-01-02T10:00:00Z,1\n2020-01-02T10:00:00+02:00,2\n"))["a"].to_list()
    assert [value.hour for value in values] == [10, 10]


def test_a_late_date_decides_on_days_and_months(write):
    early = "".join(f"01/{day:02}/2020,1\n" for day in range(1, 13)) * 20
    assert read_frame(write(f"a,b\n{early}01/25/2020,1\n"))["a"][0] == datetime.date(2020, 1, 1)
    assert read_frame(write(f"a,b\n{early}01/25/2020,1\n"))["a"][1] == datetime.date(2020, 1, 2)
    assert read_frame(write(f"a,b\n{early}25/01/2020,1\n"))["a"][1] == datetime.date(2020, 2, 1)
    assert read_frame(write(f"a,b\n{early}13/13/2020,1\n"))["a"][1] == "01/02/2020"


def test_dates_with_two_readings_are_told(write):
    path = write("a,b\n03/03/2020,1\n01/02/2020,1\n03/04/2020,2\n")
    assert read_file(path).frame["a"][1] == datetime.date(2020, 1, 2)
    (note,) = read_file(path).list_notes()
    assert "'01/02/2020' is read as 2020-01-02" in note
    assert "--dates day-first" in note
    other = read_file(path, Readings(dates="day-first"))
    assert other.frame["a"][1] == datetime.date(2020, 2, 1)
    assert other.list_notes() == []
    proven = read_file(write("a,b\n01/02/2020,31/12/2020\n03/04/2020,01/01/2020\n"))
    assert proven.frame["a"][0] == datetime.date(2020, 2, 1)


def test_dates_with_a_marker(write):
    file = read_file(write("a,b\n2020-01-02,1\n-,2\n"))
    assert file.frame["a"].to_list() == [datetime.date(2020, 1, 2), None]
    assert "'-'" in file.list_notes()[0]


def test_truth(write):
    assert read_frame(write("a,b\ntrue,1\nFALSE,2\n,3\n"))["a"].to_list() == [True, False, None]


# --- encodings


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_utf_16(write, encoding):
    mark = "" if encoding in ("utf-16", "utf-32") else "\ufeff"
    file = read_file(write((mark + "a;name\n1;Müller\n2;日本\n").encode(encoding)))
    assert file.frame["name"].to_list() == ["Müller", "日本"]
    assert encoding[:6].upper() in file.list_notes()[0]


def test_windows_1252(write):
    file = read_file(write("größe;preis\nMüller\u2019s;5 €\ncréée;6 €\n".encode("cp1252")))
    assert file.frame.rows() == [("Müller\u2019s", 5), ("créée", 6)]
    assert "Windows-1252" in file.list_notes()[0]


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("\u0438\u043c\u044f;b\n\u0418\u0432\u0430\u043d;1\n", "cp1251"),
        ("a,b\nMałgorzata,1\n", "iso8859-2"),
        ("名,b\n日本,1\n", "sjis"),
    ],
)
def test_encodings_that_cannot_be_told(write, text, encoding):
    with pytest.raises(ValueError, match="UTF-8"):
        read_frame(write(text.encode(encoding)))


# --- lines


def test_separators_at_the_ends_of_lines(write):
    for text in ("a,b,\n1,x,\n2,y,\n", "a,b\n1,x,\n2,y,\n"):
        assert read_frame(write(text)).rows() == [(1, "x"), (2, "y")]


def test_cells_separated_by_spaces(write):
    file = read_file(write('"a" "b c"\n1.5   x\n  2 "y z"\n'))
    assert file.frame.columns == ["a", "b c"]
    assert file.frame.rows() == [(1.5, "x"), (2, "y z")]
    assert "spaces" in file.list_notes()[0]
    for text in ("text\none two\nthree four\n", "my text\none two\nthree\nfour five six\n"):
        assert read_frame(write(text)).shape[1] == 1


@pytest.mark.parametrize("separator", [",", "\t", " "])
def test_rows_with_names_as_r_writes_them(write, separator):
    file = read_file(write('"a" "b"\n"u" 1 2\n"v" 3 4\n'.replace(" ", separator)))
    assert file.frame.columns == ["", "a", "b"]
    assert file.frame.rows() == [("u", 1, 2), ("v", 3, 4)]
    assert "names the rows" in file.list_notes()[-1]


def test_values_without_a_name(write):
    with pytest.raises(ValueError, match=r"column 3 .*name"):
        read_frame(write("a,b,\n1,x,5\n2,y,6\n"))


@pytest.mark.parametrize(
    "above", ["# a comment", "Sales of 2020", "# made by, me", "Sales of 2020\n", "\n", "Sales,,", ",,\nBy shop,,\n"]
)
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_lines_above_the_names_are_recognised_and_told(write, above, separator):
    text = f"{above}\na,b,c\n1,x,2\n2,y,3\n".replace(",", separator)
    path = write(text)
    file = read_file(path)
    assert file.frame.to_dict(as_series=False) == {"a": [1, 2], "b": ["x", "y"], "c": [2, 3]}
    assert sum("names of the columns" in note for note in file.list_notes()) == 1
    assert column_names(path) == ["a", "b", "c"]


@pytest.mark.parametrize("text", ["text\nhello, world\nfoo, bar\n", "Sales, 2020\na,b,c\n1,x,2\n", "a\n1,x\n2,y\n"])
def test_lines_above_the_names_that_may_be_something_else(write, text):
    with pytest.raises(ValueError, match="first line"):
        read_frame(write(text))


def test_first_lines_that_are_names(write):
    for text in (",a\nx,1\ny,2\n", "a,b\n1,\n2,\n", "a\n1\n2\n", "count\n\n1\n2\n"):
        assert not any("part of the table" in note for note in read_file(write(text)).list_notes())


def test_quoted_names(write):
    frame = read_frame(write('"a, b","c ""d"""\n1,x\n2,y\n'))
    assert frame.columns == ["a, b", 'c "d"']


def test_a_file_without_names(write):
    file = read_file(write("1.5,2\n3,4\n5,6\n"))
    assert "names" in file.list_notes()[0]


@pytest.mark.parametrize("ending", ["gz", "bz2", "xz", "zip", "zst"])
@pytest.mark.parametrize("kind", ["csv", "tsv"])
def test_packed(tmp_path, ending, kind):
    separator = "\t" if kind == "tsv" else ";"
    text = f"a{separator}b\n1,5{separator}x y\n2{separator}é\n".encode()
    path = tmp_path / f"d.{kind}.{ending}"
    if ending == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(f"d.{kind}", text)
    elif ending == "zst":
        pa = pytest.importorskip("pyarrow")
        path.write_bytes(pa.compress(text, codec="zstd", asbytes=True))
    else:
        path.write_bytes({"gz": gzip, "bz2": bz2, "xz": lzma}[ending].compress(text))
    assert read_frame(path).rows() == [(1.5, "x y"), (2, "é")]
    assert column_names(path) == ["a", "b"]
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(ValueError, match=rf"cannot be read as \.{kind}\.{ending}"):
        read_frame(path)


def test_an_archive_of_two_files(tmp_path):
    with zipfile.ZipFile(tmp_path / "d.csv.zip", "w") as archive:
        archive.writestr("a.csv", "a\n1\n")
        archive.writestr("b.csv", "a\n1\n")
    with pytest.raises(ValueError, match="2 files"):
        read_frame(tmp_path / "d.csv.zip")


def test_a_name_that_is_not_text(tmp_path):
    path = tmp_path / os.fsdecode(b"t\xff.csv")
    path.write_bytes(b"a,b\n1,x\n")
    assert read_frame(path).rows() == [(1, "x")]
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "t.parquet")
    path = (tmp_path / "t.parquet").rename(tmp_path / os.fsdecode(b"t\xff.parquet"))
    assert read_frame(path).rows() == [(1,)]


@pytest.mark.parametrize("header", ["'a'\t'b'", '"""a"""\t"""b"""'])
def test_quotes_around_all_names_are_left_out(write, header):
    path = write(f"{header}\n1\tx\n2\ty\n", "file.tsv")
    assert list(columns(read_frame(path))) == column_names(path) == ["a", "b"]


def test_quotes_in_some_names_stay(write):
    assert list(columns(read_frame(write("'a',b\n1,x\n2,y\n")))) == ["'a'", "b"]
