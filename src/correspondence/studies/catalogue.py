"""Titles of the studies, in a module that the command line can list without importing them."""

from __future__ import annotations

__all__ = ["STUDY_TITLES"]

# In the order of the paper, and what goes beyond it last.
STUDY_TITLES: dict[str, str] = {
    "brands": "Brands x personality traits: the paper's introductory example",
    "bsc": "Table 1, binary symmetric channel: paper, exact, ours",
    "gaussian": "Table 1 and Hermite figure, Gaussian pair: paper, exact, ours",
    "cooking": "Table 2 and factoring plane, What's Cooking: recipes and cuisines, held out",
    "wine": "Factoring planes, red wine: 11 attributes and quality, held out",
    "boundary": "Decision boundaries: trucks, automobiles and ships of CIFAR-10, with the images that confuse a net",
    "training-mnist": "A net learns digits: movie and timeline of one epoch on MNIST",
    "training-cifar": "A net learns ten kinds of photographs: movie and timeline on CIFAR-10",
    "multiview-mnist": "What two images of the same digit share: MNIST",
    "multiview-noisy-mnist": "What two views of a digit share, one turned, the other turned and noisy: noisy MNIST",
    "multiview-cifar": "What two photographs of the same class share: CIFAR-10",
    "flickr": "Image to tags and tag to images: photographs of Flickr8k and their captions, held out",
    "compas": "Two classifiers compared plane by plane: random forest and gradient boosting on COMPAS",
    "latent": "Number of shared components: classes M = 2 to 12, latent variables, unrelated views",
}
