"""The command line, called in this process and once as the installed script."""

import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlparse

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import pytest
from click.testing import CliRunner

import correspondence as co
from correspondence.cli import main

PICS = ["0.5429", "0.4450", "0.1270"]


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def files_named_in(output):
    """Paths of the picture and of the page."""
    picture = Path(re.search(r"^Picture: +(.+)$", output, re.MULTILINE)[1])
    page = urlparse(re.search(r"^Page: +(.+)$", output, re.MULTILINE)[1])
    assert page.scheme == "file"
    return picture, Path(unquote(page.path))


def assert_demo(output, folder):
    table = re.findall(r"^ +(\d) +(\S+) +\S+ +\S+$", output, re.MULTILINE)
    assert table == [(str(i + 1), pic) for i, pic in enumerate(PICS)]
    picture, page = files_named_in(output)
    assert picture.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert picture.stat().st_size > 10_000
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert sorted(path.name for path in folder.iterdir()) == ["page.html", "plane.png"]
    assert picture.parent == page.parent == folder.resolve()


def assert_one_sentence(result):
    assert result.exit_code != 0
    assert isinstance(result.exception, SystemExit), "a traceback"
    error = [line for line in result.output.splitlines() if line.startswith("Error: ")]
    assert len(error) == 1
    assert error[0].endswith(".")
    return error[0]


def test_demo_twice(tmp_path):
    folder = tmp_path / "a new" / "földer"
    for _ in range(2):
        result = run("demo", "-o", folder)
        assert result.exit_code == 0, result.output
        assert_demo(result.output, folder)
    assert not plt.get_fignums()


def test_demo_says_what_the_axes_separate(tmp_path):
    output = run("demo", "-o", tmp_path).output
    assert "1744 answers" in output
    assert "Axis 1 separates Wife from Husband." in output
    assert "chi2 1944.5 on 36 dof, p < 1e-300" in output


def test_demo_where_a_file_is(tmp_path):
    file = tmp_path / "file"
    file.write_text("mine")
    assert "file" in assert_one_sentence(run("demo", "-o", file))
    assert "file" in assert_one_sentence(run("demo", "-o", file / "below"))
    assert file.read_text() == "mine"


def test_demo_where_a_folder_has_the_name_of_the_picture(tmp_path):
    (tmp_path / "plane.png").mkdir()
    assert "plane.png" in assert_one_sentence(run("demo", "-o", tmp_path))
    assert not plt.get_fignums()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs a folder where even root cannot write")
@pytest.mark.parametrize("folder", ["/proc", "/proc/new"])
def test_demo_where_nobody_can_write(folder):
    assert folder in assert_one_sentence(run("demo", "-o", folder))


def test_demo_on_a_full_disk(tmp_path, monkeypatch):
    def fail(*args, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.touch", fail)
    assert "No space left" in assert_one_sentence(run("demo", "-o", tmp_path))


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["demo", "--help"]])
def test_help(arguments):
    result = run(*arguments)
    assert result.exit_code == 0
    assert "Usage:" in result.output
    assert "demo" in result.output


def test_version():
    result = run("--version")
    assert result.exit_code == 0
    assert co.__version__ in result.output


@pytest.mark.parametrize("arguments", [["dmeo"], ["demo", "--outptu", "x"], ["demo", "extra"]])
def test_wrong_arguments(arguments):
    result = run(*arguments)
    assert result.exit_code == 2
    assert "Error: " in result.output
    assert isinstance(result.exception, SystemExit)


def test_the_installed_script(tmp_path):
    script = Path(sys.executable).with_name("correspondence")
    if not script.is_file():
        pytest.skip(f"the script is not installed beside {sys.executable}")
    environment = {name: value for name, value in os.environ.items() if name not in ("MPLBACKEND", "DISPLAY")}
    done = subprocess.run(
        [script, "demo"], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert_demo(done.stdout, tmp_path / "correspondence-demo")
