"""The program ffmpeg, which writes movies."""

from __future__ import annotations

import shutil
from importlib import import_module

import matplotlib as mpl
from matplotlib.animation import FFMpegWriter

from correspondence._util.extras import explain_missing_extra

__all__ = ["find_ffmpeg"]


def find_ffmpeg() -> str:
    """Return the path of ffmpeg: matplotlib's, or the one that comes with a package of Python."""
    if FFMpegWriter.isAvailable():
        return shutil.which(mpl.rcParams["animation.ffmpeg_path"]) or mpl.rcParams["animation.ffmpeg_path"]
    try:
        return import_module("imageio_ffmpeg").get_ffmpeg_exe()
    except (ImportError, RuntimeError):
        raise ImportError(
            explain_missing_extra("An .mp4 needs the program ffmpeg", "movie", "write a .gif or .html")
        ) from None
