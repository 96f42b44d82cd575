"""Pictures of a recorded training: the movie of the factoring plane, as a file or as a page, and the timeline."""

from __future__ import annotations

import base64
import shutil
import subprocess
import warnings
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from jinja2 import Environment, PackageLoader
from matplotlib.animation import AbstractMovieWriter, FFMpegWriter, PillowWriter
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke

from correspondence._util.arguments import is_number, read_only
from correspondence._util.files import new_file
from correspondence._util.progress import make_progress_bar
from correspondence._util.text import one_line, short_repr
from correspondence.results.timeline import Timeline
from correspondence.scene.colours import COLUMNS, GREY, ROWS, list_distinct_colours

__all__ = ["Film", "check_movie", "write_movie"]

MOVIE_SUFFIXES = (".mp4", ".gif", ".html")
MOST_BARS = 20  # PICs that are drawn as bars
MOST_NAMES = 40  # classes in a legend
MAX_HALF_WIDTHS = 4.0  # how many half-widths of the view a point may be off its middle in the page


@dataclass(frozen=True, eq=False)
class Film:
    """What a movie of a training shows, frame by frame.

    Attributes
    ----------
    timeline : Timeline
        Of the frames that are shown.
    index : ndarray of shape (m,)
        Which of the probes are shown.
    labels : ndarray of shape (m,) or None
        Positions of their labels among the classes.
    inputs : ndarray of shape (T, m, 2)
        Where they are.
    positions : ndarray of shape (T, k, 2)
        Means of the inputs of each class; NaN if there are none.
    guesses : ndarray of shape (T, m)
        Position of the likeliest class of each input.
    belief : ndarray of shape (T, m)
        How much it is believed.
    """

    timeline: Timeline
    index: np.ndarray
    labels: np.ndarray | None
    inputs: np.ndarray
    positions: np.ndarray
    guesses: np.ndarray
    belief: np.ndarray

    def __post_init__(self) -> None:
        read_only(self, "index", "inputs", "positions", "guesses", "belief")

    def __len__(self) -> int:
        return len(self.inputs)

    @property
    def is_line(self) -> bool:
        """Whether there is one axis only, as of two classes; the second coordinate then means nothing."""
        return self.timeline.pics.shape[1] < 2

    def find_view(self) -> np.ndarray:
        """Middle and half-width of the part of the plane that is shown, the same for all frames.

        All of the last frame is in it, and 99 % of the inputs of all frames along each axis.
        """
        spread = np.quantile(self.inputs.reshape(-1, 2), [0.005, 0.995], axis=0)
        low = np.minimum(spread[0], self.inputs[-1].min(axis=0))
        high = np.maximum(spread[1], self.inputs[-1].max(axis=0))
        half = np.maximum(0.56 * (high - low), 1e-3 * np.max(high - low) + 1e-9)
        return np.stack([(low + high) / 2, half])

    def choose_colours(self) -> list[str]:
        """One for each class."""
        return list_distinct_colours(len(self.timeline.classes))

    def format_names(self) -> list[str]:
        """The classes as texts."""
        return [one_line(label, 24) for label in self.timeline.classes.tolist()]

    def format_title(self, t: int) -> str:
        """What is said above frame t."""
        accuracy = self.timeline.accuracy
        return f"Step {self.timeline.steps[t]:,}" + ("" if accuracy is None else f", accuracy {accuracy[t]:.1%}")


def check_movie(path: str | Path, fps: float) -> None:
    """Errors that are better raised before the frames are computed."""
    target = Path(path)
    if target.suffix.lower() not in MOVIE_SUFFIXES:
        raise ValueError(f"path must end with .mp4, .gif or .html, got {short_repr(str(path))}.")
    if not is_number(fps) or not 0 < fps <= 100:
        raise ValueError(f"fps must be a number above 0 and at most 100, got {short_repr(fps)}.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {target.parent}: make it first.")
    if target.suffix.lower() == ".mp4":
        find_ffmpeg()


def write_movie(film: Film, path: str | Path, *, fps: float = 15, progress: bool | None = None) -> Path:
    """Write a movie; the ending of the path says of which kind.

    Parameters
    ----------
    film : Film
        What it shows.
    path : str or Path
        The file, ``.mp4``, ``.gif`` or ``.html``; replaced only once the new one is complete.
    fps : float
        Frames in a second.
    progress : bool, optional
        Whether a bar is shown; in a terminal, from two seconds on, by default.

    Returns
    -------
    Path
        Of the file.
    """
    check_movie(path, fps)
    with new_file(path) as temporary:
        if Path(path).suffix.lower() == ".html":
            temporary.write_text(_page(film, fps), encoding="utf-8", errors="replace")
        else:
            write_frames(film, temporary, fps, progress)
    return Path(path)


