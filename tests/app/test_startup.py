"""Instant start: nothing heavy is imported before it is used, and every public name is found all the same."""

import subprocess
import sys

import pytest

import correspondence as co

HEAVY = ("matplotlib", "numpy", "pandas", "polars", "scipy", "sklearn", "torch")


def run_python(code, **environment):
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout


@pytest.mark.parametrize(
    "code",
    [
        "import correspondence; dir(correspondence)",
        "from correspondence.app.cli import main; main(['--help'], standalone_mode=False)",
        "from correspondence.app.cli import main; main(['analyze', '--help'], standalone_mode=False)",
        "from correspondence.app.cli import main; main(['associations', '--help'], standalone_mode=False)",
        "from correspondence.app.cli import main; main(['reproduce', '--help'], standalone_mode=False)",
    ],
)
def test_nothing_heavy_is_imported(code):
    found = run_python(f"import sys; {code}; print([name for name in {HEAVY} if name in sys.modules])")
    assert found.splitlines()[-1] == "[]"


def test_ctrl_c_is_heard_before_the_command_line_is_imported():
    code = (
        "import sys, correspondence.__main__; print([n for n in ('click', 'correspondence.app') if n in sys.modules])"
    )
    assert run_python(code) == "[]\n"


def test_every_public_name_can_be_had():
    assert set(co.__all__) <= set(dir(co))
    for name in co.__all__:
        assert getattr(co, name) is not None


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="corespondence_analysis"):
        co.corespondence_analysis  # noqa: B018


@pytest.mark.slow
def test_names_can_be_imported_from_the_package():
    assert run_python("from correspondence import CA, decompose, plot; print(CA.__name__)") == "CA\n"


@pytest.mark.slow
def test_names_are_imported_by_many_threads_at_once():
    code = """
from concurrent.futures import ThreadPoolExecutor
import correspondence as co
names = ["ACE", "CA", "CCA", "KernelCCA", "ClassifierCA", "crossfit", "compare", "decompose", "explore", "plot"]
with ThreadPoolExecutor(10) as pool:
    print(len(list(pool.map(lambda name: getattr(co, name), names))))
"""
    assert [run_python(code) for _ in range(3)] == ["10\n"] * 3


@pytest.mark.slow
def test_lists_of_names_leave_out_what_needs_torch():
    code = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "torch":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Missing())
import pydoc, correspondence
print("CCA" in pydoc.render_doc(correspondence), "PICE" in dir(correspondence), "__version__" in dir(correspondence))
"""
    assert run_python(code) == "True False True\n"
