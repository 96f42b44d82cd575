"""Training by two processes is training by one."""

import copy
import warnings

import numpy as np
import polars as pl
import pytest
import torch
import torch.distributed as dist
from ranks import Ranks
from torch import nn

import correspondence as co
from correspondence.core.moments import Moments
from correspondence.estimators.pice import processes
from correspondence.estimators.pice.checkpoint import CHECKPOINT_FILE
from correspondence.estimators.pice.data import Blocks, Stream
from correspondence.estimators.pice.losses import LOSS_FUNCTIONS, Covariances
from correspondence.estimators.pice.nets import ImageNet

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("ranks")]  # which share two processes

SPLITS = ([50, 50], [99, 1], [31, 69])


@pytest.fixture(scope="module")
def ranks(tmp_path_factory):
    both = Ranks(tmp_path_factory.mktemp("ranks"))
    yield both
    both.close()


def two_nets(seed, batch_norm):
    torch.manual_seed(seed)
    norm = [nn.BatchNorm1d(16)] if batch_norm else []
    return nn.ModuleList(nn.Sequential(nn.Linear(5, 16), *norm, nn.SiLU(), nn.Linear(16, 4)) for _ in range(2))


def batches(n, seed=0):
    draws = np.random.default_rng(seed)
    for _ in range(4):
        x = draws.normal(size=(n, 5))
        yield x.astype(np.float32), (x + draws.normal(size=(n, 5)) + 3).astype(np.float32)


def steps(nets, loss, n, split):
    """Losses and gradients of a few steps on given weights; the last value are those of the buffers."""
    memory, losses, gradients = Covariances(), [], []
    for x, y in batches(n):
        start = sum(split[: processes.get_rank()])
        mine = slice(start, start + split[processes.get_rank()]) if processes.count_processes() > 1 else slice(None)
        nets.zero_grad()
        with processes.joint_batch_norm(nets):
            f, g = nets[0](torch.from_numpy(x[mine])), nets[1](torch.from_numpy(y[mine]))
        value = LOSS_FUNCTIONS[loss](*memory(f, g))
        value.backward()
        processes.sum_gradients(nets.parameters())
        losses.append(value.item())
        gradients += [p.grad.clone() for p in nets.parameters()]
    return losses, [g.numpy() for g in gradients], [b.numpy() for b in nets.buffers()]


def joint_steps(loss, n, split, batch_norm):
    return steps(two_nets(0, batch_norm), loss, n, split)


@pytest.mark.parametrize("loss", LOSS_FUNCTIONS)
@pytest.mark.parametrize("batch_norm", [False, True])
@pytest.mark.parametrize("split", [*SPLITS, [3, 5]], ids=str)
def test_loss_and_gradients_are_those_of_the_joint_batch(ranks, loss, batch_norm, split):
    """With 8 pairs in a batch the covariances are averaged with those of the batches before."""
    n = sum(split)
    exact_losses, exact_gradients, exact_buffers = steps(two_nets(0, batch_norm), loss, n, split)
    for losses, gradients, buffers in ranks(joint_steps, loss, n, split, batch_norm):
        np.testing.assert_allclose(losses, exact_losses, rtol=1e-6, atol=1e-6)
        scale = max(np.abs(g).max() for g in exact_gradients)
        for ours, exact in zip(gradients, exact_gradients, strict=True):
            np.testing.assert_allclose(ours, exact, rtol=1e-4, atol=1e-5 * scale)
        for ours, exact in zip(buffers, exact_buffers, strict=True):
            np.testing.assert_allclose(ours, exact, rtol=1e-5, atol=1e-6)


def images(channels_last):
    pixels = torch.randn(12, 1, 16, 16, generator=torch.Generator().manual_seed(0))
    return pixels.contiguous(memory_format=torch.channels_last) if channels_last else pixels


def image_gradients(mine):
    torch.manual_seed(0)
    net = ImageNet((1, 16, 16), 3).train()
    outputs = net(images(True)[mine]) if processes.count_processes() == 1 else None
    if outputs is None:
        with processes.joint_batch_norm(net):
            outputs = net(images(True)[mine])
    (outputs * torch.arange(36.0).reshape(12, 3)[mine].sin()).sum().backward()
    processes.sum_gradients(net.parameters())
    return outputs.detach().numpy(), [p.grad.numpy() for p in net.parameters()], list(net.state_dict())


def share_of_images():
    return image_gradients(slice(0, 5) if dist.get_rank() == 0 else slice(5, 12))


def test_batch_norm_of_images_is_that_of_the_joint_batch(ranks):
    outputs, exact, names = image_gradients(slice(None))
    found = ranks(share_of_images)
    np.testing.assert_allclose(np.vstack([part for part, _, _ in found]), outputs, atol=1e-5)
    for _, gradients, ours in found:
        assert ours == names
        for gradient, right in zip(gradients, exact, strict=True):
            np.testing.assert_allclose(gradient, right, atol=1e-5 * np.abs(right).max() + 1e-6)


# --- whole fits


