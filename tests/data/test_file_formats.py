"""Pairs from files: the same from every format, and one sentence where a file is not what it says."""

import json
from pathlib import Path

import narwhals as nw
import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp

import correspondence as co
from correspondence.data.file_formats import (
    as_label_texts,
    column_names,
    explain_read_error,
    find_complete_rows,
    list_values,
    read_arrays,
    read_frame,
    read_pairs,
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
    data = read_pairs(path, [], ["b"])
    assert columns(data.X) == {"a": [1.5, 2.5], "c": [1, 3]}
    assert data.n_missing == 1


@pytest.mark.parametrize("ending", ["jsonl", "ndjson"])
def test_json_lines(write, ending):
    text = '{"a": 1, "b": "x"}\n\n{"b": "y"}\n{"b": "é", "a": 3}\n{"a": null, "b": "z"}\n'
    data = read_pairs(write(text, f"data.{ending}"), ["a"], ["b"])
    assert columns(data.X) == {"a": [1, 3]}
    assert columns(data.Y) == {"b": ["x", "é"]}
    assert data.n_missing == 2


def test_json_lines_with_a_byte_order_mark(write):
    assert columns(read_pairs(write('\ufeff{"a": 1, "b": "x"}\n', "data.jsonl"), ["a"], ["b"]).X) == {"a": [1]}


@pytest.mark.parametrize("character", ["\u2028", "\x85"])
def test_json_lines_with_odd_characters_in_a_text(write, character):
    text = json.dumps({"a": 1, "b": f"x{character}y"}, ensure_ascii=False) + "\n"
    assert columns(read_pairs(write(text, "data.jsonl"), ["a"], ["b"]).Y) == {"b": [f"x{character}y"]}


def test_json_lines_with_whole_numbers_first(write):
    text = '{"a": 1, "b": "x"}\n{"a": 2.5, "b": "y"}\n'
    assert columns(read_pairs(write(text, "data.jsonl"), ["a"], ["b"]).X) == {"a": [1, 2.5]}


# --- columns


def test_without_x_all_others(write):
    data = read_pairs(write("a,b,c,g\n1,x,5,u\n2,y,6,v\n"), [], ["b"], groups="g")
    assert columns(data.X) == {"a": [1, 2], "c": [5, 6]}
    assert data.groups == ["u", "v"]


def test_columns_come_in_the_order_asked_for(write):
    data = read_pairs(write("a,b,c\n1,2,x\n3,4,y\n"), ["b", "a"], ["c"])
    assert columns(data.X) == {"b": [2, 4], "a": [1, 3]}
    assert list(columns(data.X)) == ["b", "a"]


def test_labels_are_no_numbers(write):
    path = write("a,b,c\n1,3,0.5\n2,5,0.25\n")
    data = read_pairs(path, ["a", "c"], ["b"], labels=["a", "b"])
    assert columns(data.X) == {"a": ["1", "2"], "c": [0.5, 0.25]}
    assert columns(data.Y) == {"b": ["3", "5"]}
    assert columns(read_pairs(path, ["a"], ["b"], labels=["c"]).X) == {"a": [1, 2]}


def test_rows_with_missing_values_are_left_out_and_counted(write):
    data = read_pairs(write("a,b,c,g\n1,x,,u\n,y,2,v\n3,,3,u\n4,z,4,\n5,w,5,u\n"), ["a"], ["b"], groups="g")
    assert columns(data.X) == {"a": [1, 5]}
    assert columns(data.Y) == {"b": ["x", "w"]}
    assert data.groups == ["u", "u"]
    assert data.n_missing == 3


def test_a_frame_from_a_file_can_be_fitted(write):
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    lines = [f"{value:.6f},{'up' if value > 0 else 'down'}" for value in x]
    data = read_pairs(write("\n".join(["a,b", *lines])), ["a"], ["b"])
    assert co.CCA(n_components=1).fit(data.X, data.Y).correlations_[0] > 0.7


# --- mistakes


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"x": ["q"], "y": ["b"]}, "no column 'q' .* a, b"),
        ({"x": ["a"], "y": ["B"]}, "no column 'B' .* a, b"),
        ({"x": ["a"], "y": ["b"], "labels": ["q"]}, "no column 'q'"),
        ({"x": ["a"], "y": ["b"], "groups": "q"}, "no column 'q'"),
        ({"x": ["a"], "y": ["a"]}, "x and y must be different columns, 'a'"),
        ({"x": ["a", "b"], "y": ["b"]}, "x and y must be different columns, 'b'"),
        ({"x": ["a"], "y": []}, "y must name .* a, b"),
        ({"x": [], "y": ["a", "b"]}, "x has no column"),
    ],
)
def test_wrong_columns(write, arguments, message):
    with pytest.raises(ValueError, match=message) as error:
        read_pairs(write(rows(",")), **arguments)
    sentence(error)


