"""A net, the images that it is trained on, and the accuracy that it reaches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import correspondence as co
from correspondence.studies import nets
from correspondence.studies.nets import torch

__all__ = ["Lesson"]

MAX_IMAGES_FOR_ACCURACY = 10_000  # training images on which the accuracy is measured


@dataclass(frozen=True, eq=False)
class Lesson:
    """A new net with its recipe, training images and test images."""

    recipe: nets.NetRecipe
    seed: int
    net: torch.nn.Module
    X: torch.Tensor
    y: np.ndarray
    X_test: torch.Tensor
    y_test: np.ndarray

    @classmethod
    def from_images(cls, recipe: nets.NetRecipe, data: co.datasets.ImageClasses, seed: int) -> Lesson:
        """Make a lesson whose net starts with weights drawn from the seed."""
        X, X_test = nets.to_inputs(data.train_images), nets.to_inputs(data.test_images)
        X_test = X_test.contiguous(memory_format=torch.channels_last)  # recorded often: a third less time
        position = {name: i for i, name in enumerate(data.classes)}
        y, y_test = (np.array([position[label] for label in part]) for part in (data.train_labels, data.test_labels))
        torch.manual_seed(seed)
        net = nets.make_cnn(X.shape[1], len(data.classes), recipe.widths)
        return cls(recipe, seed, net, X, y, X_test, y_test)

    def train_net(self, epochs: int | None = None, after_step: Callable[[], None] | None = None) -> None:
        """Train the net.

        Parameters
        ----------
        epochs : int, optional
            Train for this number of epochs instead of that of the recipe.
        after_step : callable, optional
            It is called after every step.
        """
        settings = self.recipe.training | ({} if epochs is None else {"epochs": epochs})
        nets.train_net(self.net, self.X, self.y, **settings, seed=self.seed, after_step=after_step)

    def measure_accuracies(self) -> tuple[float, float]:
        """Measure the accuracy on training images, at most `MAX_IMAGES_FOR_ACCURACY`, and on all test images."""
        return (
            nets.measure_accuracy(self.net, self.X[:MAX_IMAGES_FOR_ACCURACY], self.y[:MAX_IMAGES_FOR_ACCURACY]),
            nets.measure_accuracy(self.net, self.X_test, self.y_test),
        )
