"""The command that installs an extra, for each way of installing the package."""

import json
from importlib import metadata

import pytest

from correspondence._util import extras


@pytest.fixture
def installed(monkeypatch):
    """A function that pretends that the package was installed from somewhere."""

    def set_origin(origin):
        text = origin if origin is None or isinstance(origin, str) else json.dumps(origin)
        distribution = type("Distribution", (), {"read_text": lambda self, name: text})()
        monkeypatch.setattr(metadata, "distribution", lambda name: distribution)

    return set_origin


@pytest.mark.parametrize("origin", [None, "", "damaged", "[]"])
def test_from_an_index(installed, origin):
    installed(origin)
    assert extras.make_install_command("excel") == 'pip install "correspondence[excel]"'


@pytest.mark.parametrize("is_editable", [True, False])
@pytest.mark.parametrize("has_constraints", [True, False])
def test_from_a_folder(installed, tmp_path, is_editable, has_constraints):
    folder = tmp_path / "my checkout"
    folder.mkdir()
    if has_constraints:
        (folder / "constraints.txt").touch()
    installed({"url": folder.as_uri(), "dir_info": {"editable": True} if is_editable else {}})
    command = extras.make_install_command("excel")
    assert command.endswith(f'"{folder}[excel]"')
    assert ("-e " in command) == is_editable
    assert (f'-c "{folder / "constraints.txt"}"' in command) == has_constraints


def test_from_a_folder_that_is_gone(installed, tmp_path):
    installed({"url": (tmp_path / "gone").as_uri(), "dir_info": {"editable": True}})
    assert extras.make_install_command("excel") == 'pip install "correspondence[excel]"'


def test_from_a_wheel_or_a_repository(installed):
    installed({"url": "file:///tmp/correspondence-1.whl", "archive_info": {}})
    assert (
        extras.make_install_command("excel") == 'pip install "correspondence[excel] @ file:///tmp/correspondence-1.whl"'
    )
    installed({"url": "https://host/repo", "vcs_info": {"vcs": "git", "commit_id": "abc"}})
    assert extras.make_install_command("excel") == 'pip install "correspondence[excel] @ git+https://host/repo@abc"'


def test_from_sources_that_are_not_installed(monkeypatch):
    def missing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", missing)
    assert extras.make_install_command("excel").endswith('[excel]"')
    assert extras.explain_missing_extra("X needs y", "excel", "use z").endswith('[excel]", or use z.')
