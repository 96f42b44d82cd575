"""Spreadsheets, files of statistics programs and ARFF, and what is said of those that cannot be read."""

import datetime
import sys

import numpy as np
import polars as pl
import pytest

from correspondence.data.file_formats import column_names, read_file, read_frame

# --- spreadsheets


@pytest.fixture
def workbook(tmp_path):
    """A function that writes sheets, each a list of rows, to a file."""
    xlsxwriter = pytest.importorskip("xlsxwriter")
    pytest.importorskip("fastexcel")

    def to_file(**sheets):
        with xlsxwriter.Workbook(tmp_path / "d.xlsx") as book:
            for name, rows in sheets.items():
                sheet = book.add_worksheet(name)
                for i, row in enumerate(rows):
                    sheet.write_row(i, 0, row)
        return tmp_path / "d.xlsx"

    return to_file


def test_a_spreadsheet(workbook):
    path = workbook(Data=[["a", "zip", "n", "p"], [1.5, "01234", 3, "$1,200"], [2, "1234", "?", "$5"]])
    file = read_file(path)
    assert file.frame.rows() == [(1.5, "01234", 3, 1200), (2, "1234", None, 5)]
    assert column_names(path) == ["a", "zip", "n", "p"]
    assert [note.partition(":")[0] for note in file.list_notes()] == ["n", "p"]


def test_dates_of_a_spreadsheet(tmp_path):
    pytest.importorskip("fastexcel")
    pl.DataFrame({"day": [datetime.date(2020, 1, 2)], "is": [True]}).write_excel(tmp_path / "d.xlsx")
    assert read_frame(tmp_path / "d.xlsx").rows() == [(datetime.date(2020, 1, 2), True)]


def test_the_type_of_a_column_follows_from_all_rows(workbook):
    path = workbook(Data=[["a", "b"], *[[i, 1] for i in range(2000)], ["x", 0.5]])
    frame = read_frame(path)
    assert frame["a"].to_list()[-2:] == ["1999", "x"]
    assert frame["b"][-1] == 0.5


def test_other_sheets_are_told(workbook):
    file = read_file(workbook(Empty=[], One=[["a"], [1], [2]], Two=[["b"], [3]]))
    assert file.frame.rows() == [(1,), (2,)]
    (note,) = file.list_notes()
    assert "'One'" in note
    assert "Two" in note


def test_names_of_a_spreadsheet(workbook):
    with pytest.raises(ValueError, match="'a'"):
        read_frame(workbook(Data=[["a", "a"], [1, 2]]))
    assert read_frame(workbook(Data=[[None, "a"], ["x", 1], ["y", 2]])).columns == ["", "a"]


@pytest.mark.parametrize(
    "above", [[["Sales of 2020"]], [["Sales"], []], [[], []], [["Sales"], ["in euros"], []], [[], ["Sales"], []]]
)
def test_rows_above_the_names_are_recognised_and_told(workbook, above):
    path = workbook(Data=[*above, ["year", "shop", "sales"], [2020, "a", 1.5], [2021, "b", 2]])
    file = read_file(path)
    assert file.frame.to_dict(as_series=False) == {"year": [2020, 2021], "shop": ["a", "b"], "sales": [1.5, 2]}
    assert column_names(path) == ["year", "shop", "sales"]
    (note,) = file.list_notes()
    assert note.startswith(f"Row {len(above) + 1} ")


def test_a_title_of_two_cells_is_refused(workbook):
    rows = [["Sales", None, "2020"], [], ["year", "shop", "sales"], [2020, "a", 1], [2021, "b", 2]]
    with pytest.raises(ValueError, match=r"column 2 .*first row"):
        read_frame(workbook(Data=rows))


@pytest.mark.parametrize(("name", "module"), [("d.xlsx", "fastexcel"), ("d.sav", "pyreadstat")])
def test_a_missing_extra_is_named(write, monkeypatch, name, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf"{module}: pip install .*\["):
        read_frame(write(b"x", name))


@pytest.mark.parametrize(
    "name", ["d.xlsx", "d.xls", "d.ods", "d.sav", "d.dta", "d.por", "d.sas7bdat", "d.json", "d.arff"]
)
def test_something_else(write, name):
    with pytest.raises(ValueError, match=rf"d{name[1:]} cannot be read as {name[1:]}: .*[^.]\.$"):
        read_frame(write(b"a,b\n1,2\n", name))


# --- statistics programs


@pytest.mark.parametrize("ending", ["sav", "zsav", "dta"])
def test_values_with_labels_are_labels(tmp_path, ending):
    pyreadstat, pd = pytest.importorskip("pyreadstat"), pytest.importorskip("pandas")
    data = pd.DataFrame(
        {
            "sex": [1.0, 2.0, 1.0, np.nan],
            "income": [1.5, 5.0, 99.0, 3.0],
            "town": ["x", "", "z", "w"],
            "day": pd.to_datetime(["2020-01-02"] * 4),
            "size": [1.0, 2.0, 3.0, 4.0],
        }
    )
    path = tmp_path / f"d.{ending}"
    labels = {"sex": {1: "male", 2: "female"}} | ({} if ending == "dta" else {"income": {99: "unknown"}})
    options = {"compress": True} if ending == "zsav" else {}
    write = pyreadstat.write_dta if ending == "dta" else pyreadstat.write_sav
    write(data, str(path), variable_value_labels=labels, **options)
    file = read_file(path)
    assert file.frame["sex"].to_list() == ["male", "female", "male", None]
    assert file.frame["income"].to_list() == [1.5, 5, 99, 3]
    assert file.frame["town"].to_list() == ["x", None, "z", "w"]
    assert file.frame["size"].to_list() == [1, 2, 3, 4]
    assert file.frame["size"].dtype.is_integer()
    assert file.frame["day"].dtype.is_temporal()
    notes = file.list_notes()
    assert len(notes) == (ending != "dta")
    assert all("99" in note and "unknown" in note for note in notes)


