"""ffmpeg is found, or its absence is explained."""

import sys
from types import SimpleNamespace

import pytest
from matplotlib.animation import FFMpegWriter

from correspondence._util.ffmpeg import find_ffmpeg


@pytest.fixture
def no_program(monkeypatch):
    monkeypatch.setattr(FFMpegWriter, "isAvailable", classmethod(lambda cls: False))


def test_the_one_of_a_package_is_taken_where_there_is_no_other(no_program, monkeypatch):
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", SimpleNamespace(get_ffmpeg_exe=lambda: "/opt/ffmpeg"))
    assert find_ffmpeg() == "/opt/ffmpeg"


def test_without_any_the_error_names_what_to_install(no_program, monkeypatch):
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(ImportError, match=r"\[movie\]"):
        find_ffmpeg()
