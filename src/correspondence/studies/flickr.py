"""Photographs and their captions: the paper's correlations, image to tags and tag to images, on test photographs."""

from __future__ import annotations

import textwrap
import time
import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.decomposition import PCA

import correspondence as co
from correspondence.studies.catalogue import STUDY_TITLES
from correspondence.studies.report import Exhibit, Line, Report, correlation_lines, markdown_table
from correspondence.studies.runs import Settings

__all__ = ["STUDY_TITLE", "run_study"]

STUDY_TITLE = STUDY_TITLES["flickr"]
N_COMPONENTS, N_TERMS = 50, 500
PAPER_CORRELATIONS = np.array([0.317, 0.201, 0.095, 0.061, 0.047, 0.045, 0.031, 0.017])
N_PAPER_COMPONENTS = len(PAPER_CORRELATIONS)
TAGS_PER_IMAGE, IMAGES_PER_TAG = 5, 10  # tags of an image, images of a tag
N_COMMON_TAGS = 200  # tags whose images are looked for
N_SPARE_OUTPUTS = 4  # outputs of the nets beyond COMPONENTS
N_EPOCHS, BATCH_SIZE, N_EVALUATIONS = 24, 128, 4
RIDGE_CANDIDATES = (1.0, 10.0, 100.0)
RANKING_OPTIONS = [("posterior", False), ("gaussian", False), ("ratio", False), ("distance", False), ("distance", True)]
N_PIXEL_COMPONENTS, N_COLOUR_COLUMNS = (
    200,
    256,
)  # principal components of the pixels, columns of the histogram of colours
PHOTOS_IN_FIGURE = 6  # in the figure of tags
QUERY_TAGS = ("snow", "water", "beach", "grass", "dog", "bike", "ball", "mountain")
PHOTOS_PER_QUERY = 8  # photographs of each query
QUICK_PHOTOS = 220  # photographs of each part

ERRATA_SECTION = """\
## What it corrects

- The paper does not say whether its values are of photographs that the networks were trained on. Here all figures,
  unless "training" is said, are of the official test photographs; settings were chosen on the dev photographs.
- The paper ranks tags by the distance of f(x) and g(tag), in which a component counts as much however weak it is, and
  which does not know how common a tag is. Here it is p(tag | photograph) = p(tag) (1 + sum_i sqrt(lambda_i) f_i(x)
  E[g_i | tag]), the paper's own formula for a conditional expectation.
- It uses Flickr30k, which has four times as many photographs; Flickr8k is from the same makers, with captions made in
  the same way."""


@dataclass(frozen=True, eq=False)
class _Part:
    """Photographs, and in how many of its captions each has each term."""

    photos: np.ndarray
    captions: list[list[str]]
    counts: np.ndarray

    @property
    def logs(self) -> np.ndarray:
        return np.log1p(self.counts)

    @cached_property
    def has(self) -> np.ndarray:
        """Whether any caption of a photograph has a tag."""
        return self.counts > 0


@dataclass(frozen=True, eq=False)
class _PhotosAndCaptions:
    train: _Part
    dev: _Part
    test: _Part
    terms: Any

    @property
    def parts(self) -> tuple[_Part, _Part, _Part]:
        return self.train, self.dev, self.test


@dataclass(frozen=True, eq=False)
class _RetrievalResult:
    """A method on the test photographs; what it does not have is None."""

    name: str
    seed: int | None = None
    training: np.ndarray | None = None
    held_out: co.HeldOut | None = None
    tags: float | None = None
    """Precision of the tags of an image."""
    tags_without_prior: float | None = None
    images: float | None = None
    """Precision of the images of a tag."""
    seconds: float | None = None
    index: co.CrossModalIndex | None = None
    """Of the tags and the test photographs."""

    @property
    def sum(self) -> float | None:
        return None if self.held_out is None else float(self.held_out.correlations[:N_PAPER_COMPONENTS].sum())


