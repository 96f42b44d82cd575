"""Pictures of points: arrays of images in one form."""

from __future__ import annotations

from typing import Any

import numpy as np

from correspondence._util.arguments import count_observations, take_rows
from correspondence.results.confusing import Confusing

__all__ = ["choose_pictures", "normalise_images"]


def choose_pictures(thumbnails: Any, confusing: Any, found: Confusing | None) -> np.ndarray | None:
    """Choose a picture for each confusing input: the input itself, or the one given for it."""
    if thumbnails is False or thumbnails is None:
        return None
    if found is None:
        raise ValueError("thumbnails need confusing: give the inputs, or what ClassifierCA.confusing returned.")
    if thumbnails is True:
        if isinstance(confusing, Confusing):
            raise ValueError("thumbnails must be the images themselves if confusing is a Confusing, got True.")
        thumbnails = confusing
    n = count_observations(thumbnails, "thumbnails")
    if n == len(found) and isinstance(confusing, Confusing):
        return normalise_images(np.asarray(thumbnails))
    if n <= found.index.max(initial=-1):
        raise ValueError(f"thumbnails must be one image for each input, got {n}.")
    return normalise_images(np.asarray(take_rows(thumbnails, found.index)))


def normalise_images(images: np.ndarray, name: str = "thumbnails") -> np.ndarray:
    """Return grey or coloured pictures, with channels last and values from 0 to 1."""
    if images.ndim == 4 and images.shape[-1] not in (1, 3, 4):
        images = np.moveaxis(images, 1, -1)
    if images.ndim == 4 and images.shape[-1] == 1:
        images = images[..., 0]
    if images.ndim not in (3, 4) or (images.ndim == 4 and images.shape[-1] not in (3, 4)):
        raise ValueError(
            f"{name} must be images of shape (n, height, width), with 1 or 3 channels before or after these two, "
            f"got shape {images.shape}."
        )
    if images.dtype == np.uint8:
        return images
    low, high = float(images.min(initial=0)), float(images.max(initial=1))
    return (images - low) / (high - low)