# --- with matplotlib


def write_frames(film: Film, path: Path, fps: float, progress: bool | None) -> None:
    is_gif = path.suffix.lower() == ".gif"
    held = max(1, round(fps))  # the last frame stays for a second
    settings: dict[Any, Any] = {} if is_gif else {"animation.ffmpeg_path": find_ffmpeg()}
    try:
        with mpl.rc_context(settings), warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Glyph .* missing from")  # a name in a script without a font
            scene = _MovieFigure(film, dpi=80 if is_gif else 120)
            writer = PillowWriter(fps=fps) if is_gif else FFMpegWriter(fps=fps)  # type: ignore[arg-type]
            with make_progress_bar(len(film) + held, "movie", progress) as shown:
                _grab_frames(scene, writer, path, held, shown)
    except subprocess.CalledProcessError as error:
        raise RuntimeError(f"ffmpeg could not write {path.suffix} ({error}): write a .gif or .html instead.") from None


def _grab_frames(scene: _MovieFigure, writer: AbstractMovieWriter, path: Path, held: int, shown: Any) -> None:
    with writer.saving(scene.figure, str(path), scene.figure.dpi):
        for t in [*range(len(scene.film)), *[len(scene.film) - 1] * held]:
            scene.show_frame(t)
            writer.grab_frame()
            shown.update()


def find_ffmpeg() -> str:
    """The program ffmpeg: matplotlib's, or the one that comes with a package of Python."""
    if FFMpegWriter.isAvailable():
        return shutil.which(mpl.rcParams["animation.ffmpeg_path"]) or mpl.rcParams["animation.ffmpeg_path"]
    try:
        return import_module("imageio_ffmpeg").get_ffmpeg_exe()
    except (ImportError, RuntimeError):
        raise ImportError(
            'An .mp4 needs the program ffmpeg: pip install "correspondence[movie]", or write a .gif or .html.'
        ) from None


class _Still(Artist):
    """Pixels of a whole figure; figimage would resample them for every frame."""

    def __init__(self, pixels: np.ndarray) -> None:
        super().__init__()
        self.pixels = np.ascontiguousarray(pixels[::-1])
        self.set_zorder(-1)

    def draw(self, renderer: Any) -> None:
        gc = renderer.new_gc()
        renderer.draw_image(gc, 0, 0, self.pixels)
        gc.restore()


