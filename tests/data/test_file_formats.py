"""Pairs from files: the same from every format, and one sentence where a file is not what it says."""

import json
from pathlib import Path

import narwhals as nw
import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp

from correspondence.data.file_formats import (
    as_label_texts,
    check_columns,
    column_names,
    explain_read_error,
    find_complete_rows,
    list_values,
    read_arrays,
    read_frame,
)


def columns(frame):
    return nw.from_native(frame).to_dict(as_series=False)


def sentence(error):
    text = str(error.value)
    assert "\n" not in text
    assert text.endswith(".")
    return text


NUMBERS, LETTERS = [1, 2, 3, 4], ["x", "y", "x", "z"]


def rows(separator, end="\n"):
    return end.join(separator.join(map(str, row)) for row in [("a", "b"), *zip(NUMBERS, LETTERS, strict=True)]) + end


# --- formats


@pytest.mark.parametrize("ending", ["parquet", "PARQUET"])
def test_parquet(tmp_path, ending):
    path = tmp_path / f"data.{ending}"
    pl.DataFrame({"a": [1.5, None, 2.5], "b": ["x", "y", "z"], "c": [1, 2, 3]}).write_parquet(path)
    assert columns(read_frame(path)) == {"a": [1.5, None, 2.5], "b": ["x", "y", "z"], "c": [1, 2, 3]}


@pytest.mark.parametrize("ending", ["jsonl", "ndjson"])
def test_json_lines(write, ending):
    text = '{"a": 1, "b": "x"}\n\n{"b": "y"}\n{"b": "é", "a": 3}\n{"a": null, "b": "z"}\n'
    assert columns(read_frame(write(text, f"data.{ending}"))) == {"a": [1, None, 3, None], "b": ["x", "y", "é", "z"]}


def test_json_lines_with_a_byte_order_mark(write):
    assert columns(read_frame(write('\ufeff{"a": 1, "b": "x"}\n', "data.jsonl"))) == {"a": [1], "b": ["x"]}


@pytest.mark.parametrize("character", ["\u2028", "\x85"])
def test_json_lines_with_odd_characters_in_a_text(write, character):
    text = json.dumps({"a": 1, "b": f"x{character}y"}, ensure_ascii=False) + "\n"
    assert columns(read_frame(write(text, "data.jsonl")))["b"] == [f"x{character}y"]


def test_json_lines_with_whole_numbers_first(write):
    text = '{"a": 1, "b": "x"}\n{"a": 2.5, "b": "y"}\n'
    assert columns(read_frame(write(text, "data.jsonl")))["a"] == [1, 2.5]


# --- mistakes


def test_only_the_first_of_many_columns_are_listed():
    with pytest.raises(ValueError, match=r"c18, c19 and 10 more\.$"):
        check_columns(["q"], [f"c{i}" for i in range(30)], "data.csv")


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "jsonl", "ndjson"])
def test_empty_files(write, ending):
    with pytest.raises(ValueError, match=r"cannot be read|no column") as error:
        read_frame(write("", f"data.{ending}"))
    sentence(error)


def test_a_file_without_columns_is_said_to_be_empty(write):
    with pytest.raises(ValueError, match=r"empty|no row|there must be one"):
        read_frame(write("", "data.jsonl"))


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "jsonl"])
@pytest.mark.parametrize("content", [bytes(range(256)) * 4, b"\x89PNG\r\n\x1a\n\0\0\0", b"PAR1 and no more"])
def test_garbage(write, ending, content):
    with pytest.raises(ValueError, match=r"cannot be read|no column") as error:
        check_columns(["a"], read_frame(write(content, f"data.{ending}")).columns, "data")
    assert len(sentence(error)) < 600


@pytest.mark.parametrize("text", ["[1, 2]\n", "3\n", '"text"\n', '{"a": 1,\n', "{'a': 1}\n"])
def test_lines_that_are_no_json_objects(write, text):
    with pytest.raises(ValueError, match=r"cannot be read as \.jsonl") as error:
        read_frame(write(text, "data.jsonl"))
    sentence(error)