def run_study(settings: Settings) -> Report:
    """Fit the nets for each seed, compare them with baselines on the test photographs, and show what they find."""
    data = load_data(settings.quick)
    baselines = judge_baselines(data)
    fits = [fit_nets(data, seed, settings.quick) for seed in range(settings.seeds)]
    nets = [result for result, _ in fits]
    single = _correlate_single_captions(data, fits[0][1])
    sections = [
        f"X are photographs of 64 x 64 pixels, Y in how many of its five captions a photograph has each of {N_TERMS} "
        f"terms (the commonest of the training captions, without stop words); {N_COMPONENTS} components. Learned from "
        f"{len(data.train.photos)} photographs, stopped by {len(data.dev.photos)}, judged on {len(data.test.photos)}.",
        f"![Photographs and tags](flickr-tags.png)\n\n{TAGS_CAPTION}",
        f"![Tags and photographs](flickr-images.png)\n\n{IMAGES_CAPTION}",
        "[A page to explore](flickr-explore.html) has all test photographs and tags.",
        make_correlation_table([*nets, *baselines]),
        f"![Correlations](flickr.png)\n\n{CORRELATION_CAPTION}",
        _describe_single_captions(single),
        make_retrieval_table([*nets, *baselines]),
        make_ranking_table(nets[0], data),
        describe_findings(nets, {result.name: result for result in baselines}),
        ERRATA_SECTION,
    ]
    figures = {
        "": draw_correlations(nets[0], baselines),
        "-tags": draw_tags_of_photos(nets[0], data),
        "-images": draw_photos_of_tags(nets[0], data),
    }
    page = {"-explore.html": lambda path: write_explorer_page(*fits[0], data, path)}
    rows = [make_csv_row(result) for result in (*nets, *baselines)]
    exhibits = make_exhibits(nets[0], baselines, single)
    return Report(STUDY_TITLE, rows, "\n\n".join(sections), figures, page, exhibits)


def make_exhibits(first: _RetrievalResult, baselines: list[_RetrievalResult], single: np.ndarray) -> list[Exhibit]:
    assert first.held_out is not None
    assert first.training is not None
    held_out, training = first.held_out.correlations[:N_PAPER_COMPONENTS], first.training[:N_PAPER_COMPONENTS]
    sums = [
        Line(
            "sum of eight correlations, one caption as in the paper",
            float(PAPER_CORRELATIONS.sum()),
            None,
            float(single.sum()),
        ),
        Line("sum of eight correlations, five captions", None, float(training.sum()), float(held_out.sum())),
    ]
    of_one = correlation_lines(single, paper=PAPER_CORRELATIONS)
    of_five = correlation_lines(held_out, training=training)
    lines = [
        *sums,
        *(replace(line, quantity=f"{line.quantity}, one caption") for line in of_one),
        *(replace(line, quantity=f"{line.quantity}, five captions") for line in of_five),
    ]
    names = {
        "tags": f"tags of a photograph: precision@{TAGS_PER_IMAGE}",
        "images": f"photographs of a tag: precision@{IMAGES_PER_TAG}",
    }
    found = {
        what: [
            Line(f"{name}, {result.name}", held_out=getattr(result, what))
            for result in (first, *baselines)
            if getattr(result, what) is not None
        ]
        for what, name in names.items()
    }
    return [
        Exhibit(
            "Table 3: photographs and captions",
            lines,
            "The paper's photographs are those of Flickr30k, ours the official test photographs of Flickr8k, a quarter "
            "as many to learn from; it does not say whether its values are of training data.",
            "",
        ),
        Exhibit(
            "Table 4: image to tags",
            found["tags"],
            "The paper shows three photographs, with five tags each, and no figure; here all test photographs are "
            "counted. The study's picture has photographs, which belong to their makers and are not published here.",
        ),
        Exhibit(
            "Table 5: tag to images",
            found["images"],
            f"The paper shows four photographs each of two tags; here the {N_COMMON_TAGS} commonest tags are counted.",
        ),
    ]


TAGS_CAPTION = f"""\
*Image to tags: {PHOTOS_IN_FIGURE} test photographs drawn at random (seed 0), with the first of their five captions and the {TAGS_PER_IMAGE}
most probable tags with p(tag | photograph), an estimate that is shown as 1 where it is above; bold are those that are
in one of the five captions.*"""
IMAGES_CAPTION = f"""\
*Tag to images: the {PHOTOS_PER_QUERY} test photographs that make a tag most likely, best first; those without the tag in any of
their five captions are framed in red.*"""
CORRELATION_CAPTION = f"""\
*Correlations of the first {N_PAPER_COMPONENTS} components on test photographs, with 95 % intervals for PICE; hollow: on training
photographs.*"""


