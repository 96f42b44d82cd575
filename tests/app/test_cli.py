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
import numpy as np
import pytest
from click.testing import CliRunner
from pages import data_of

import correspondence as co
from correspondence.app.cli import main

FILES = ["digits.html", "digits.png", "hardest.html", "tasks.html", "tasks.png"]


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def files_named_in(output):
    """Paths of the pages and of the pictures."""
    pages = [urlparse(address) for address in re.findall(r"^Page: +(.+)$", output, re.MULTILINE)]
    assert {page.scheme for page in pages} == {"file"}
    return [Path(unquote(page.path)) for page in pages], list(
        map(Path, re.findall(r"^Picture: +(.+)$", output, re.MULTILINE))
    )


def assert_demo(output, folder):
    pages, pictures = files_named_in(output)
    assert sorted(path.name for path in folder.iterdir()) == FILES
    assert sorted(path.name for path in [*pages, *pictures]) == FILES
    assert {path.parent for path in [*pages, *pictures]} == {folder.resolve()}
    for picture in pictures:
        assert picture.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
        assert picture.stat().st_size > 10_000
    for page in pages:
        assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def assert_one_sentence(result):
    assert result.exit_code != 0
    assert isinstance(result.exception, SystemExit), "a traceback"
    error = [line for line in result.output.splitlines() if line.startswith("Error: ")]
    assert len(error) == 1
    assert error[0].endswith(".")
    return error[0]


def of_the_demo(test):
    """Mark a test of the demo, which is run in one worker."""
    return pytest.mark.slow(pytest.mark.xdist_group("demo")(test))


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """Output and folder of a demo, the second in the same folder."""
    folder = tmp_path_factory.mktemp("demo") / "a new" / "földer"
    outputs = []
    for _ in range(2):
        result = run("demo", "-o", folder)
        assert result.exit_code == 0, result.output
        outputs.append(result.output)
    assert outputs[0] == outputs[1]
    return outputs[1], folder


@of_the_demo
def test_demo(shown):
    assert_demo(*shown)
    assert not plt.get_fignums()


@of_the_demo
def test_demo_reads_digits_that_the_net_has_not_seen(shown):
    output, _ = shown
    accuracy, unseen = re.search(r"is\s+right on (\S+) % of (\S+)\s+others", output).groups()
    assert 90 < float(accuracy) < 99.9
    assert unseen == "1,197"
    assert "beliefs of 900 of the others; on labels of the other 297." in output
    table = [list(map(float, row)) for row in re.findall(r"^ +(\d)  +(\S+)  +(\S+)  \d and \d$", output, re.MULTILINE)]
    assert [row[0] for row in table] == list(range(1, 10))
    claimed, on_labels = (np.array(column) for column in list(zip(*table, strict=True))[1:])
    assert (np.diff(claimed) <= 0).all()
    assert 0.4 < claimed[-1] < claimed[0] < 0.95  # no ten dots
    assert (on_labels > 0.5).all()
    assert len(re.findall(r"\d and \d\s\(0\.\d\d\)", output)) == 5
    assert "Axis 1 separates" in output
    assert "on held-out pairs" in output.replace("\n", " ")


@of_the_demo
def test_demo_page_has_thumbnails_boundaries_close_calls_and_the_training(shown):
    content = data_of(shown[1] / "digits.html")
    x, y = content["clouds"]
    assert (x["n"], y["n"]) == (900, 10)
    assert y["labels"] == content["classes"]["names"] == [str(digit) for digit in range(10)]
    assert x["sprites"]["width"] == x["sprites"]["height"] == 8
    assert len(content["boundaries"]) == 10
    assert len(content["confusing"]) > 5
    steps, accuracy = content["frames"]["steps"], content["frames"]["accuracy"]
    assert 20 <= len(steps) == len(accuracy)
    assert steps[-1] == 360
    assert accuracy[0] < 0.5 < 0.9 < accuracy[-1]


@pytest.mark.slow
def test_demo_needs_nothing_optional(tmp_path):
    code = """if True:
        import sys
        from pathlib import Path
        class Missing:
            def find_spec(self, name, path=None, target=None):
                if name in ("torch", "pandas", "pyarrow", "plotly"):
                    raise ModuleNotFoundError(name)
        sys.meta_path.insert(0, Missing())
        from correspondence.app.demo import run_demo
        print(run_demo(Path(sys.argv[1])))"""
    command, environment = [sys.executable, "-c", code, tmp_path], {**os.environ, "MPLBACKEND": "Agg"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert_demo(done.stdout, tmp_path)


@of_the_demo
def test_demo_of_the_table(shown):
    output = " ".join(shown[0].split())
    assert "1744 answers" in output
    assert "PICs 0.5429, 0.4450, 0.1270" in output
    assert "Axis 1 separates Wife (Laundry, Main_meal) from Husband (Repairs, Driving)." in output
    assert "task and person depend on each other strongly" in (shown[1] / "tasks.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_demo_that_is_stopped_leaves_nothing(tmp_path, monkeypatch):
    def stop(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("correspondence.app.demo.ClassifierCA", stop)
    assert run("demo", "-o", tmp_path / "new").exit_code == 130
    assert not list(tmp_path.iterdir())
    (tmp_path / "digits.html").write_text("old")
    run("demo", "-o", tmp_path)
    assert (tmp_path / "digits.html").read_text() == "old"


@pytest.fixture
def _short_training(monkeypatch):
    monkeypatch.setattr("correspondence.app.demo.N_EPOCHS", 5)


def test_demo_where_a_file_is(tmp_path):
    file = tmp_path / "file"
    file.write_text("mine")
    assert "file" in assert_one_sentence(run("demo", "-o", file))
    assert "file" in assert_one_sentence(run("demo", "-o", file / "below"))
    assert file.read_text() == "mine"


@pytest.mark.slow
@pytest.mark.usefixtures("_short_training")
def test_demo_where_a_folder_has_the_name_of_the_picture(tmp_path):
    (tmp_path / "digits.png").mkdir()
    assert "digits.png" in assert_one_sentence(run("demo", "-o", tmp_path))
    assert not plt.get_fignums()


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs a folder where even root cannot write")
@pytest.mark.parametrize("folder", ["/proc", "/proc/new"])
def test_demo_where_nobody_can_write(folder):
    assert folder in assert_one_sentence(run("demo", "-o", folder))


@pytest.mark.usefixtures("_short_training")
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


@pytest.mark.slow
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


@pytest.mark.parametrize("name", ["analyze", "compare", "embed", "reproduce", "train"])
def test_long_work_has_a_limit_and_tells_what_it_does(name):
    options = {option for parameter in main.commands[name].params for option in parameter.opts}
    assert {"--time-limit", "--progress"} <= options
