"""The movie of a recorded training: the factoring plane frame by frame, as a file or in the explorer's page."""

from __future__ import annotations

import subprocess
import warnings
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.animation import FFMpegWriter, PillowWriter
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke

from correspondence._util.arguments import is_number
from correspondence._util.ffmpeg import find_ffmpeg
from correspondence._util.files import new_file
from correspondence._util.progress import make_progress_bar
from correspondence._util.text import short_repr
from correspondence.page import explore
from correspondence.recording.film import Film
from correspondence.recording.frames import analyse_frame
from correspondence.scene.colours import COLUMNS, GREY, ROWS, list_distinct_colours

__all__ = ["check_movie", "write_explorer", "write_movie"]

MOVIE_SUFFIXES = (".mp4", ".gif", ".html")
MOST_BARS = 20  # PICs that are drawn as bars


def check_movie(path: str | Path, fps: float) -> None:
    """Raise the errors that are better raised before the frames are computed."""
    target = Path(path)
    if target.suffix.lower() not in MOVIE_SUFFIXES:
        raise ValueError(f"path must end with .mp4, .gif or .html, got {short_repr(str(path))}.")
    if not is_number(fps) or not 0 < fps <= 100:
        raise ValueError(f"fps must be a number above 0 and at most 100, got {short_repr(fps)}.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"path must be in an existing folder, got {target.parent}. Make it first.")
    if target.suffix.lower() == ".mp4":
        find_ffmpeg()


def write_explorer(recorder: Any, labels: np.ndarray | None, path: str | Path, max_points: int) -> Path:
    """Write the page that explores the last frame of a `TrainingRecorder` and plays all of them."""
    P = recorder.beliefs(-1)
    est = analyse_frame(P, recorder.classes)
    explore(
        est,
        P,
        path=path,
        overwrite=True,
        held_out=None if labels is None else est.evaluate(P, labels),
        classes=labels,
        names=("input", "class"),
        recorder=recorder,
        title="What a classifier learnt",
        max_points=max_points,
    )
    return Path(path)


def write_movie(film: Film, path: str | Path, *, fps: float = 15, progress: bool | None = None) -> Path:
    """Write a movie as ``.mp4`` or ``.gif``, whichever the path ends with; the parameters are those of `movie`."""
    check_movie(path, fps)
    is_gif = Path(path).suffix.lower() == ".gif"
    held = max(1, round(fps))  # the last frame stays for a second
    settings: dict[Any, Any] = {} if is_gif else {"animation.ffmpeg_path": find_ffmpeg()}
    try:
        with new_file(path) as temporary, mpl.rc_context(settings), warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Glyph .* missing from")  # a name in a script without a font
            scene = _MovieFigure(film, dpi=80 if is_gif else 120)
            writer = PillowWriter(fps=fps) if is_gif else FFMpegWriter(fps=fps)  # type: ignore[arg-type]
            with (
                make_progress_bar(len(film) + held, "movie", progress) as shown,
                writer.saving(scene.figure, str(temporary), scene.figure.dpi),
            ):
                for t in [*range(len(film)), *[len(film) - 1] * held]:
                    scene.show_frame(t)
                    writer.grab_frame()
                    shown.update()
    except subprocess.CalledProcessError as error:
        raise RuntimeError(f"ffmpeg could not write {path} ({error}). Write a .gif or .html instead.") from None
    return Path(path)


class _Still(Artist):
    """The pixels of a whole figure; figimage would resample them for every frame."""

    def __init__(self, pixels: np.ndarray) -> None:
        super().__init__()
        self.pixels = np.ascontiguousarray(pixels[::-1])
        self.set_zorder(-1)

    def draw(self, renderer: Any) -> None:
        gc = renderer.new_gc()
        renderer.draw_image(gc, 0, 0, self.pixels)
        gc.restore()


class _MovieFigure:
    """A figure whose parts move from frame to frame: the plane, the PICs, and the curves up to now."""

    def __init__(self, film: Film, dpi: int) -> None:
        self.film = film
        self.class_colours = list_distinct_colours(len(film.timeline.classes))
        self.point_colours = np.array([to_rgba(colour, 0.75) for colour in self.class_colours])
        self.figure = Figure(figsize=(11.2, 6.4), dpi=dpi, layout="constrained")
        grid = self.figure.add_gridspec(2, 2, width_ratios=[1.75, 1], height_ratios=[1, 1])
        self._set_plane(self.figure.add_subplot(grid[:, 0]))
        self._set_bars(self.figure.add_subplot(grid[0, 1]))
        self._set_curves(self.figure.add_subplot(grid[1, 1]))
        self._set_legend()
        self._freeze_background()
        self.show_frame(len(film) - 1)

    def _set_legend(self) -> None:
        names = self.film.format_names()
        if len(names) > 20:
            return
        handles = [Patch(color=colour, label=name) for name, colour in zip(names, self.class_colours, strict=True)]
        columns = max(1, min(len(names), 140 // (6 + max(map(len, names)))))
        style = {"frameon": False, "fontsize": 10, "handlelength": 1, "handletextpad": 0.4, "columnspacing": 1.4}
        legend = self.figure.legend(handles=handles, loc="outside lower left", ncols=columns, **style)
        for text in legend.get_texts():
            text.set_parse_math(False)

    def _freeze_background(self) -> None:
        """Make one picture of all that stays the same, because drawing axes again would take most of the time."""
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
        """Lay the figure out once, and show the whole view with the same unit on both axes."""
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
        own = self.point_colours[guesses if film.labels is None else film.labels]
        inside = own.copy()
        if film.labels is not None:
            inside[guesses != film.labels, 3] = 0  # a ring: believed to be another class
        self.points.set_offsets(film.inputs[t])
        self.points.set_edgecolor(own)
        self.points.set_facecolor(inside)

    def _show_names(self, t: int) -> None:
        """Write names above the means of the classes, within the axes; fade them where they would overlap."""
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
            for name, colour in zip(film.format_names(), self.class_colours, strict=True)
        ]
        for text in self.texts:
            text.set_in_layout(False)
        caption = "by the likeliest class" if film.labels is None else "by label; rings: another class is likelier"
        ax.set_title(caption, loc="right", fontsize=9, color=GREY)
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
        curves = [(f"total inertia / {most}" if most > 1 else "total inertia", timeline.chi2 / most, ROWS)]
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
    """Find how visible names at these places may be: 0 where they would overlap, 1 where there is room."""
    room = np.stack([(width[:, None] + width) / 2, np.full((len(xy), len(xy)), 14.0)], axis=2)
    apart = np.max(np.abs(xy[:, None] - xy[None]) / room, axis=2)
    others = np.where(np.eye(len(xy), dtype=bool), np.inf, np.nan_to_num(apart, nan=np.inf))
    alpha = np.clip(2 * others.min(axis=1, initial=np.inf) - 1, 0, 1)
    return np.where(np.isfinite(xy).all(axis=1), alpha, 0)