# --- data and fits


def load_data(quick: bool) -> _PhotosAndCaptions:
    from correspondence.studies.captions import Terms  # here, because its module needs torch

    flickr = co.datasets.fetch_flickr8k()
    n = QUICK_PHOTOS if quick else len(flickr.images)
    terms = Terms(N_TERMS).fit(flickr.only("train").captions[:n])

    def part(name: str) -> _Part:
        of = flickr.only(name)
        return _Part(of.images[:n], of.captions[:n], terms.transform(of.captions[:n]))

    return _PhotosAndCaptions(part("train"), part("dev"), part("test"), terms)


def fit_nets(data: _PhotosAndCaptions, seed: int, quick: bool) -> tuple[_RetrievalResult, co.Decomposition]:
    """Learn the functions with two nets."""
    import torch

    from correspondence.studies.captions import CaptionNet, PhotoNet

    torch.manual_seed(seed)
    steps = 4 if quick else N_EPOCHS * len(data.train.photos) // BATCH_SIZE
    pice = co.PICE(
        N_COMPONENTS,
        PhotoNet(N_COMPONENTS + N_SPARE_OUTPUTS, width=8 if quick else 32),
        CaptionNet(data.train.counts, N_COMPONENTS + N_SPARE_OUTPUTS),
        "lowrank",
        batch_size=BATCH_SIZE,
        learning_rate=3e-3,
        weight_decay=0.05,
        max_steps=steps,
        evaluate_every=steps if quick else -(-steps // N_EVALUATIONS),
        schedule="anneal",
        random_state=seed,
    )
    start = time.perf_counter()
    with warnings.catch_warnings():
        if quick:
            warnings.simplefilter("ignore", co.CorrespondenceWarning)  # a few steps on a few photographs find little
        pice.fit(data.train.photos, data.train.counts, validation=(data.dev.photos, data.dev.counts))
    seconds = time.perf_counter() - start
    d = pice.decomposition_
    return judge_on_test("PICE", d, data, data.test.photos, "counts", seconds, seed), d


def judge_baselines(data: _PhotosAndCaptions) -> list[_RetrievalResult]:
    common = data.test.has[:, np.argsort(-data.train.has.mean(axis=0), kind="stable")[:N_COMMON_TAGS]]
    features = compute_histograms(data)
    return [
        fit_linear_baseline("CCA, pixels", data, _reduce_pixels(data)),
        fit_linear_baseline("CCA, colours", data, [rows[:, :N_COLOUR_COLUMNS] for rows in features]),
        fit_linear_baseline("CCA, colours and edges", data, features),
        _RetrievalResult("always the commonest tags", tags=float(common[:, :TAGS_PER_IMAGE].mean())),
        _RetrievalResult("chance", tags=float(data.test.has.mean()), images=float(common.mean())),
    ]


def _reduce_pixels(data: _PhotosAndCaptions) -> list[np.ndarray]:
    rows = [part.photos.reshape(len(part.photos), -1) / np.float32(255) for part in data.parts]
    pca = PCA(N_PIXEL_COMPONENTS, svd_solver="randomized", random_state=0).fit(rows[0])
    return [pca.transform(each) for each in rows]


def compute_histograms(data: _PhotosAndCaptions) -> list[np.ndarray]:
    import torch

    from correspondence.studies.captions import colours_and_edges

    def features(photos: np.ndarray) -> np.ndarray:
        blocks = torch.from_numpy(photos).split(250)  # histograms of many photographs take much memory
        return torch.cat([colours_and_edges(block.float()) for block in blocks]).numpy()

    return [features(part.photos) for part in data.parts]


def fit_linear_baseline(name: str, data: _PhotosAndCaptions, features: list[np.ndarray]) -> _RetrievalResult:
    """CCA with the ridge that is best on the dev photographs."""
    train, dev, test = features
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.LeftOut)  # some colours do not occur
        fits = [co.CCA(N_COMPONENTS, ridge).fit(train, data.train.logs) for ridge in RIDGE_CANDIDATES]
    best = max(fits, key=lambda cca: cca.evaluate(dev, data.dev.logs).correlations[:N_PAPER_COMPONENTS].sum())
    seconds = time.perf_counter() - start
    return judge_on_test(name, best.decomposition_, data, test, "logs", seconds)