def table(n=1501):
    draws = np.random.default_rng(0)
    X = draws.normal(size=(n, 4))
    return X, np.sign(X[:, 0] * X[:, 1]) + 0.3 * draws.normal(size=n)


def result(est, X, Y):
    F, G = est.transform(X, Y)
    return {
        "model": est.model_,
        "correlations": est.correlations_,
        "captured": est.validation_.captured if est.validation_ is not None else 0.0,
        "F": F,
        "G": G,
        "losses": [row["loss"] for row in est.history_],
        "steps": [row["step"] for row in est.history_],
    }


def fit_table(options):
    X, Y = table()
    return result(co.PICE(2, progress=False, **options).fit(X, Y), X, Y)


def fit_images(options):
    draws = np.random.default_rng(0)
    Y = draws.integers(2, size=300)
    X = draws.normal(size=(300, 1, 8, 8)) + Y[:, None, None, None]
    return result(co.PICE(1, progress=False, **options).fit(X, Y), X, Y)


def assert_same(found, exact, atol):
    """Up to the signs of functions, unless they shall be equal to the last bit."""
    assert found["model"] == exact["model"]
    assert found["steps"] == exact["steps"]
    for name in ("correlations", "captured", "losses"):
        np.testing.assert_allclose(found[name], exact[name], rtol=0, atol=atol, err_msg=name)
    sign = np.sign(np.sum(found["F"] * exact["F"], axis=0)) if atol else 1
    for name in ("F", "G"):
        np.testing.assert_allclose(sign * found[name], exact[name], rtol=0, atol=200 * atol, err_msg=name)


@pytest.mark.parametrize("loss", LOSS_FUNCTIONS)
def test_two_processes_fit_what_one_does(ranks, loss):
    options = {
        "loss": loss,
        "max_steps": 60,
        "evaluate_every": 20,
        "batch_size": 255,
    }  # with few, one process that reverses the rows of a batch is off too
    exact = fit_table(options)
    assert exact["model"] != "additive"
    first, second = ranks(fit_table, options)
    assert_same(first, exact, 1e-5)
    assert_same(second, first, 0)  # to the last bit


def test_two_processes_fit_images_as_one_does(ranks):
    options = {"max_steps": 12, "evaluate_every": 4, "batch_size": 64}
    exact = fit_images(options)
    first, second = ranks(fit_images, options)
    assert_same(first, exact, 1e-4)
    assert_same(second, first, 0)


def interrupted(folder, options):
    def stop(step, d):
        return step >= 40

    X, Y = table()
    co.PICE(2, progress=False, checkpoint=folder, callbacks=[stop], **options).fit(X, Y)


class StopError(Exception):
    pass


def broken_off(folder, options):
    """Both processes raise what the callback raises in the first one."""

    def stop(step, d):
        if step >= 40:
            raise StopError

    X, Y = table()
    try:
        co.PICE(2, progress=False, checkpoint=folder, callbacks=[stop], **options).fit(X, Y)
    except StopError:
        return processes.get_rank()


def test_a_checkpoint_of_two_processes_is_continued_by_two_or_one(ranks, tmp_path):
    options = {"max_steps": 60, "evaluate_every": 20, "batch_size": 255, "checkpoint_every": 7}
    whole, _ = ranks(fit_table, options)
    assert ranks(broken_off, tmp_path / "run", options) == [0, 1]
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / CHECKPOINT_FILE).write_bytes((tmp_path / "run" / CHECKPOINT_FILE).read_bytes())
    resumed, _ = ranks(fit_table, options | {"checkpoint": tmp_path / "run"})
    assert_same(resumed, whole, 0)
    assert_same(fit_table(options | {"checkpoint": tmp_path / "copy"}), whole, 1e-5)


def test_a_damaged_checkpoint_is_told_by_all(ranks, tmp_path):
    (tmp_path / CHECKPOINT_FILE).write_bytes(b"nothing")
    assert all("damaged" in text for text in ranks(error_of_fit, {"checkpoint": tmp_path}))


def error_of_fit(options):
    try:
        fit_table(options)
    except ValueError as error:
        return str(error)


def test_a_batch_has_a_row_for_each_process(ranks):
    assert all("at least the number of processes, 2" in text for text in ranks(error_of_fit, {"batch_size": 1}))


def dropout_masks():
    X, Y = table(600)
    seen = []

    class Noted(nn.Module):
        def __init__(self, inputs, outputs):
            super().__init__()
            self.layer, self.drop = nn.Linear(inputs, outputs), nn.Dropout(0.5)

        def forward(self, rows):
            values = self.drop(torch.ones(8, 8))
            if self.training:
                seen.append(values.numpy())
            return self.layer(rows)

    co.PICE(1, Noted, Noted, max_steps=2, progress=False).fit(X, Y + X[:, 0])
    return seen


