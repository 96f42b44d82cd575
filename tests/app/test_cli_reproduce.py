"""``correspondence reproduce``: one quick study, and what is said when something is wrong."""

import os
from pathlib import Path

import pytest
from click.testing import CliRunner

import correspondence as co
from correspondence.app.cli import main
from correspondence.studies.reproducing import STUDIES


def run(*arguments):
    return CliRunner().invoke(main, ["reproduce", *(str(argument) for argument in arguments)])


def one_sentence(result):
    assert result.exit_code != 0
    assert isinstance(result.exception, SystemExit), "a traceback"
    (error,) = [line for line in result.output.splitlines() if line.startswith("Error: ")]
    assert error.endswith(".")
    return error


@pytest.mark.slow
def test_default_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run("gaussian", "--quick", "--seeds", 1)
    assert result.exit_code == 0, result.output
    folder = Path("results", "gaussian")
    files = ["gaussian.csv", "gaussian.png", "gaussian.md", "gaussian.json"]
    assert sorted(os.listdir(folder)) == sorted(files)
    assert result.output.splitlines()[-1] == f"Written to {folder.resolve()}: {', '.join(files)}"
    assert "correspondence reproduce gaussian --seeds 1 --quick" in (folder / "gaussian.md").read_text(encoding="utf-8")


def test_help_lists_the_studies():
    result = run("--help")
    assert result.exit_code == 0
    for name, study in STUDIES.items():
        assert any(name in line and study.title in line for line in result.output.splitlines())


def test_unknown_study():
    error = one_sentence(run("bcs"))
    assert all(name in error for name in ("bcs", *STUDIES))


@pytest.mark.parametrize("arguments", [[], ["gaussian", "--seeds", "0"], ["gaussian", "--seeds", "many"]])
def test_wrong_arguments(arguments):
    result = run(*arguments)
    assert result.exit_code == 2
    assert "Error: " in result.output


def test_where_a_file_is(tmp_path):
    file = tmp_path / "file"
    file.write_text("mine")
    assert "file" in one_sentence(run("gaussian", "-o", file))
    assert "file" in one_sentence(run("gaussian", "-o", file / "below"))
    assert file.read_text() == "mine"


def test_a_folder_that_takes_no_files_is_found_before_the_fits(tmp_path, monkeypatch):
    def full(**options):
        raise OSError(28, "No space left on device")

    def late(*args, **options):
        raise AssertionError("fitted first")

    monkeypatch.setattr("tempfile.TemporaryFile", full)
    monkeypatch.setattr(co, "PICE", late, raising=False)
    assert "No space left" in one_sentence(run("gaussian", "-o", tmp_path))


def test_without_torch(tmp_path, monkeypatch):
    sentence = 'PICE needs torch: pip install "correspondence[neural]".'

    def missing(*args, **options):
        raise ImportError(sentence)

    monkeypatch.setattr(co, "PICE", missing, raising=False)
    assert one_sentence(run("gaussian", "-o", tmp_path)) == f"Error: {sentence}"
    assert not list(tmp_path.iterdir())
