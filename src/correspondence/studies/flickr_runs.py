"""Photographs and captions: their parts, the nets and baselines fitted to them, and precisions on test photographs."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.decomposition import PCA

import correspondence as co

__all__ = [
    "Guess",
    "PhotosAndCaptions",
    "RetrievalResult",
    "correlate_single_captions",
    "fit_linear_baselines",
    "fit_nets",
    "guess_tags",
    "load_photos",
    "make_nets",
    "measure_image_precision",
    "measure_tag_precision",
]

N_COMPONENTS, N_TERMS = 50, 500
N_SHOWN = 8  # components that the paper has and the report shows
TAGS_PER_IMAGE, IMAGES_PER_TAG = 5, 10  # tags found for a photograph, photographs found for a tag
N_COMMON_TAGS = 200  # tags for which photographs are found
N_SPARE_OUTPUTS = 4  # outputs of the nets beyond N_COMPONENTS
N_EPOCHS, BATCH_SIZE, N_EVALUATIONS = 24, 128, 4
RIDGE_CANDIDATES = (1.0, 10.0, 100.0)
N_PIXEL_COMPONENTS = 200  # principal components of the pixels
N_COLOUR_COLUMNS = 256  # columns of the histogram of colours
QUICK_PHOTOS = 220  # photographs of each part in a quick run


@dataclass(frozen=True, eq=False)
class _PhotoPart:
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
class PhotosAndCaptions:
    """The official parts of Flickr8k, and the terms of their captions."""

    train: _PhotoPart
    dev: _PhotoPart
    test: _PhotoPart
    terms: Any

    @property
    def photos(self) -> list[np.ndarray]:
        """Photographs of each part."""
        return [part.photos for part in (self.train, self.dev, self.test)]


@dataclass(frozen=True)
class Guess:
    """Precisions on test photographs of guesses that look at no photograph; None where there is no guess."""

    name: str
    tags: float
    """Share of the tags of a photograph that are right."""
    images: float | None
    """Share of the photographs of a tag that are right."""


@dataclass(frozen=True, eq=False)
class RetrievalResult:
    """A method on the test photographs."""

    name: str
    training: np.ndarray
    held_out: co.HeldOut
    tags: float
    """Share of the tags of a photograph that are right."""
    tags_without_prior: float
    images: float
    """Share of the photographs of a tag that are right."""
    seconds: float
    index: co.CrossModalIndex
    """Index of the tags and the test photographs."""
    seed: int | None = None

    @property
    def shown(self) -> np.ndarray:
        """Held-out correlations of the first components."""
        return self.held_out.correlations[:N_SHOWN]


def load_photos(quick: bool) -> PhotosAndCaptions:
    """Load the three parts; the terms are chosen from the training captions."""
    from correspondence.studies.captions import Terms  # here, because its module needs torch

    flickr = co.datasets.fetch_flickr8k()
    n = QUICK_PHOTOS if quick else len(flickr.images)
    terms = Terms(N_TERMS).fit(flickr.only("train").captions[:n])
    train, dev, test = (
        _PhotoPart(part.images[:n], part.captions[:n], terms.transform(part.captions[:n]))
        for part in map(flickr.only, ("train", "dev", "test"))
    )
    return PhotosAndCaptions(train, dev, test, terms)


def make_nets(counts: np.ndarray, seed: int, quick: bool, n_epochs: int = N_EPOCHS) -> co.PICE:
    """Make the estimator with two nets, for captions with these counts of terms and their photographs."""
    import torch

    from correspondence.studies.captions import CaptionNet, PhotoNet

    torch.manual_seed(seed)
    steps = 4 if quick else n_epochs * len(counts) // BATCH_SIZE
    return co.PICE(
        N_COMPONENTS,
        PhotoNet(N_COMPONENTS + N_SPARE_OUTPUTS, width=8 if quick else 32),
        CaptionNet(counts, N_COMPONENTS + N_SPARE_OUTPUTS),
        "lowrank",
        batch_size=BATCH_SIZE,
        learning_rate=3e-3,
        weight_decay=0.05,
        max_steps=steps,
        evaluate_every=steps if quick else -(-steps // N_EVALUATIONS),
        schedule="anneal",
        random_state=seed,
    )


def fit_nets(data: PhotosAndCaptions, seed: int, quick: bool) -> RetrievalResult:
    """Learn the functions with two nets."""
    pice = make_nets(data.train.counts, seed, quick)
    start = time.perf_counter()
    with warnings.catch_warnings():
        if quick:
            warnings.simplefilter("ignore", co.CorrespondenceWarning)  # a few steps on a few photographs find little
        pice.fit(data.train.photos, data.train.counts, validation=(data.dev.photos, data.dev.counts))
    seconds = time.perf_counter() - start
    counts = data.train.counts, data.test.counts
    return judge_on_test("PICE", pice.decomposition_, data, data.test.photos, counts, seconds, seed)


def fit_linear_baselines(data: PhotosAndCaptions) -> list[RetrievalResult]:
    """Fit CCA to pixels and to fixed features of the photographs."""
    features = compute_histograms(data)
    return [
        fit_linear_baseline("CCA, pixels", data, reduce_pixels(data)),
        fit_linear_baseline("CCA, colours", data, [rows[:, :N_COLOUR_COLUMNS] for rows in features]),
        fit_linear_baseline("CCA, colours and edges", data, features),
    ]


def guess_tags(data: PhotosAndCaptions) -> tuple[Guess, Guess]:
    """Name always the commonest tags, and guess at random."""
    common = data.test.has[:, np.argsort(-data.train.has.mean(axis=0), kind="stable")[:N_COMMON_TAGS]]
    return (
        Guess("always the commonest tags", float(common[:, :TAGS_PER_IMAGE].mean()), None),
        Guess("chance", float(data.test.has.mean()), float(common.mean())),
    )


def reduce_pixels(data: PhotosAndCaptions) -> list[np.ndarray]:
    rows = [photos.reshape(len(photos), -1) / np.float32(255) for photos in data.photos]
    pca = PCA(N_PIXEL_COMPONENTS, svd_solver="randomized", random_state=0).fit(rows[0])
    return [pca.transform(each) for each in rows]


def compute_histograms(data: PhotosAndCaptions) -> list[np.ndarray]:
    import torch

    from correspondence.studies.captions import compute_colours_and_edges

    # In blocks, because histograms of many photographs take much memory.
    return [
        torch.cat([compute_colours_and_edges(block.float()) for block in torch.from_numpy(photos).split(250)]).numpy()
        for photos in data.photos
    ]


def fit_linear_baseline(name: str, data: PhotosAndCaptions, features: list[np.ndarray]) -> RetrievalResult:
    """Fit CCA with the ridge that is best on the dev photographs."""
    train, dev, test = features
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.LeftOut)  # some colours do not occur
        fits = [co.CCA(N_COMPONENTS, ridge).fit(train, data.train.logs) for ridge in RIDGE_CANDIDATES]
    best = max(fits, key=lambda cca: cca.evaluate(dev, data.dev.logs).correlations[:N_SHOWN].sum())
    seconds = time.perf_counter() - start
    return judge_on_test(name, best.decomposition_, data, test, (data.train.logs, data.test.logs), seconds)


def judge_on_test(
    name: str,
    d: co.Decomposition,
    data: PhotosAndCaptions,
    X: np.ndarray,
    Y: tuple[np.ndarray, np.ndarray],
    seconds: float,
    seed: int | None = None,
) -> RetrievalResult:
    """Evaluate functions of the test photographs X, and of captions Y in the training and the test part."""
    has = data.test.has
    index = co.CrossModalIndex.of_tags(d, data.terms.names_, Y[0], data.train.has, None, X)
    return RetrievalResult(
        name,
        d.correlations,
        d.evaluate(X, Y[1]),
        measure_tag_precision(index, X, has),
        measure_tag_precision(index.ranked("ratio"), X, has),
        measure_image_precision(index, has),
        seconds,
        index,
        seed,
    )


def measure_tag_precision(index: co.CrossModalIndex, X: np.ndarray, has: np.ndarray) -> float:
    """Return the share of the tags found for photographs that one of their captions has."""
    return float(np.take_along_axis(has, index.tags(X, k=TAGS_PER_IMAGE).index, axis=1).mean())


def measure_image_precision(index: co.CrossModalIndex, has: np.ndarray) -> float:
    """Return the share of the photographs found for the commonest tags whose captions have the tag."""
    common = np.argsort(-index.prior, kind="stable")[:N_COMMON_TAGS]
    found = index.items(tags=index.items_y[common], k=IMAGES_PER_TAG).index
    return float(np.take_along_axis(has.T[common], found, axis=1).mean())


def correlate_single_captions(data: PhotosAndCaptions, d: co.Decomposition) -> np.ndarray:
    """Return the correlations of the same functions with one caption at a time for Y, as in the paper."""
    counts = data.terms.transform([[caption] for captions in data.test.captions for caption in captions])
    F, G = d.f(data.test.photos), d.g(counts)
    pairs = zip(np.repeat(F, len(G) // len(F), axis=0).T[:N_SHOWN], G.T, strict=False)
    return np.array([np.corrcoef(f, g)[0, 1] for f, g in pairs])
