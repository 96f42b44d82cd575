"""Nets of the studies: small ones, on images made here."""

from itertools import pairwise

import numpy as np
import pytest
import torch

from correspondence.studies import nets

pytestmark = pytest.mark.usefixtures("one_thread")
QUICK = {"epochs": 3, "batch_size": 16, "lr": 0.01, "weight_decay": 0.01, "augment": True, "seed": 0, "progress": False}


def draw_stripes(rng, n=72):
    """Draw noisy images of horizontal (class 0) and vertical (class 1) stripes at random phases."""
    y = rng.integers(2, size=n)
    wave = 60 * np.sin(np.arange(12) + rng.uniform(0, 2 * np.pi, (n, 1)))
    images = np.where(y[:, None, None], wave[:, None, :], wave[:, :, None])
    return (128 + images + rng.normal(0, 25, (n, 12, 12))).clip(0, 255).astype(np.uint8), y


def make_small_net(seed=0):
    torch.manual_seed(seed)
    return nets.make_cnn(1, 2, (8, 16, 16))


def join_weights(net):
    return torch.cat([value.double().ravel() for value in net.state_dict().values()])


def train_small_net(rng, **changes):
    images, y = draw_stripes(rng)
    net = make_small_net()
    nets.train_net(net, nets.to_inputs(images), y, **QUICK | changes)
    return net


def find_moves(X, moved):
    """Find whether each image is flipped and by how many rows and columns it is moved; exactly one must fit."""
    pad = nets.MAX_SHIFT_PIXELS
    height, width = X.shape[2:]
    padded = torch.nn.functional.pad(X, (pad,) * 4, mode="reflect")
    found = []
    for image, result in zip(padded, moved, strict=True):
        fits = [
            (flip, down - pad, right - pad)
            for flip in (False, True)
            for down in range(2 * pad + 1)
            for right in range(2 * pad + 1)
            if torch.equal(result.flip(-1) if flip else result, image[:, down : down + height, right : right + width])
        ]
        assert len(fits) == 1
        found.append(fits[0])
    return np.array(found)


@pytest.mark.parametrize(
    ("shape", "recipe"), [((3, 32, 32), nets.BOUNDARY), ((3, 32, 32), nets.CIFAR), ((1, 28, 28), nets.MNIST)]
)
def test_logits_of_the_recipes(shape, recipe):
    torch.manual_seed(1)  # of one net in a hundred all seven logits are positive
    net = nets.make_cnn(shape[0], 7, recipe.widths).eval()
    logits = net(torch.randn(5, *shape))
    assert logits.shape == (5, 7)
    assert logits.min() < 0  # neither probabilities nor rectified
    assert [layer.out_channels for layer in net if isinstance(layer, torch.nn.Conv2d)] == list(recipe.widths)
    pooled = net[: [type(layer) for layer in net].index(torch.nn.AdaptiveAvgPool2d)](torch.randn(5, *shape))
    assert pooled.shape[2] == shape[1] // 2 ** (len(recipe.widths) // 2)


@pytest.mark.slow
def test_recipes_are_arguments_of_the_training():
    recipe = nets.NetRecipe((8, 16, 16), epochs=3, batch_size=16, lr=0.01, weight_decay=0.01, augment=True)
    net = train_small_net(np.random.default_rng(0), **recipe.training)
    assert torch.equal(join_weights(net), join_weights(train_small_net(np.random.default_rng(0))))


def test_inputs():
    images = np.array([0, 255, 51], dtype=np.uint8).reshape(3, 1, 1).repeat(4, 1).repeat(6, 2)
    X = nets.to_inputs(images)
    assert X.dtype == torch.float32
    assert X.shape == (3, 1, 4, 6)
    np.testing.assert_allclose(X[:, 0, 2, 3], [-2, 2, -1.2], rtol=1e-6)
    coloured = np.stack([images, 255 - images], axis=1)
    assert nets.to_inputs(coloured).shape == (3, 2, 4, 6)
    assert torch.equal(nets.to_inputs(coloured)[:, :1], X)


