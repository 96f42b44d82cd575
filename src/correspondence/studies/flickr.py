"""Photographs and their captions: the paper's correlations, image to tags and tag to images, on test photographs."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import correspondence as co
from correspondence.studies import markdown as md
from correspondence.studies.flickr_runs import (
    IMAGES_PER_TAG,
    N_COMMON_TAGS,
    N_COMPONENTS,
    N_PIXEL_COMPONENTS,
    N_SHOWN,
    N_TERMS,
    TAGS_PER_IMAGE,
    Guess,
    PhotosAndCaptions,
    RetrievalResult,
    correlate_single_captions,
    fit_linear_baselines,
    fit_nets,
    guess_tags,
    load_photos,
    measure_image_precision,
    measure_tag_precision,
)
from correspondence.studies.report import Exhibit, Line, Report, make_correlation_lines, make_panels
from correspondence.studies.runs import Settings

__all__ = ["run_study"]

PAPER_CORRELATIONS = np.array([0.317, 0.201, 0.095, 0.061, 0.047, 0.045, 0.031, 0.017])
RANKING_OPTIONS = [("posterior", False), ("gaussian", False), ("ratio", False), ("distance", False), ("distance", True)]
PHOTOS_IN_FIGURE = 6  # photographs in the figure of tags
QUERY_TAGS = ("snow", "water", "beach", "grass", "dog", "bike", "ball", "mountain")
PHOTOS_PER_QUERY = 8

ERRATA_SECTION = """\
## What it corrects

- The paper does not say whether its values are of photographs that the networks were trained on. Here all figures,
  unless "training" is said, are of the official test photographs; settings were chosen on the dev photographs.
- The paper ranks tags by the distance of f(x) and g(tag), in which a component counts as much however weak it is, and
  which does not know how common a tag is. Here it is p(tag | photograph) = p(tag) (1 + sum_i sqrt(lambda_i) f_i(x)
  E[g_i | tag]), the paper's own formula for a conditional expectation.