# --- ARFF

ARFF = """% a comment
@RELATION iris

@attribute 'petal length' NUMERIC
@attribute size{small, 'very large'}
@attribute note string
@attribute day date "yyyy-MM-dd"
@data
1.5, small, "a, b", 2020-01-02
?,'very large', ?, 2020-01-03
% another
2,?,'it\\'s',?
"""


def test_arff(write):
    file = read_file(write(ARFF, "d.arff"))
    assert file.frame.columns == ["petal length", "size", "note", "day"]
    day = datetime.date(2020, 1, 2)
    assert file.frame.rows() == [
        (1.5, "small", "a, b", day),
        (None, "very large", None, day.replace(day=3)),
        (2.0, None, "it's", None),
    ]
    assert file.list_notes() == []


def test_sparse_arff(write):
    head = "@relation r\n@attribute a integer\n@attribute b {u, 'v w'}\n@attribute c real\n@data\n"
    text = head + "{0 3, 1 'v w'}\n{2 ?}\n{ }\n"
    assert read_frame(write(text, "d.arff")).rows() == [(3, "v w", 0), (0, "u", None), (0, "u", 0)]


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ("1,u\n1,u,3\n", "line 6 has 3 values for 2"),
        ("x,u\n", "'a' is numeric"),
        ("1,'u\n", "line 5 .*quote"),
        ("{7 1}\n", "no attribute 7"),
    ],
)
def test_arff_that_is_damaged(write, rows, reason):
    with pytest.raises(ValueError, match=reason):
        read_frame(write(f"@relation r\n@attribute a numeric\n@attribute b {{u,v}}\n@data\n{rows}", "d.arff"))


@pytest.mark.parametrize(
    ("head", "reason"),
    [
        ("@attribute a numeric\n", "no line @data"),
        ("@attribute a numeric\n@attribute a numeric\n@data\n", "'a'"),
        ("@attribute a relational\n@data\n", "type relational"),
        ("a,b\n", "line 1"),
    ],
)
def test_heads_of_arff_that_are_damaged(write, head, reason):
    with pytest.raises(ValueError, match=reason):
        read_frame(write(head, "d.arff"))


# --- JSON


def test_json(write):
    path = write('[{"a": 1, "b": "x"}, {"b": "y", "c": 2.5}]', "d.json")
    assert read_frame(path).rows() == [(1, "x", None), (None, "y", 2.5)]
    assert column_names(path) == ["a", "b", "c"]


@pytest.mark.parametrize("name", ["d.json", "d.jsonl"])
def test_numbers_among_texts_become_texts(write, name):
    rows = ['{"title": "Up", "n": 1}', '{"title": 300, "n": 2.5}', '{"title": null, "n": 3}']
    file = read_file(write(f"[{', '.join(rows)}]" if name == "d.json" else "\n".join(rows), name))
    assert file.frame.rows() == [("Up", 1), ("300", 2.5), (None, 3)]
    (note,) = file.list_notes()
    assert "title" in note
    assert "300" in note


def test_lists_in_json_are_not_told(write):
    file = read_file(write('[{"a": ["u", "v"]}, {"a": []}]', "d.json"))
    assert file.frame.rows() == [("u, v",), ("",)]
    assert file.list_notes() == []


@pytest.mark.parametrize("text", ['{"a": 1}', "[]", "[1, 2]", "[{"])
def test_json_that_is_no_table(write, text):
    with pytest.raises(ValueError, match=r"cannot be read as \.json"):
        read_frame(write(text, "d.json"))


# --- damaged Parquet files


@pytest.mark.slow
def test_a_flipped_bit_of_a_parquet_file_is_one_sentence_or_read(tmp_path, rng, capfd):
    """Polars panics on some of these, with an error that is not an Exception."""
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"a": rng.normal(size=200), "b": rng.normal(size=200)}), tmp_path / "p.parquet")
    data = (tmp_path / "p.parquet").read_bytes()
    reasons = set()
    for at in range(len(data) - 1200, len(data) - 4):
        changed = bytearray(data)
        changed[at] ^= 1 << (at % 8)
        (tmp_path / "q.parquet").write_bytes(changed)
        try:
            read_frame(tmp_path / "q.parquet")
        except ValueError as error:
            reasons.add(str(error).partition(": ")[2])
    capfd.readouterr()  # what Rust says of its panics
    assert reasons
    assert all(reason.endswith(".") and "\n" not in reason for reason in reasons)


def test_a_panic_of_polars_is_one_sentence(tmp_path, monkeypatch):
    def panic(*arguments, **options):
        raise pl.exceptions.PanicException("assertion failed")

    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "p.parquet")
    monkeypatch.setattr(pl, "read_parquet", panic)
    with pytest.raises(ValueError, match="damaged"):
        read_frame(tmp_path / "p.parquet")