def test_inputs_are_a_copy_also_of_images_that_cannot_be_written():
    images = np.full((2, 4, 4), 7, dtype=np.float32)
    images.flags.writeable = False
    nets.to_inputs(images)
    assert (images == 7).all()


def test_augmentation_moves_and_flips():
    X = torch.randn(300, 3, 9, 11, generator=torch.Generator().manual_seed(0))
    moved = nets.shift_and_flip(X, torch.Generator().manual_seed(1))
    assert moved.shape == X.shape
    assert moved.dtype == X.dtype
    flips, rows, columns = find_moves(X, moved).T
    assert 0.4 < flips.mean() < 0.6
    steps = set(range(-nets.MAX_SHIFT_PIXELS, nets.MAX_SHIFT_PIXELS + 1))
    assert set(rows.tolist()) == steps
    assert set(columns.tolist()) == steps
    for one, other in ((rows, columns), (flips, rows), (flips, columns)):
        assert abs(np.corrcoef(one, other)[0, 1]) < 0.2  # drawn independently


@pytest.mark.slow
def test_augmentation_changes_the_training():
    with_, without = (
        join_weights(train_small_net(np.random.default_rng(0), augment=augment)) for augment in (True, False)
    )
    assert not torch.equal(with_, without)


@pytest.mark.slow
@pytest.mark.parametrize("augment", [True, False])
def test_training_repeats_for_a_seed(augment):
    first, again, other = (
        join_weights(train_small_net(np.random.default_rng(0), seed=seed, augment=augment)) for seed in (3, 3, 4)
    )
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


@pytest.mark.slow
def test_training_learns(rng):
    images, y = draw_stripes(rng, 300)
    fresh, truth = draw_stripes(rng, 500)
    X, net = nets.to_inputs(fresh), make_small_net()
    assert nets.measure_accuracy(net, X, truth) < 0.8
    nets.train_net(net, nets.to_inputs(images), y, **QUICK | {"epochs": 8})
    assert not net.training
    assert nets.measure_accuracy(net, X, truth) > 0.97


def test_after_step_once_per_batch_and_free_to_evaluate():
    seen = []

    def record():
        seen.append(join_weights(net))
        net.eval()

    images, y = draw_stripes(np.random.default_rng(0))
    net = make_small_net()
    nets.train_net(net, nets.to_inputs(images), y, **QUICK, after_step=record)
    assert len(seen) == 3 * 5  # 72 images in batches of 16, the last of 8
    assert torch.equal(seen[-1], join_weights(net))
    assert torch.equal(
        join_weights(net), join_weights(train_small_net(np.random.default_rng(0)))
    )  # as without the recorder


def test_learning_rate_ends_at_zero(rng):
    seen = []
    images, y = draw_stripes(rng)
    net = make_small_net()
    nets.train_net(
        net,
        nets.to_inputs(images),
        y,
        **QUICK,
        after_step=lambda: seen.append(torch.nn.utils.parameters_to_vector(net.parameters()).detach()),
    )
    steps = [float((after - before).norm()) for before, after in pairwise(seen)]
    assert 0 < steps[-1] < 0.01 * max(steps)
    assert steps[0] < 0.5 * max(steps)


def test_progress(rng, capsys):
    train_small_net(rng, progress=True)
    assert "training: 100%" in capsys.readouterr().err
    train_small_net(rng)
    assert capsys.readouterr().err == ""


def test_accuracy_counts_in_evaluation_mode():
    net = torch.nn.Sequential(torch.nn.Dropout(0.99), torch.nn.Flatten()).train()
    X = torch.eye(4).repeat(600, 1).reshape(-1, 4, 1, 1)  # more than one batch
    y = np.tile(np.arange(4, dtype=np.uint8), 600)
    y.flags.writeable = False
    assert nets.measure_accuracy(net, X, y) == 1
    assert nets.measure_accuracy(net, X, np.where(y == 3, 0, y)) == 0.75
