"""Two views of the same class: pairs of images drawn again in each pass, and the nets trained on them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

import correspondence as co
from correspondence.studies import nets
from correspondence.studies.nets import nn, torch

__all__ = [
    "CIFAR",
    "MNIST",
    "NOISY",
    "ViewPairs",
    "ViewRecipe",
    "draw_partners",
    "fit_views",
    "keep_images",
    "make_view_net",
    "pair_all_images",
    "rotate_and_add_noise",
    "rotate_images",
]

N_COMPONENTS = 40
View = Callable[[torch.Tensor, torch.Generator], torch.Tensor]
"""From images with values from 0 to 1, and a source of chance, to what is seen of them."""


def keep_images(images: torch.Tensor, chance: torch.Generator) -> torch.Tensor:
    """Return the images as they are."""
    return images


def rotate_images(images: torch.Tensor, chance: torch.Generator) -> torch.Tensor:
    """Turn each image about its centre by a uniform angle between -pi/4 and pi/4."""
    angle = (torch.rand(len(images), generator=chance) - 0.5) * (torch.pi / 2)
    cos, sin, zero = angle.cos(), angle.sin(), torch.zeros(len(images))
    turns = torch.stack([cos, -sin, zero, sin, cos, zero], dim=1).reshape(-1, 2, 3)
    grid = nn.functional.affine_grid(turns, list(images.shape), align_corners=False)
    return nn.functional.grid_sample(images, grid, align_corners=False)


def rotate_and_add_noise(images: torch.Tensor, chance: torch.Generator) -> torch.Tensor:
    """Turn each image (`rotate_images`) and add uniform noise from 0 to 1 to its pixels, cut off at 1."""
    turned = rotate_images(images, chance)
    return (turned + torch.rand(turned.shape, generator=chance)).clamp(0, 1)


@dataclass(frozen=True)
class ViewRecipe:
    """Views, nets and their training; settings were chosen on pairs of the last training images."""

    widths: tuple[int, ...]
    """Widths of the layers (`make_view_net`)."""
    passes: int
    """Passes through the training images."""
    batch_size: int
    lr: float
    weight_decay: float
    held_out: int
    """Number of training images, the last ones, that are not used in the fit."""
    view_x: View = keep_images
    view_y: View = keep_images
    normalised: bool = False
    """Whether the outputs have variance 1 in each batch; from small outputs faint components grow too slowly."""
    train_view: View | None = None
    """The view on which the nets are trained instead, such as images shifted and flipped at random."""

    @property
    def is_shared(self) -> bool:
        """Whether both views are of the same kind, so that one net serves both."""
        return self.view_x is self.view_y


MNIST = ViewRecipe((24, 48, 48, 96, 128), passes=4, batch_size=128, lr=3e-3, weight_decay=0.01, held_out=10_000)
NOISY = ViewRecipe(
    (24, 48, 48, 96, 128),
    passes=7,
    batch_size=128,
    lr=3e-3,
    weight_decay=0.01,
    held_out=10_000,
    view_x=rotate_images,
    view_y=rotate_and_add_noise,
)
CIFAR = ViewRecipe(
    (16, 32, 32, 64, 64, 128),
    passes=12,
    batch_size=256,
    lr=3e-3,
    weight_decay=0.01,
    held_out=5_000,
    normalised=True,
    train_view=nets.shift_and_flip,
)


def draw_partners(labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw for each image the index of another one of its class; each image is the partner of one."""
    chosen = np.arange(len(labels))
    for label in np.unique(labels):
        cycle = rng.permutation(np.flatnonzero(labels == label))
        chosen[cycle] = np.roll(cycle, 1)
    return chosen


def _to_unit_range(images: np.ndarray) -> torch.Tensor:
    """Return images with values from 0 to 1, of shape (n, channels, height, width)."""
    X = torch.from_numpy(images.astype(np.float32)).div_(255)
    return X.unsqueeze(1) if X.ndim == 3 else X