@pytest.mark.parametrize("name", ["data.docx", "data.txt", "data", "data.docx.gz"])
def test_wrong_ending(write, name):
    with pytest.raises(ValueError, match=r"must end in \.csv") as error:
        read_frame(write(rows(","), name))
    sentence(error)


def test_no_file(tmp_path):
    for path in (tmp_path / "none.csv", tmp_path):
        with pytest.raises(ValueError, match=r"no file|not a file"):
            read_frame(path)


def test_a_path_may_be_text(write):
    assert columns(read_frame(str(write(rows(","))))) == {"a": NUMBERS, "b": LETTERS}


# --- columns, arrays and images


def test_a_close_name_is_told():
    with pytest.raises(ValueError, match=r"'Alkohol' .* alcohol") as error:
        check_columns(["Alkohol"], ["alcohol", "b"], "data.csv")
    sentence(error)


def test_complete_rows(write):
    frame = read_frame(write('a,b\n1,x\n,y\n3,""\n4,z\n'))
    assert find_complete_rows(frame).tolist() == [True, False, False, True]


@pytest.mark.parametrize(("values", "texts"), [([1.0, 2.0], ["1", "2"]), ([3, 4], ["3", "4"]), ([1e20, 2.0], None)])
def test_label_texts(values, texts):
    frame = as_label_texts(nw.from_native(pl.DataFrame({"a": values, "b": [1.5, 2.5]})), ["a", "c"])
    assert texts is None or frame["a"].to_list() == texts
    assert frame["a"].dtype == nw.String
    assert frame["b"].to_list() == [1.5, 2.5]


def test_lists_in_json_lines_are_texts(write):
    frame = read_frame(write('{"a": ["x", "y"], "b": 1}\n{"a": null, "b": 2}\n', "data.jsonl"))
    assert list_values(frame["a"]) == ["x, y", None]


@pytest.mark.parametrize(
    ("name", "content"),
    [("d.csv", "a;b\n1;2\n"), ("d.tsv", "a\tb\n1\t2\n"), ("d.jsonl", '{"a": 1, "b": 2}\n')],
)
def test_column_names(write, name, content):
    assert column_names(write(content, name)) == ["a", "b"]


def test_column_names_of_binary_files(tmp_path):
    pl.DataFrame({"a": [1], "b": [2]}).write_parquet(tmp_path / "d.parquet")
    np.savez(tmp_path / "d.npz", a=np.zeros(2), b=np.zeros(2))
    assert column_names(tmp_path / "d.parquet") == column_names(tmp_path / "d.npz") == ["a", "b"]


def test_arrays(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.eye(2), y=np.array(["a", "b"]))
    assert sorted(read_arrays(tmp_path / "a.npz")) == ["X", "y"]
    np.save(tmp_path / "a.npy", np.eye(3))
    np.testing.assert_array_equal(read_arrays(tmp_path / "a.npy")[""], np.eye(3))
    sp.save_npz(tmp_path / "s.npz", sp.coo_array(np.eye(4)))
    np.testing.assert_array_equal(read_arrays(tmp_path / "s.npz")[""].toarray(), np.eye(4))


def test_arrays_are_never_unpickled(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.array([{"a": 1}, None], dtype=object))
    with pytest.raises(ValueError, match=r"cannot be read as \.npz") as error:
        read_arrays(tmp_path / "a.npz")
    sentence(error)


def test_a_single_array_is_no_npz(tmp_path):
    np.save(tmp_path / "a.npy", np.eye(2))
    (tmp_path / "a.npy").rename(tmp_path / "a.npz")
    with pytest.raises(ValueError, match="single array"):
        read_arrays(tmp_path / "a.npz")


def test_a_file_that_may_not_be_read():
    path = Path("/duplicates/utf8/a.csv")
    error = explain_read_error(path, PermissionError(13, "Permission denied", str(path)))
    assert str(error) == f"{path} cannot be read as .csv: Permission denied."