def judge_on_test(
    name: str,
    d: co.Decomposition,
    data: _PhotosAndCaptions,
    X: np.ndarray,
    y: str,
    seconds: float,
    seed: int | None = None,
) -> _RetrievalResult:
    """Correlations and precisions on the test photographs, as X shows them; `y` says which values of a part are Y."""
    names, has = data.terms.names_, data.test.has
    index = co.CrossModalIndex.of_tags(d, names, getattr(data.train, y), data.train.has, None, X)
    return _RetrievalResult(
        name,
        seed,
        d.correlations,
        d.evaluate(X, getattr(data.test, y)),
        measure_tag_precision(index, X, has),
        measure_tag_precision(index.ranked("ratio"), X, has),
        measure_image_precision(index, has),
        seconds,
        index,
    )


def measure_tag_precision(index: co.CrossModalIndex, X: np.ndarray, has: np.ndarray) -> float:
    return float(np.take_along_axis(has, index.tags(X, k=TAGS_PER_IMAGE).index, axis=1).mean())


def measure_image_precision(index: co.CrossModalIndex, has: np.ndarray) -> float:
    """Over the commonest tags."""
    common = np.argsort(-index.prior, kind="stable")[:N_COMMON_TAGS]
    found = index.items(tags=index.items_y[common], k=IMAGES_PER_TAG).index
    return float(np.take_along_axis(has.T[common], found, axis=1).mean())


# --- report


def make_csv_row(result: _RetrievalResult) -> dict[str, Any]:
    held_out, training = result.held_out, result.training
    return {
        "method": result.name,
        "seed": result.seed,
        **{
            f"held_out_{i + 1}": None if held_out is None else float(held_out.correlations[i])
            for i in range(N_PAPER_COMPONENTS)
        },
        **{f"training_{i + 1}": None if training is None else float(training[i]) for i in range(N_PAPER_COMPONENTS)},
        "held_out_sum": result.sum,
        "captured": None if held_out is None else float(held_out.captured),
        "precision_of_tags": result.tags,
        "precision_of_tags_without_prior": result.tags_without_prior,
        "precision_of_images": result.images,
        "seconds": result.seconds,
    }


def make_correlation_table(results: list[_RetrievalResult]) -> str:
    lines: list[list[Any]] = []
    for result in results:
        if result.held_out is None or result.training is None:
            continue
        shown, training = result.held_out.correlations[:N_PAPER_COMPONENTS], result.training[:N_PAPER_COMPONENTS]
        lines.append(
            [f"**{_name_result(result)}**", "test", *_format_with_sum(shown), f"{result.held_out.captured:.2f}"]
        )
        lines.append(["", "training", *_format_with_sum(training), ""])
    lines.append(["paper, Flickr30k", "", *_format_with_sum(PAPER_CORRELATIONS), ""])
    header = ["method", "photographs", *map(str, range(1, N_PAPER_COMPONENTS + 1)), "sum", "captured"]
    return f"## Correlations\n\n{markdown_table(header, lines)}"


def _name_result(result: _RetrievalResult) -> str:
    return result.name if result.seed is None else f"{result.name}, seed {result.seed}"


def _format_with_sum(values: np.ndarray) -> list[str]:
    return [*(f"{value:.3f}" for value in values), f"{values.sum():.2f}"]