def test_each_process_draws_its_own_dropout(ranks):
    alone = dropout_masks()
    first, second = ranks(dropout_masks)
    np.testing.assert_array_equal(first, alone)
    assert not any(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


def calls_and_warnings():
    calls = []
    draws = np.random.default_rng(0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        est = co.PICE(
            1, progress=False, evaluate_every=10, callbacks=[lambda step, d: calls.append(step) or step >= 20]
        )
        est.fit(draws.normal(size=500), draws.normal(size=500))
    return calls, len(caught), [row["step"] for row in est.history_]


def test_the_first_process_calls_and_warns_and_decides_for_all(ranks):
    first, second = ranks(calls_and_warnings)
    assert first == ([10, 20], 1, [10, 20])
    assert second == ([], 0, [10, 20])


# --- streams


class Counted:
    """Batches of different sizes, and who has read which of them in full."""

    def __init__(self, cuts):
        X, Y = table()
        self.parts = list(zip(np.split(X, cuts), np.split(Y, cuts), strict=True))

    def __iter__(self):
        return iter(self.parts)


CUTS = [300, 500, 810, 1000, 1200]


def fit_stream():
    X, Y = table()
    options = {"max_steps": 60, "evaluate_every": 20, "batch_size": 64, "progress": False}
    est = co.PICE(2, **options).fit(Counted(CUTS), validation=table(2000))
    return result(est, X, Y) | {"n": est.decomposition_.n}


class InBlocks(Counted, Blocks):
    pass


def fit_blocks(folder=None):
    X, Y = table()
    options = {"max_steps": 40, "evaluate_every": 20, "batch_size": 64, "progress": False, "checkpoint": folder}
    est = co.PICE(2, **options).fit(InBlocks(CUTS), validation=table(2000))
    return result(est, X, Y) | {"n": est.decomposition_.n, "speed": est.samples_per_second_}


def test_streams_are_shared(ranks):
    first, second = ranks(fit_stream)
    assert first["n"] == 1501
    assert_same(second, first, 0)
    assert first["correlations"][0] > 0.5


class Numbered(Blocks):
    def __iter__(self):
        return iter([(np.arange(500), np.arange(500)), (np.arange(500, 1001), np.arange(500, 1001))])


class Plain:
    def encode_rows(self, values):
        return values


def cut_batches():
    served = Stream((Plain(), Plain()), Numbered()).iterate_batches(64, 0, skip=1)
    return [next(served)[0] for _ in range(13)]


def test_blocks_are_shuffled_and_cut(ranks):
    """The joint batches are those of one process: all rows once, and the next time in another order."""
    alone = cut_batches()
    assert {len(part) for part in alone} <= {71, 72}
    assert len(set(np.concatenate(alone[-6:]).tolist())) == sum(map(len, alone[-6:]))
    assert (np.diff(alone[0]) != 1).sum() > 60
    for first, second, whole in zip(*ranks(cut_batches), alone, strict=True):
        assert abs(len(first) - len(second)) <= 1
        np.testing.assert_array_equal(np.concatenate([first, second]), whole)


def test_a_run_on_blocks_goes_on(ranks, tmp_path):
    whole, _ = ranks(fit_blocks)
    assert whole["n"] == 1501
    assert whole["speed"] > 0
    ranks(fit_blocks, tmp_path)
    again, _ = ranks(fit_blocks, tmp_path)
    assert_same(again, whole, 0)


def gathered_moments():
    draws = np.random.default_rng(processes.get_rank())
    F = draws.normal(size=(50 + processes.get_rank(), 2)) + 1e3
    return sum(processes.all_gather(Moments().update(F, F)))


def test_moments_are_merged(ranks):
    first, second = ranks(gathered_moments)
    assert first.n == 101
    np.testing.assert_array_equal(first.cov_fg, second.cov_fg)


def test_alone_nothing_is_asked():
    assert (processes.count_processes(), processes.get_rank(), processes.is_first()) == (1, 0, True)
    value = torch.ones(2)
    assert processes.all_reduce_own(value)[0] is value
    assert processes.all_gather(3) == [3]
    assert processes.all_have(True)
    assert not processes.all_have(False)
    net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    weights = copy.deepcopy(net.state_dict())
    processes.same_start(net)
    assert all(torch.equal(a, b) for a, b in zip(weights.values(), net.state_dict().values(), strict=True))


def fit_pairs():
    X, Y = table()
    frame = pl.DataFrame({f"x{i}": X[:, i] for i in range(4)} | {"y": Y})
    pairs = co.Pairs(frame.lazy(), x=["x0", "x1", "x2", "x3"], y=["y"])
    options = {"max_steps": 40, "evaluate_every": 20, "batch_size": 64, "progress": False}
    est = co.PICE(2, **options).fit(pairs, validation=(frame.select(pairs.x), frame.select("y")))
    return result(est, frame.select(pairs.x), frame.select("y")) | {"n": est.decomposition_.n}


def test_pairs_are_shared(ranks):
    alone = fit_pairs()
    first, second = ranks(fit_pairs)
    assert first["n"] == alone["n"] == 1501
    assert_same(second, first, 0)
    assert abs(first["correlations"][0] - alone["correlations"][0]) < 0.1