class _MovieFigure:
    """Figure whose parts are moved from frame to frame: the plane, the PICs, and the curves up to now."""

    def __init__(self, film: Film, dpi: int) -> None:
        self.film = film
        self.choose_colours = np.array([to_rgba(colour, 0.75) for colour in film.choose_colours()])
        self.figure = Figure(figsize=(11.2, 6.4), dpi=dpi, layout="constrained")
        grid = self.figure.add_gridspec(2, 2, width_ratios=[1.75, 1], height_ratios=[1, 1])
        self._set_plane(self.figure.add_subplot(grid[:, 0]))
        self._set_bars(self.figure.add_subplot(grid[0, 1]))
        self._set_curves(self.figure.add_subplot(grid[1, 1]))
        self._set_legend()
        self._freeze_background()
        self.show_frame(len(film) - 1)

    def _set_legend(self) -> None:
        names, colours = self.film.format_names(), self.film.choose_colours()
        if len(names) > 20:
            return
        handles = [Patch(color=colour, label=name) for name, colour in zip(names, colours, strict=True)]
        columns = max(1, min(len(names), 140 // (6 + max(map(len, names)))))
        style = {"frameon": False, "fontsize": 10, "handlelength": 1, "handletextpad": 0.4, "columnspacing": 1.4}
        legend = self.figure.legend(handles=handles, loc="outside lower left", ncols=columns, **style)
        for text in legend.get_texts():
            text.set_parse_math(False)

    def _freeze_background(self) -> None:
        """Make one picture of all that stays the same, and leave the rest: drawing axes anew takes most of the time."""
        lines = [line for line, _ in [*self.lines, *self.dots]]
        moving = [self.points, self.title, *self.texts, *self.bars, *lines]
        for artist in moving:
            artist.set_visible(False)
        canvas = FigureCanvasAgg(self.figure)
        self._set_limits()
        canvas.draw()
        still = np.array(canvas.buffer_rgba())
        for artist in [*self.figure.legends, *(part for ax in self.figure.axes for part in ax.get_children())]:
            artist.set_visible(artist in moving)
        self.figure.add_artist(_Still(still))

    def _set_limits(self) -> None:
        """Lay the figure out, once and for all, and show the whole view with the same unit on both axes."""
        middle, half = self.film.find_view()
        for _ in range(2):  # the labels of the ticks change the layout
            self.figure.draw_without_rendering()
            size = self.plane.get_window_extent().size
            wide = half if self.film.is_line else np.max(half / size) * size
            self.plane.set(xlim=middle[0] + wide[0] * np.array([-1, 1]), ylim=middle[1] + wide[1] * np.array([-1, 1]))
        self.figure.set_layout_engine("none")

    def show_frame(self, t: int) -> None:
        """Set everything to frame t."""
        self._show_inputs(t)
        self._show_names(t)
        self.title.set_text(self.film.format_title(t))
        for patch, height in zip(self.bars, self.film.timeline.pics[t], strict=False):
            patch.set_height(height)
        for line, values in self.lines:
            line.set_data(self.film.timeline.steps[: t + 1], values[: t + 1])
        for dot, values in self.dots:
            dot.set_data(self.film.timeline.steps[t : t + 1], values[t : t + 1])

    def _show_inputs(self, t: int) -> None:
        film = self.film
        guesses = film.guesses[t]
        own = self.choose_colours[guesses if film.labels is None else film.labels]
        inside = own.copy()
        if film.labels is not None:
            inside[guesses != film.labels, 3] = 0  # a ring: believed to be another class
        self.points.set_offsets(film.inputs[t])
        self.points.set_edgecolor(own)
        self.points.set_facecolor(inside)

    def _show_names(self, t: int) -> None:
        """Names above the means of the classes, within the axes; they fade where they would cover each other."""
        xy = self.plane.transData.transform(self.film.positions[t]) / self.figure.dpi * 72  # in points, as all here
        width = 9.0 * np.array([len(text.get_text()) for text in self.texts]) + 5  # about, of bold letters
        alphas = _find_name_alphas(xy, width)
        size = np.column_stack([width, np.full(len(width), 16.0)]) / 2
        low, high = self.plane.bbox.get_points() / self.figure.dpi * 72
        offset = np.minimum(np.maximum(xy + np.array([0, 10]), low + size), high - size) - xy
        for i, text in enumerate(self.texts):
            text.set_visible(bool(alphas[i] > 0))
            if alphas[i] > 0:
                text.xy = self.film.positions[t, i]
                text.set_position(offset[i])
                text.set_alpha(alphas[i])
                text.set_path_effects([withStroke(linewidth=3, foreground="white", alpha=0.9 * alphas[i])])

    def _set_plane(self, ax: Axes) -> None:
        film = self.film
        self.plane = ax
        ax.set_xlabel("Axis 1 of the last frame")
        ax.axvline(0, color="0.85", lw=0.8, zorder=0)
        if film.is_line:
            ax.set_yticks([])
        else:
            ax.axhline(0, color="0.85", lw=0.8, zorder=0)
            ax.set_ylabel("Axis 2 of the last frame")
        many = film.inputs.shape[1]
        self.points = ax.scatter([], [], s=28 if many < 200 else 16 if many < 1000 else 9, linewidths=0.8)
        style: dict[str, Any] = {"fontsize": 13, "fontweight": "bold", "ha": "center", "va": "center", "zorder": 3}
        self.texts = [
            ax.annotate(name, (0, 0), (0, 10), textcoords="offset points", color=colour, parse_math=False, **style)
            for name, colour in zip(film.format_names(), film.choose_colours(), strict=True)
        ]
        for text in self.texts:
            text.set_in_layout(False)
        said = "by the likeliest class" if film.labels is None else "by label; rings: another class is likelier"
        ax.set_title(said, loc="right", fontsize=9, color=GREY)
        ax.set_title(" ", fontsize=13)  # room for the one that changes
        self.title = ax.text(0, 1.012, "", fontsize=13, transform=ax.transAxes)
        ax.spines[["top", "right"]].set_visible(False)

    def _set_bars(self, ax: Axes) -> None:
        pics = self.film.timeline.pics
        shown = min(pics.shape[1], MOST_BARS)
        self.bars = ax.bar(np.arange(1, shown + 1), pics[-1, :shown], color=ROWS, width=0.7)
        ax.set(ylim=(0, 1), xlim=(0.4, max(shown, 3) + 0.6), xlabel="Component")
        ax.set_xticks(np.arange(1, shown + 1, 1 if shown <= 10 else 2))
        ax.set_title("PICs of the beliefs", loc="left", fontsize=11)
        ax.spines[["top", "right"]].set_visible(False)

    def _set_curves(self, ax: Axes) -> None:
        timeline = self.film.timeline
        most = timeline.pics.shape[1]
        curves = [(f"chi2 / {most}" if most > 1 else "chi2", timeline.chi2 / most, ROWS)]
        if timeline.accuracy is not None:
            curves.append(("accuracy", timeline.accuracy, COLUMNS))
        self.lines, self.dots = [], []
        for name, values, colour in curves:
            ax.plot(timeline.steps, values, color=colour, lw=1, alpha=0.25)
            self.lines.append((ax.plot([], [], color=colour, lw=2, label=name)[0], values))
            self.dots.append((ax.plot([], [], "o", color=colour, ms=5)[0], values))
        ax.set(ylim=(0, 1.02), xlabel="Step")
        ax.legend(loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=2, frameon=False, fontsize=10, borderaxespad=0.2)
        ax.spines[["top", "right"]].set_visible(False)


def _find_name_alphas(xy: np.ndarray, width: np.ndarray) -> np.ndarray:
    """How visible names at these places may be: 0 where they would cover each other, 1 where there is room."""
    room = np.stack([(width[:, None] + width) / 2, np.full((len(xy), len(xy)), 14.0)], axis=2)
    apart = np.max(np.abs(xy[:, None] - xy[None]) / room, axis=2)
    others = np.where(np.eye(len(xy), dtype=bool), np.inf, np.nan_to_num(apart, nan=np.inf))
    alpha = np.clip(2 * others.min(axis=1, initial=np.inf) - 1, 0, 1)
    return np.where(np.isfinite(xy).all(axis=1), alpha, 0)


# --- the page


def _page(film: Film, fps: float) -> str:
    environment = Environment(loader=PackageLoader("correspondence.recording", "."), autoescape=True)
    return environment.get_template("movie.html.j2").render(data=describe_film(film, fps))


def describe_film(film: Film, fps: float) -> dict[str, Any]:
    """Everything the page shows, as plain values and texts of bytes."""
    timeline = film.timeline
    accuracy = timeline.accuracy
    middle, half = film.find_view()
    scale = MAX_HALF_WIDTHS * half
    code = "uint8" if len(timeline.classes) <= 256 else "uint16"
    return {
        "fps": fps,
        "frames": len(film),
        "points": film.inputs.shape[1],
        "classes": film.format_names(),
        "colours": film.choose_colours(),
        "middle": middle.tolist(),
        "half": half.tolist(),
        "isLine": film.is_line,
        "code": code,
        "steps": timeline.steps.tolist(),
        "pics": timeline.pics[:, :MOST_BARS].round(4).tolist(),
        "components": timeline.pics.shape[1],
        "chi2": timeline.chi2.round(4).tolist(),
        "accuracy": None if accuracy is None else accuracy.round(5).tolist(),
        "transitions": [[t.start, t.end] for t in timeline.transitions],
        "inputs": _pack_numbers((film.inputs - middle) / scale * 32767, "int16"),
        "positions": _pack_numbers(np.nan_to_num((film.positions - middle) / scale, nan=-2) * 32767, "int16"),
        "guesses": _pack_numbers(film.guesses, code),
        "belief": _pack_numbers(255 * film.belief, "uint8"),
        "labels": None if film.labels is None else _pack_numbers(film.labels, code),
        "index": _pack_numbers(film.index, "int32"),
    }


def _pack_numbers(values: np.ndarray, kind: str) -> str:
    """Whole numbers of few bytes as base64; -32768 is left for what is not there."""
    limits = np.iinfo(kind)
    whole = np.clip(np.rint(values), limits.min, limits.max).astype(np.dtype(kind).newbyteorder("<"))
    return base64.b64encode(whole.tobytes()).decode()