- It uses Flickr30k, which has four times as many photographs; Flickr8k is from the same makers, with captions made in
  the same way."""

TAGS_CAPTION = f"""\
*Image to tags: {PHOTOS_IN_FIGURE} test photographs drawn at random (seed 0), with the first of their five captions and
the {TAGS_PER_IMAGE} most probable tags with p(tag | photograph), an estimate that is shown as 1 where it is above; bold
are those that are in one of the five captions.*"""
IMAGES_CAPTION = f"""\
*Tag to images: the {PHOTOS_PER_QUERY} test photographs that make a tag most likely, best first; those without the tag
in any of their five captions are framed in red.*"""
CORRELATION_CAPTION = f"""\
*Correlations of the first {N_SHOWN} components on test photographs, with 95 % intervals for PICE; hollow: on training
photographs.*"""


def run_study(settings: Settings) -> Report:
    """Fit the nets for each seed, compare them with baselines on the test photographs, and show what they find."""
    data = load_photos(settings.quick)
    linear, guesses = fit_linear_baselines(data), guess_tags(data)
    nets = [fit_nets(data, seed, settings.quick) for seed in range(settings.seeds)]
    first, results = nets[0], [*nets, *linear]
    single = correlate_single_captions(data, first.index.decomposition)
    sections = [
        f"X are photographs of 64 x 64 pixels, Y in how many of its five captions a photograph has each of {N_TERMS} "
        f"terms (the commonest of the training captions, without stop words); {N_COMPONENTS} components. Learned from "
        f"{len(data.train.photos)} photographs, stopped by {len(data.dev.photos)}, judged on {len(data.test.photos)}.",
        md.show_picture("Photographs and tags", "flickr-tags.png", TAGS_CAPTION),
        md.show_picture("Tags and photographs", "flickr-images.png", IMAGES_CAPTION),
        "[A page to explore](flickr-explore.html) has all test photographs and tags.",
        make_correlation_table(results),
        md.show_picture("Correlations", "flickr.png", CORRELATION_CAPTION),
        describe_single_captions(single),
        make_retrieval_table(results, guesses),
        make_ranking_table(first, data),
        describe_findings(first, linear, guesses),
        ERRATA_SECTION,
    ]
    figures = {
        "": draw_correlations(first, linear),
        "-tags": draw_tags_of_photos(first, data),
        "-images": draw_photos_of_tags(first, data),
    }
    page = {"-explore.html": lambda path: write_explorer_page(first, data, path)}
    columns = {"method": "name", "precision_of_tags": "tags", "precision_of_images": "images"}
    guess_rows = [{column: getattr(guess, name) for column, name in columns.items()} for guess in guesses]
    rows = [*map(make_csv_row, results), *guess_rows]
    return Report(rows, sections, figures, page, make_exhibits(first, [*linear, *guesses], single))


def make_exhibits(
    first: RetrievalResult, others: Sequence[RetrievalResult | Guess], single: np.ndarray
) -> list[Exhibit]:
    training, paper_sum = first.training[:N_SHOWN], float(PAPER_CORRELATIONS.sum())
    one, five = "sum of eight correlations, one caption as in the paper", "sum of eight correlations, five captions"
    lines = [
        Line(one, paper_sum, held_out=float(single.sum())),
        Line(five, training=float(training.sum()), held_out=float(first.shown.sum())),
        *make_correlation_lines(single, "correlation {}, one caption", paper=PAPER_CORRELATIONS),
        *make_correlation_lines(first.shown, "correlation {}, five captions", training=training),
    ]
    tags, images = (
        [
            Line(f"{quantity}, {result.name}", held_out=getattr(result, what))
            for result in (first, *others)
            if getattr(result, what) is not None
        ]
        for what, quantity in (
            ("tags", f"tags of a photograph: precision@{TAGS_PER_IMAGE}"),
            ("images", f"photographs of a tag: precision@{IMAGES_PER_TAG}"),
        )
    )
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
            tags,
            "The paper shows three photographs, with five tags each, and no figure; here all test photographs are "
            "counted. The study's picture has photographs, which belong to their makers and are not published here.",
        ),
        Exhibit(
            "Table 5: tag to images",
            images,
            f"The paper shows four photographs each of two tags; here the {N_COMMON_TAGS} commonest tags are counted.",
        ),
    ]


def make_csv_row(result: RetrievalResult) -> dict[str, Any]:
    return {
        "method": result.name,
        "seed": result.seed,
        **{f"held_out_{i}": value for i, value in enumerate(result.shown, start=1)},
        **{f"training_{i}": value for i, value in enumerate(result.training[:N_SHOWN], start=1)},
        "held_out_sum": result.shown.sum(),
        "captured": result.held_out.captured,
        "precision_of_tags": result.tags,
        "precision_of_tags_without_prior": result.tags_without_prior,
        "precision_of_images": result.images,
        "seconds": result.seconds,
    }


# --- tables and sentences


def make_correlation_table(results: list[RetrievalResult]) -> str:
    lines = []
    for result in results:
        captured = f"{result.held_out.captured:.2f}"
        lines.append([f"**{_name_result(result)}**", "test", *_format_with_sum(result.shown), captured])
        lines.append(["", "training", *_format_with_sum(result.training[:N_SHOWN]), ""])
    lines.append(["paper, Flickr30k", "", *_format_with_sum(PAPER_CORRELATIONS), ""])
    header = ["method", "photographs", *map(str, range(1, N_SHOWN + 1)), "sum", "captured"]
    return md.make_section("Correlations", md.make_table(header, lines))


def _name_result(result: RetrievalResult) -> str:
    return result.name if result.seed is None else f"{result.name}, seed {result.seed}"


def _format_with_sum(values: np.ndarray) -> list[str]:
    return [*(f"{value:.3f}" for value in values), f"{values.sum():.2f}"]


def describe_single_captions(single: np.ndarray) -> str:
    values = " ".join(f"{value:.3f}" for value in single)
    return (
        f"Five captions say more than one. With a single caption for Y, as in the paper, the same functions have "
        f"correlations {values} on the test photographs, sum {single.sum():.2f} (paper {PAPER_CORRELATIONS.sum():.2f})."
    )


def make_retrieval_table(results: list[RetrievalResult], guesses: tuple[Guess, Guess]) -> str:
    header = [
        "method",
        f"tags: precision@{TAGS_PER_IMAGE}",
        "without the prior",
        f"images: precision@{IMAGES_PER_TAG}",
        "seconds of fit",
    ]
    lines: list[list[Any]] = [
        *([_name_result(r), r.tags, r.tags_without_prior, r.images, f"{r.seconds:.0f}"] for r in results),
        *([guess.name, guess.tags, None, guess.images, None] for guess in guesses),
    ]
    return md.make_section(
        "Image to tags, tag to images",
        f"Of the {TAGS_PER_IMAGE} most probable tags of a test photograph, the share that is in its five captions; of "
        f"the {IMAGES_PER_TAG} best test photographs for each of the {N_COMMON_TAGS} commonest tags, the share whose "
        "captions have the tag.",
        md.make_table(header, lines),
        "The CCAs are linear, with a ridge chosen on the dev photographs: pixels by their "
        f"{N_PIXEL_COMPONENTS} leading principal components, colours as shares of 64 colours in each quarter, edges as "
        "shares of directions in a grid. The net gets these shares too, beside the pixels.",
    )


def make_ranking_table(first: RetrievalResult, data: PhotosAndCaptions) -> str:
    """Compare all ways in which an index can rank the same places."""
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
    return md.make_section(
        "Which ranking is best",
        "The same functions, ranked in all ways of `CrossModalIndex`. The last column: the share of the "
        f"{len(photos)} test photographs whose own captions are among the {IMAGES_PER_TAG} found. A tag, which many "
        "photographs share, is ranked by `posterior` by default; the captions of a photograph, which are one of a "
        "kind, by `gaussian`.",
        md.make_table(header, lines),
    )


def describe_findings(first: RetrievalResult, linear: list[RetrievalResult], guesses: tuple[Guess, Guess]) -> str:
    gains = first.shown / PAPER_CORRELATIONS
    popular, chance = guesses[0].tags, guesses[1].images
    assert chance is not None
    tags = ", ".join(f"{result.tags / popular:.2f} for {result.name}" for result in linear)
    images = ", ".join(f"{result.images / chance:.2f} for {result.name}" for result in linear)
    return (
        f"PICE: the {N_SHOWN} correlations are {gains.min():.1f} to {gains.max():.1f} times the paper's. Its tags are "
        f"{first.tags / popular:.2f} times as precise as always naming the commonest ones ({tags}), its images "
        f"{first.images / chance:.2f} times as precise as chance ({images}). The density ratio alone, without the "
        f"prior, names rare tags: {first.tags_without_prior:.3f} of them are right."
    )


# --- figures and page


def draw_correlations(first: RetrievalResult, linear: list[RetrievalResult]) -> Figure:
    figure, ax = make_panels((9, 4.5))
    at = np.arange(1, N_SHOWN + 1)
    places = (-0.24, -0.08, 0.08, 0.24)
    for place, result, (colour, marker) in zip(places, [first, *linear], co.plot.STYLES, strict=False):
        ax.plot(at + place, result.shown, marker, color=colour, ms=7, label=result.name)
        ax.plot(at + place, result.training[:N_SHOWN], marker, mfc="none", mec=colour, ms=7, alpha=0.7)
    ax.vlines(at - 0.24, *first.held_out.intervals[:N_SHOWN].T, color=co.plot.STYLES[0][0], lw=1.2)
    ax.plot(at, PAPER_CORRELATIONS, "x", color="0.4", ms=8, label="paper, Flickr30k")
    ax.set(xlabel="Component", ylabel="Correlation", ylim=(min(0, ax.get_ylim()[0]), 1.02))
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=5, frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return figure


def draw_tags_of_photos(first: RetrievalResult, data: PhotosAndCaptions) -> Figure:
    chosen = np.random.default_rng(0).choice(len(data.test.photos), PHOTOS_IN_FIGURE, replace=False)
    found = first.index.tags(data.test.photos[chosen], k=TAGS_PER_IMAGE)
    columns = found.index, found.labels, found.scores
    figure, panels = make_panels((9, 1.5 * PHOTOS_IN_FIGURE), PHOTOS_IN_FIGURE, 2, width_ratios=[1, 4])
    for j, (row, i) in enumerate(zip(panels, chosen, strict=True)):
        for ax in row:
            ax.axis("off")
        row[0].imshow(np.moveaxis(data.test.photos[i], 0, -1))
        caption = textwrap.fill(data.test.captions[i][0].strip(" ."), 70)
        row[1].text(0, 0.7, caption, va="center", fontsize=11, style="italic")
        for place, (tag, name, p) in enumerate(zip(*(column[j] for column in columns), strict=True)):
            weight = "bold" if data.test.has[i, tag] else "normal"
            row[1].text(0.19 * place, 0.32, f"{name}\n{p:.2f}", va="center", fontsize=11, weight=weight)
    return figure


def draw_photos_of_tags(first: RetrievalResult, data: PhotosAndCaptions) -> Figure:
    size = 1.25 * PHOTOS_PER_QUERY + 1, 1.3 * len(QUERY_TAGS)
    figure, panels = make_panels(size, len(QUERY_TAGS), PHOTOS_PER_QUERY)
    found = first.index.items(tags=QUERY_TAGS, k=PHOTOS_PER_QUERY).index
    for row, name, best in zip(panels, QUERY_TAGS, found, strict=True):
        tag = data.terms.names_.index(name)
        row[0].set_ylabel(name, rotation=0, ha="right", va="center", fontsize=13, labelpad=8)
        for ax, i in zip(row, best, strict=True):
            ax.imshow(np.moveaxis(data.test.photos[i], 0, -1))
            ax.set(xticks=[], yticks=[])
            ax.spines[:].set(color="none" if data.test.has[i, tag] else "tab:red", linewidth=3)
    return figure


def write_explorer_page(first: RetrievalResult, data: PhotosAndCaptions, path: Path) -> co.ExplorerPage:
    return co.explore(
        first.index.decomposition,
        data.test.photos,
        path=path,
        overwrite=True,
        held_out=first.held_out,
        names=("photograph", "tag"),
        x_labels=[captions[0].strip(" .") for captions in data.test.captions],
        index=first.index,
        title="Flickr8k: photographs and the words of their captions",
    )