def _correlate_single_captions(data: _PhotosAndCaptions, d: co.Decomposition) -> np.ndarray:
    """Correlations of the same functions, asked about one caption at a time, as in the paper."""
    counts = data.terms.transform([[caption] for captions in data.test.captions for caption in captions])
    F, G = d.f(data.test.photos), d.g(counts)
    pairs = zip(np.repeat(F, len(G) // len(F), axis=0).T[:N_PAPER_COMPONENTS], G.T, strict=False)
    return np.array([np.corrcoef(f, g)[0, 1] for f, g in pairs])


def _describe_single_captions(single: np.ndarray) -> str:
    values = " ".join(f"{value:.3f}" for value in single)
    return (
        f"Five captions say more than one. With a single caption for Y, as in the paper, the same functions have "
        f"correlations {values} on the test photographs, sum {single.sum():.2f} (paper {PAPER_CORRELATIONS.sum():.2f})."
    )


def make_retrieval_table(results: list[_RetrievalResult]) -> str:
    lines = [
        [_name_result(r), r.tags, r.tags_without_prior, r.images, r.seconds and f"{r.seconds:.0f}"] for r in results
    ]
    header = [
        "method",
        f"tags: precision@{TAGS_PER_IMAGE}",
        "without the prior",
        f"images: precision@{IMAGES_PER_TAG}",
        "seconds of fit",
    ]
    notes = (
        f"The CCAs are linear, with a ridge chosen on the dev photographs: pixels by their {N_PIXEL_COMPONENTS} leading principal "
        "components, colours as shares of 64 colours in each quarter, edges as shares of directions in a grid. The net "
        "gets these shares too, beside the pixels."
    )
    return (
        "## Image to tags, tag to images\n\n"
        f"Of the {TAGS_PER_IMAGE} most probable tags of a test photograph, the share that is in its five captions; of the "
        f"{IMAGES_PER_TAG} best test photographs for each of the {N_COMMON_TAGS} commonest tags, the share whose captions have the tag."
        f"\n\n{markdown_table(header, lines)}\n\n{notes}"
    )


def make_ranking_table(first: _RetrievalResult, data: _PhotosAndCaptions) -> str:
    """The same places, ranked in each of the ways that an index has."""
    assert first.index is not None
    photos, has = data.test.photos, data.test.has
    captions = co.CrossModalIndex(first.index.decomposition, None, data.test.counts, None, photos)
    lines = []
    for by, scaled in RANKING_OPTIONS:
        tags, partners = first.index.ranked(by, scaled), captions.ranked(by, scaled)
        own = (partners.tags(photos, k=IMAGES_PER_TAG).index == np.arange(len(photos))[:, None]).any(axis=1).mean()
        name = f"`{by}`, scaled by sqrt(lambda)" if scaled else f"`{by}`"
        lines.append([name, measure_tag_precision(tags, photos, has), measure_image_precision(tags, has), float(own)])
    header = [
        "ranked by",
        f"tags: precision@{TAGS_PER_IMAGE}",
        f"images: precision@{IMAGES_PER_TAG}",
        f"own captions: recall@{IMAGES_PER_TAG}",
    ]
    return (
        "## Which ranking is best\n\nThe same functions, ranked in all ways of `CrossModalIndex`. The last column: the "
        f"share of the {len(photos)} test photographs whose own captions are among the {IMAGES_PER_TAG} found. A tag, which "
        "many photographs share, is ranked by `posterior` unless told otherwise; the captions of a photograph, which "
        f"are one of a kind, by `gaussian`.\n\n{markdown_table(header, lines)}"
    )


def describe_findings(nets: list[_RetrievalResult], baselines: dict[str, _RetrievalResult]) -> str:
    first, popular, chance = nets[0], baselines["always the commonest tags"], baselines["chance"]
    assert first.held_out is not None
    gains = first.held_out.correlations[:N_PAPER_COMPONENTS] / PAPER_CORRELATIONS
    linear = [result for result in baselines.values() if result.held_out is not None]
    tags, images = (
        ", ".join(f"{_format_ratio(getattr(result, what), base)} for {result.name}" for result in linear)
        for what, base in (("tags", popular.tags), ("images", chance.images))
    )
    return (
        f"PICE: the {N_PAPER_COMPONENTS} correlations are {gains.min():.1f} to {gains.max():.1f} times the paper's. Its tags are "
        f"{_format_ratio(first.tags, popular.tags)} times as precise as always naming the commonest ones ({tags}), its images "
        f"{_format_ratio(first.images, chance.images)} times as precise as chance ({images}). The density ratio alone, "
        f"without the prior, names rare tags: {first.tags_without_prior:.3f} of them are right."
    )


def _format_ratio(value: float | None, base: float | None) -> str:
    assert value is not None
    assert base is not None
    return f"{value / base:.2f}"


# --- figures


def draw_correlations(first: _RetrievalResult, baselines: list[_RetrievalResult]) -> Figure:
    figure = Figure(figsize=(9, 4.5), layout="constrained")
    ax = figure.subplots()
    at = np.arange(1, N_PAPER_COMPONENTS + 1)
    results = [first, *(result for result in baselines if result.held_out is not None)]
    for place, result, (colour, marker) in zip((-0.24, -0.08, 0.08, 0.24), results, co.plot.STYLES, strict=False):
        assert result.held_out is not None
        assert result.training is not None
        ax.plot(
            at + place, result.held_out.correlations[:N_PAPER_COMPONENTS], marker, color=colour, ms=7, label=result.name
        )
        ax.plot(at + place, result.training[:N_PAPER_COMPONENTS], marker, mfc="none", mec=colour, ms=7, alpha=0.7)
    assert first.held_out is not None
    ax.vlines(at - 0.24, *first.held_out.intervals[:N_PAPER_COMPONENTS].T, color=co.plot.STYLES[0][0], lw=1.2)
    ax.plot(at, PAPER_CORRELATIONS, "x", color="0.4", ms=8, label="paper, Flickr30k")
    ax.set(xlabel="Component", ylabel="Correlation", ylim=(min(0, ax.get_ylim()[0]), 1.02))
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=5, frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return figure


def draw_tags_of_photos(first: _RetrievalResult, data: _PhotosAndCaptions) -> Figure:
    assert first.index is not None
    chosen = np.random.default_rng(0).choice(len(data.test.photos), PHOTOS_IN_FIGURE, replace=False)
    found = first.index.tags(data.test.photos[chosen], k=TAGS_PER_IMAGE)
    columns = found.index, found.labels, found.probabilities
    figure = Figure(figsize=(9, 1.5 * PHOTOS_IN_FIGURE), layout="constrained")
    for j, (row, i) in enumerate(zip(figure.subplots(PHOTOS_IN_FIGURE, 2, width_ratios=[1, 4]), chosen, strict=True)):
        for ax in row:
            ax.axis("off")
        row[0].imshow(np.moveaxis(data.test.photos[i], 0, -1))
        caption = textwrap.fill(data.test.captions[i][0].strip(" ."), 70)
        row[1].text(0, 0.7, caption, va="center", fontsize=11, style="italic")
        for place, (tag, name, p) in enumerate(zip(*(column[j] for column in columns), strict=True)):
            text = f"{name}\n{p:.2f}"
            weight = "bold" if data.test.has[i, tag] else "normal"
            row[1].text(0.19 * place, 0.32, text, va="center", fontsize=11, weight=weight)
    return figure


def draw_photos_of_tags(first: _RetrievalResult, data: _PhotosAndCaptions) -> Figure:
    assert first.index is not None
    figure = Figure(figsize=(1.25 * PHOTOS_PER_QUERY + 1, 1.3 * len(QUERY_TAGS)), layout="constrained")
    found = first.index.items(tags=QUERY_TAGS, k=PHOTOS_PER_QUERY).index
    for row, name, best in zip(figure.subplots(len(QUERY_TAGS), PHOTOS_PER_QUERY), QUERY_TAGS, found, strict=True):
        tag = data.terms.names_.index(name)
        row[0].set_ylabel(name, rotation=0, ha="right", va="center", fontsize=13, labelpad=8)
        for ax, i in zip(row, best, strict=True):
            ax.imshow(np.moveaxis(data.test.photos[i], 0, -1))
            ax.set(xticks=[], yticks=[])
            ax.spines[:].set(color="none" if data.test.has[i, tag] else "tab:red", linewidth=3)
    return figure


# --- page


def write_explorer_page(first: _RetrievalResult, d: co.Decomposition, data: _PhotosAndCaptions, path: Path) -> Path:
    return co.explore(
        d,
        data.test.photos,
        path=path,
        held_out=first.held_out,
        names=("photograph", "tag"),
        x_labels=[captions[0].strip(" .") for captions in data.test.captions],
        index=first.index,
        title="Flickr8k: photographs and the words of their captions",
    )