@pytest.mark.parametrize("arguments", [{"x": ["a", "a"], "y": ["b"]}, {"x": ["a"], "y": ["b", "b"]}])
def test_a_column_asked_for_twice(write, arguments):
    try:
        data = read_pairs(write(rows(",")), **arguments)
    except ValueError as error:
        assert str(error).endswith(".")  # noqa: PT017
    else:
        assert [list(columns(frame)) for frame in (data.X, data.Y)] == [["a"], ["b"]]


def test_only_the_first_of_many_columns_are_listed(write):
    names = [f"c{i}" for i in range(30)]
    text = ",".join(names) + "\n" + ",".join(["1"] * 30) + "\n"
    with pytest.raises(ValueError, match=r"c18, c19 and 10 more\.$"):
        read_pairs(write(text), ["q"], ["c1"])


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "jsonl", "ndjson"])
def test_empty_files(write, ending):
    with pytest.raises(ValueError, match=r"cannot be read|no column") as error:
        read_pairs(write("", f"data.{ending}"), ["a"], ["b"])
    sentence(error)


def test_a_file_without_columns_is_said_to_be_empty(write):
    with pytest.raises(ValueError, match=r"empty|no row|there must be one"):
        read_pairs(write("", "data.jsonl"), ["a"], ["b"])


@pytest.mark.parametrize(("name", "text"), [("data.csv", "a,b\n"), ("data.csv", "a,b"), ("data.tsv", "a\tb\n")])
def test_only_a_header(write, name, text):
    with pytest.raises(ValueError, match="no row") as error:
        read_pairs(write(text, name), ["a"], ["b"])
    sentence(error)


def test_nothing_but_missing_values(write):
    with pytest.raises(ValueError, match="no row"):
        read_pairs(write("a,b\n1,\n,x\n"), ["a"], ["b"])


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "jsonl"])
@pytest.mark.parametrize("content", [bytes(range(256)) * 4, b"\x89PNG\r\n\x1a\n\0\0\0", b"PAR1 and no more"])
def test_garbage(write, ending, content):
    with pytest.raises(ValueError, match=r"cannot be read|no column") as error:
        read_pairs(write(content, f"data.{ending}"), ["a"], ["b"])
    assert len(sentence(error)) < 600


@pytest.mark.parametrize("text", ["[1, 2]\n", "3\n", '"text"\n', '{"a": 1,\n', "{'a': 1}\n"])
def test_lines_that_are_no_json_objects(write, text):
    with pytest.raises(ValueError, match=r"cannot be read as \.jsonl") as error:
        read_pairs(write(text, "data.jsonl"), ["a"], ["b"])
    sentence(error)


@pytest.mark.parametrize("name", ["data.docx", "data.txt", "data", "data.docx.gz"])
def test_wrong_ending(write, name):
    with pytest.raises(ValueError, match=r"must end in \.csv") as error:
        read_pairs(write(rows(","), name), ["a"], ["b"])
    sentence(error)


def test_no_file(tmp_path):
    for path in (tmp_path / "none.csv", tmp_path):
        with pytest.raises(ValueError, match=r"no file|not a file"):
            read_pairs(path, ["a"], ["b"])


def test_a_path_may_be_text(write):
    assert columns(read_pairs(str(write(rows(","))), ["a"], ["b"]).X) == {"a": NUMBERS}


# --- columns, arrays and images


def test_a_close_name_is_told(write):
    with pytest.raises(ValueError, match=r"'Alkohol' .* alcohol") as error:
        read_pairs(write("alcohol,b\n1,x\n2,y\n"), ["Alkohol"], ["b"])
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