@dataclass(eq=False)
class ViewPairs:
    """Batches (x, y) of two images of the same class; every pass draws new partners and views.

    Parameters
    ----------
    images : ndarray of uint8
        The images have the shape (n, height, width) or (n, channels, height, width).
    labels : ndarray of shape (n,)
        Both images of a pair have the same label; labels are used for nothing else.
    view_x, view_y : callable
        They give what x and y show of an image.
    batch_size : int
        A batch has at most this number of pairs.
    seed : int
        It determines the order, the partners and the views. The p-th pass is the same for the same seed.

    Examples
    --------
    >>> images = np.arange(4, dtype=np.uint8)[:, None, None].repeat(2, 1).repeat(2, 2)
    >>> (x, y), = ViewPairs(images, np.array(["a", "a", "b", "b"]), keep_images, keep_images, 4, 0)
    >>> np.sort((x + y)[:, 0, 0, 0] * 255).round().tolist()   # 0 with 1, and 2 with 3
    [1.0, 1.0, 5.0, 5.0]
    """

    images: np.ndarray
    labels: np.ndarray
    view_x: View
    view_y: View
    batch_size: int
    seed: int
    passes: int = field(default=0, init=False)
    """Passes made so far."""

    def __iter__(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Make one pass; each image is once x and once y."""
        self.passes += 1
        rng = np.random.default_rng([self.seed, self.passes])
        chance = torch.Generator().manual_seed(int(rng.integers(2**62)))
        order, other = rng.permutation(len(self.labels)), draw_partners(self.labels, rng)
        for rows in np.array_split(order, -(-len(order) // self.batch_size)):
            x, y = _to_unit_range(self.images[rows]), _to_unit_range(self.images[other[rows]])
            yield self.view_x(x, chance).numpy(), self.view_y(y, chance).numpy()


def pair_all_images(
    recipe: ViewRecipe, images: np.ndarray, labels: np.ndarray, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return views of all images in their order, and of one partner each."""
    rng = np.random.default_rng(seed)
    chance = torch.Generator().manual_seed(int(rng.integers(2**62)))
    x, y = _to_unit_range(images), _to_unit_range(images[draw_partners(labels, rng)])
    return recipe.view_x(x, chance).numpy(), recipe.view_y(y, chance).numpy()


class ViewNet(nn.Sequential):
    """Layers for images, which are stored with the channels last because that is faster."""

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        """Compute outputs of shape (n, outputs)."""
        return super().forward(X.contiguous(memory_format=torch.channels_last))


def make_view_net(shape: tuple[int, ...], outputs: int, widths: tuple[int, ...], normalised: bool = False) -> nn.Module:
    """Make a net of convolutions and a layer behind them that has the last of the widths.

    For images with colours the convolutions are those of `nets.make_cnn`; others have fewer, most with steps of 2.
    """
    *convolutions, last = widths
    body = nets.make_cnn(shape[0], last, convolutions) if shape[0] > 1 else _make_strided_net(shape, last, convolutions)
    last_layers = [nn.BatchNorm1d(outputs, affine=False)] if normalised else []
    return ViewNet(body, nn.BatchNorm1d(last), nn.ReLU(), nn.Linear(last, outputs), *last_layers)


def _make_strided_net(shape: tuple[int, ...], outputs: int, widths: Sequence[int]) -> nn.Module:
    channels, height, width = shape
    layers: list[nn.Module] = []
    for i, more in enumerate(widths):
        size, step = 3 if i else 5, 1 if i == 2 else 2
        layers += [nn.Conv2d(channels, more, size, step, size // 2, bias=False), nn.BatchNorm2d(more), nn.ReLU()]
        channels, height, width = more, -(-height // step), -(-width // step)
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(channels * height * width, outputs, bias=False))


def fit_views(recipe: ViewRecipe, images: np.ndarray, labels: np.ndarray, seed: int) -> tuple[co.PICE, float]:
    """Learn the functions of the views, and measure the seconds that the fit takes.

    Parameters
    ----------
    recipe : ViewRecipe
        It describes views, nets and training.
    images, labels : ndarray
        The last ones are held out (`ViewRecipe.held_out`).
    seed : int
        It determines all random numbers.
    """
    torch.manual_seed(seed)
    start = time.perf_counter()
    train, rest = np.split(np.arange(len(labels)), [-recipe.held_out])
    view_x, view_y = (recipe.train_view or view for view in (recipe.view_x, recipe.view_y))
    pairs = ViewPairs(images[train], labels[train], view_x, view_y, recipe.batch_size, seed)
    steps = recipe.passes * -(-len(train) // recipe.batch_size)
    made: list[nn.Module] = []

    def net(shape: tuple[int, ...], outputs: int) -> nn.Module:
        if not (made and recipe.is_shared):
            made.append(make_view_net(shape, outputs, recipe.widths, recipe.normalised))
        return made[-1]

    pice = co.PICE(
        N_COMPONENTS,
        net,
        net,
        "lowrank",
        learning_rate=recipe.lr,
        weight_decay=recipe.weight_decay,
        max_steps=steps,
        evaluate_every=steps,
        schedule="anneal",
        random_state=seed,
    )
    pice.fit(pairs, validation=pair_all_images(recipe, images[rest], labels[rest], seed))
    return pice, time.perf_counter() - start
