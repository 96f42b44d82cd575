"""PICE on data of every kind, what it refuses, and what it promises."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import torch
from sklearn.exceptions import NotFittedError
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import correspondence as co
from correspondence.core.scoring import score_pairs
from correspondence.estimators.pice.judging import is_something_found
from correspondence.studies import problems

pytestmark = pytest.mark.slow


def fit(X, Y, n_components=2, **options):
    return co.PICE(n_components, **({"max_steps": 200, "progress": False} | options)).fit(X, Y)


def pairs(problem, n, seed=0):
    return problem.draw(n, np.random.default_rng(seed))


# --- accuracy: far looser than benchmarks/pice.py, on small samples


@pytest.mark.parametrize(
    ("problem", "tolerance"),
    [
        (problems.make_gaussian(0.5, d=2), 0.03),
        (problems.make_circular(d=2), 0.03),
        (problems.make_mixture(), 0.03),
        (problems.make_heavy_tails(d=2), 0.05),
        (problems.make_bsc(0.1, d=3), 0.05),
        (problems.make_random_table(8, 6, d=2), 0.05),
    ],
    ids=lambda value: value.name if isinstance(value, problems.Problem) else "",
)
def test_exact_values_are_found(problem, tolerance):
    d = len(problem.correlations)
    est = fit(*pairs(problem, 3000), d, max_steps=100)
    found = est.evaluate(*pairs(problem, 50_000, 1)).correlations
    np.testing.assert_allclose(found, problem.correlations, atol=tolerance)


def test_interactions_need_the_net(rng):
    X = rng.choice([-1.0, 1.0], size=(3000, 3))
    Y = np.where(rng.random(3000) < 0.9, X[:, 0] * X[:, 1], -X[:, 0] * X[:, 1])
    est = fit(X[:2500], Y[:2500], 1)
    assert est.model_ in ("net", "index")
    assert est.evaluate(X[2500:], Y[2500:]).correlations[0] == pytest.approx(0.8, abs=0.06)


def test_functions_of_one_index_are_found():
    """Nets find the leading pair quickly, and the other pairs are functions of it."""
    problem = problems.make_single_index()
    est = fit(*pairs(problem, 20_000), 2, max_steps=500)
    assert est.model_ == "index"
    np.testing.assert_allclose(est.evaluate(*pairs(problem, 50_000, 1)).correlations, problem.correlations, rtol=0.05)


@pytest.mark.parametrize("loss", ["pice", "lowrank", "dcca"])
def test_every_loss_learns(rng, loss):
    X = rng.normal(size=(3000, 4))
    Y = np.sign(X[:, 0] * X[:, 1]) + 0.2 * rng.normal(size=3000)
    est = fit(X, Y, 1, loss=loss, max_steps=500)
    assert est.validation_.correlations[0] > 0.7


def test_unrelated_data_give_a_warning(rng):
    with pytest.warns(co.NothingFound, match="Nothing was found"):
        est = fit(rng.normal(size=(1000, 3)), rng.normal(size=(1000, 3)))
    assert np.abs(est.evaluate(rng.normal(size=(20_000, 3)), rng.normal(size=(20_000, 3))).correlations).max() < 0.05


# --- data of every kind


@pytest.fixture
def shapes(rng):
    """Images of bright halves, with the side and the colour that they show."""
    side, channel = rng.integers(2, size=(2, 600))
    images = rng.normal(0, 0.3, size=(600, 3, 8, 8))
    for image, s, c in zip(images, side, channel, strict=True):
        image[c, :, 4 * s : 4 * s + 4] += 1
    return images.astype(np.float32), side, channel


def test_images_and_labels(shapes):
    images, side, channel = shapes
    labels = np.array(["left", "right"])[side]
    est = fit(images[:500], labels[:500], 1, batch_size=64)
    assert est.model_ in ("net", "index")
    assert est.evaluate(images[500:], labels[500:]).correlations[0] > 0.9
    frame = pd.DataFrame({"side": labels, "channel": channel})
    assert fit(images, frame, 2, batch_size=64).validation_.correlations.min() > 0.8


def test_texts_and_bags_of_words(rng):
    animals, plants = ["dog", "cat", "horse", "cow"], ["rose", "oak", "fern", "moss"]
    topic = rng.integers(2, size=600)
    texts = [
        " ".join([*rng.choice((animals, plants)[t], 3), *rng.choice(["a", "of", "big", "one", "old"], 3)])
        for t in topic
    ]
    labels = np.array(["animal", "plant"])[topic]
    est = fit(texts[:500], labels[:500], 1)
    assert est.evaluate(texts[500:], labels[500:]).correlations[0] > 0.9
    counts = sp.csr_array(rng.poisson(np.where(topic[:, None] == np.arange(20) % 2, 2.0, 0.1)))
    assert fit(counts, labels, 1).validation_.correlations[0] > 0.9
    assert fit(labels, counts, 1).validation_.correlations[0] > 0.9


def test_frames_of_numbers_and_categories(rng):
    n = 1500
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "colour": pd.Categorical(rng.choice(["r", "g", "b"], n)),
            "big": rng.random(n) < 0.5,
        }
    )
    y = frame["size"] * frame["big"] + (frame["colour"] == "r") + 0.1 * rng.normal(size=n)
    est = fit(frame, y, 1, max_steps=500)
    assert est.validation_.correlations[0] > 0.85
    assert est.feature_names_in_.tolist() == ["size", "colour", "big"]
    np.testing.assert_allclose(est.transform(pl.from_pandas(frame)), est.transform(frame))


@pytest.mark.parametrize("d", [1, 3])
def test_a_pair_far_out_does_not_hide_what_is_found(rng, d):
    """It makes the intervals wide; the ranks show the dependence all the same, and none where there is none."""
    F, noise = rng.normal(size=(2, 200, d))
    G = F + 0.3 * noise
    F[0] = G[0] = 60
    assert score_pairs(F, G, np.ones(d), level=0.99).intervals[0, 0] < 0
    assert is_something_found(F, G, np.full(d, 0.9))
    found = sum(is_something_found(*rng.normal(size=(2, 60, d)), np.full(d, 0.9)) for _ in range(200))
    assert found <= 10  # 1 % each of the score, the correlations and the ranks
    assert not is_something_found(np.zeros((60, d)), F[:60], np.full(d, 0.9))


def test_many_labels(rng):
    x = rng.integers(400, size=4000)
    y = np.where(rng.random(4000) < 0.8, x % 3, rng.integers(3, size=4000))
    est = fit(np.array([f"item {i}" for i in x]), y, 1, max_steps=400)
    assert est.validation_.correlations[0] > 0.6


def test_lists_and_tensors(rng):
    x, y = rng.normal(size=(300, 2)), rng.normal(size=(300, 1))
    y += x[:, :1]
    expected = fit(x, y, 1).transform(x)
    np.testing.assert_array_equal(fit(x.tolist(), y.tolist(), 1).transform(x), expected)
    np.testing.assert_array_equal(fit(torch.tensor(x), torch.tensor(y), 1).transform(torch.tensor(x)), expected)


# --- nets of the user's own


def test_own_nets_are_used_as_they_are(rng):
    X = rng.normal(size=(800, 3))
    Y = X[:, :1] ** 2 + 0.1 * rng.normal(size=(800, 1))
    net = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 2))
    before = {name: value.clone() for name, value in net.state_dict().items()}
    est = fit(X, Y, 1, x_net=net, y_net=lambda inputs, outputs: nn.Linear(inputs, outputs), max_steps=400)
    assert est.model_ in ("net", "index")
    assert est.validation_.correlations[0] > 0.8
    assert all((net.state_dict()[name] == value).all() for name, value in before.items())
    assert fit(X, Y, 1, x_net=net).transform(X).shape == (800, 1)


def test_own_net_for_images(shapes):
    images, side, _ = shapes
    est = fit(images, side, 1, x_net=lambda shape, k: nn.Sequential(nn.Flatten(), nn.Linear(int(np.prod(shape)), k)))
    assert est.validation_.correlations[0] > 0.8


class Broken(nn.Module):
    def __init__(self, result):
        super().__init__()
        self.layer = nn.Linear(3, 4)
        self.result = result

    def forward(self, rows):
        return self.result(self.layer(rows))


@pytest.mark.parametrize(
    ("net", "message"),
    [
        (Broken(lambda out: out[:, 0]), "x_net must return a tensor"),
        (Broken(lambda out: out[:3]), "x_net must return a tensor"),
        (Broken(lambda out: (out, out)), "x_net must return a tensor"),
        (Broken(lambda out: out[:, :1]), "x_net must return .* columns"),
        (Broken(lambda out: out * float("nan")), "x_net must return finite"),
        (nn.Linear(5, 4), "x_net cannot be applied"),
        (lambda inputs, outputs: "net", "x_net must be or make a"),
        (lambda inputs: nn.Linear(inputs, 4), "x_net could not be made"),
        (lambda inputs, outputs: nn.Linear(inputs, outputs + 1), "x_net and y_net must"),
        ("mlp", "x_net must"),
        (3, "x_net must"),
    ],
)
def test_bad_nets(rng, net, message):
    with pytest.raises(ValueError, match=message):
        fit(rng.normal(size=(100, 3)), rng.normal(size=100), x_net=net)


def test_nets_of_different_width(rng):
    with pytest.raises(ValueError, match="x_net and y_net must"):
        fit(rng.normal(size=(100, 2)), rng.normal(size=(100, 1)), x_net=nn.Linear(2, 3), y_net=nn.Linear(1, 4))


def test_divergence_is_caught(rng):
    class Exploding(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.zeros(3, 2))
            self.steps = 0

        def forward(self, rows):
            self.steps += self.training
            return rows @ (self.w + torch.randn(3, 2)) * (float("nan") if self.steps in self.bad else 1)

    X, Y = rng.normal(size=(200, 3)), rng.normal(size=(200, 1))
    net = Exploding()
    net.bad = {20}
    est = co.PICE(1, x_net=net, max_steps=60, validation_fraction=0, progress=False).fit(X, Y)
    assert np.isfinite(est.transform(X)).all()
    net.bad = range(20, 1000)
    with pytest.raises(RuntimeError, match="diverged"):
        co.PICE(1, x_net=net, max_steps=60, validation_fraction=0, progress=False).fit(X, Y)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_functions_of_wide_rows_do_not_depend_on_the_other_rows(rng, kind):
    X = (rng.random((5000, 150)) < 0.1).astype(float)  # a net takes them some thousand at a time
    Y = X[:, :2] + rng.normal(size=(5000, 2))
    est = fit(kind(X), Y, 1, max_steps=20, validation_fraction=0)
    some = rng.permutation(5000)[:300]
    side = est._nets[0]
    rows = side.encode_rows(kind(X))
    np.testing.assert_allclose(side.compute_outputs(rows)[some], side.compute_outputs(rows[some]), atol=1e-6)


# --- bad input


@pytest.mark.parametrize(
    ("X", "Y", "message"),
    [
        (np.zeros((5, 2)), np.zeros(4), "X and Y must have the same length"),
        (np.zeros((2, 2)), np.zeros(2), "n_components.* got 2"),
        (np.array([[1.0, np.inf], [2, 3], [4, 5]]), np.zeros(3), "Column 1 of X contains infinity"),
        (np.arange(6.0), ["a"] * 6, "Y has one class only"),
        (np.arange(6.0), None, "Y is missing"),
        (iter([]), None, "X must be an iterable"),
        ([], None, "X must give batches"),
        ([(np.empty((0, 2)), np.empty((0, 2)))], None, "X must give batches"),
        ([1, 2, 3], None, r"must give batches \(x, y\)"),
        ([(np.zeros(3), np.zeros(2))], None, "x and y .*must have the same length"),
        (5, np.zeros(3), "X must hold one value"),
    ],
)
def test_bad_data(X, Y, message):
    with pytest.raises(ValueError, match=message):
        fit(X, Y)


@pytest.mark.parametrize(
    ("value", "message"), [(np.nan, r"X contains NaN or infinity in 1 row"), (1e39, "beyond 3e38")]
)
def test_what_a_net_of_yours_cannot_take(value, message):
    X = np.ones((20, 2))
    X[3] = value
    with pytest.raises(ValueError, match=message):
        fit(X, np.arange(20.0), 1, x_net=nn.Linear(2, 1))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": 0}, "n_components must"),
        ({"loss": "mse"}, "loss must"),
        ({"loss": ["dcca"]}, "loss must"),
        ({"schedule": np.array(["plateau", "anneal"])}, "schedule must"),
        ({"batch_size": 0}, "batch_size must"),
        ({"learning_rate": -1.0}, "learning_rate must"),
        ({"learning_rate": float("nan")}, "learning_rate must"),
        ({"validation_fraction": 1.0}, "validation_fraction must"),
        ({"device": "abacus"}, "device must"),
        ({"random_state": None}, "random_state must"),
        ({"random_state": 2**40}, "random_state must"),
        ({"warm_start": "no"}, "warm_start must"),
        ({"callbacks": print}, "callbacks must"),
        ({"callbacks": [3]}, "callbacks must"),
        ({"checkpoint": "/proc/none/there"}, "checkpoint must"),
        ({"checkpoint": "a\0b"}, "checkpoint must"),
        ({"validation_fraction": 0.999, "n_components": 30}, "validation_fraction must leave"),
    ],
)
def test_bad_parameters(rng, options, message):
    x = rng.normal(size=120)
    with pytest.raises(ValueError, match=message):
        fit(x, x + rng.normal(size=120), **options)


def test_a_fit_that_fails_changes_nothing(rng):
    x = rng.normal(size=(200, 1))
    est = fit(x, x + rng.normal(size=(200, 1)), 1)
    before = est.transform(x)
    with pytest.raises(ValueError, match="same length"):
        est.fit(x, x[1:])
    np.testing.assert_array_equal(est.transform(x), before)


def test_fewer_components_than_asked_for(rng):
    x = rng.normal(size=500)
    with pytest.warns(co.FewerComponents, match="1 components"):
        est = fit(x, x > 0, 3)
    assert est.pics_.shape == (1,)


# --- promises


def test_equal_seeds_give_equal_results(rng):
    X = rng.normal(size=(600, 3))
    Y = X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=600)
    torch.manual_seed(5)
    state = torch.get_rng_state()
    first, second, other = (fit(X, Y, random_state=seed) for seed in (1, 1, 2))
    assert (torch.get_rng_state() == state).all()
    np.testing.assert_array_equal(first.transform(X), second.transform(X))
    assert first.history_ == second.history_
    assert np.abs(first.transform(X) - other.transform(X)).max() > 1e-6


def test_training_and_held_out_values_side_by_side(rng):
    x = rng.normal(size=1000)
    est = fit(x, x + rng.normal(size=1000))
    assert est.validation_.n == 150
    assert est.decomposition_.n == 1000
    lines = est.write_summary().splitlines()
    assert "additive model, 1000 pairs" in lines[0]
    assert float(lines[2].split()[1]) == pytest.approx(est.correlations_[0], abs=0.05)
    assert f"{est.validation_.correlations[0]:.4f} [" in lines[2]
    assert "captured" in lines[-1]
    assert {"step", "loss", "learning_rate", "correlations", "captured"} == set(est.history_[0])


def test_held_out_pairs_of_the_user(rng):
    x, z = rng.normal(size=(2, 500))
    noise = rng.normal(size=(2, 500))
    est = co.PICE(1, max_steps=100, progress=False).fit(x, x + noise[0], validation=(z, z + noise[1]))
    assert est.validation_.n == 500
    with pytest.raises(ValueError, match="validation must"):
        est.fit(x, x, validation=(z, z[1:]))


def test_without_validation_the_nets_are_trained_to_the_end(rng):
    x = rng.normal(size=500)
    est = fit(x, x + rng.normal(size=500), validation_fraction=0, max_steps=150, evaluate_every=50)
    assert est.validation_ is None
    assert est.model_ == "net"
    assert est.history_[-1]["step"] == 150
    assert est.history_[-1]["captured"] is None


def test_batches_smaller_than_the_number_of_components(rng):
    X = rng.normal(size=(1000, 3))
    Y = X + 0.3 * rng.normal(size=(1000, 3))
    for loss in ("dcca", "lowrank", "pice"):
        est = fit(X, Y, 5, batch_size=2, loss=loss, max_steps=300)
        assert np.isfinite(est.transform(X)).all()
        assert est.validation_.captured > 1


def test_callbacks_receive_decompositions(rng):
    X = rng.normal(size=(600, 2))
    Y = X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=600)
    seen = []

    def callback(step, d):
        seen.append((step, d.f(X[:5]), d))
        return step == 100

    fit(X, Y, 1, evaluate_every=50, callbacks=[callback], max_steps=500)
    assert [step for step, _, _ in seen] == [50, 100]
    np.testing.assert_array_equal(seen[0][2].f(X[:5]), seen[0][1])
    assert isinstance(seen[0][2], co.Decomposition)


def test_warm_start_goes_on(rng):
    X = rng.normal(size=(1500, 4))
    Y = np.sign(X[:, 0] * X[:, 1]) + 0.3 * rng.normal(size=1500)
    cold = fit(X, Y, 1, max_steps=100)
    warm = co.PICE(1, max_steps=100, progress=False, warm_start=True).fit(X, Y)
    first = warm.validation_.captured
    assert first == cold.validation_.captured
    assert warm.fit(X, Y).validation_.captured > first


def test_larger_than_memory(rng):
    X = rng.normal(size=(3000, 2))
    Y = X[:, :1] + 0.5 * rng.normal(size=(3000, 1))
    loader = DataLoader(TensorDataset(torch.tensor(X), torch.tensor(Y)), batch_size=256, shuffle=True)
    held_out = X[:300] * 1.0, Y[:300] * 1.0
    est = co.PICE(1, max_steps=100, progress=False).fit(loader, validation=held_out)
    assert est.decomposition_.n == 3000
    assert est.correlations_[0] == pytest.approx(1 / np.sqrt(1.25), abs=0.03)
    again = co.PICE(1, max_steps=100, progress=False).fit(loader, validation=held_out)
    np.testing.assert_allclose(again.transform(X), est.transform(X), atol=1e-6)
    batches = [(X[i : i + 500], Y[i : i + 500]) for i in range(0, 3000, 500)]
    listed = co.PICE(1, max_steps=100, progress=False).fit(batches)
    assert listed.validation_ is None
    assert listed.correlations_[0] == pytest.approx(1 / np.sqrt(1.25), abs=0.03)


# --- saving


@pytest.mark.parametrize("kind", ["additive", "net", "text", "images"])
def test_saved_and_loaded(tmp_path, rng, kind, shapes):
    X, Y = {
        "additive": lambda: (rng.normal(size=300), rng.normal(size=300)),
        "net": lambda: (rng.normal(size=(300, 2)), rng.choice(["a", "b", "c"], 300)),
        "text": lambda: (
            [" ".join(rng.choice(list("abcdefgh"), 2)) + f" w{i % 9} v{i}" for i in range(300)],
            rng.normal(size=300),
        ),
        "images": lambda: (shapes[0][:300], shapes[1][:300]),
    }[kind]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        est = fit(X, Y, 1, max_steps=20, validation_fraction=0.5 if kind == "additive" else 0)
    est.decomposition_.save(tmp_path / "model")
    d = co.load(tmp_path / "model")
    np.testing.assert_array_equal(d.f(X), est.transform(X))
    np.testing.assert_array_equal(d.g(Y), est.transform_y(Y))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(est)).transform(X), est.transform(X))


def test_own_nets_are_needed_to_load(tmp_path, rng):
    X, Y = rng.normal(size=(200, 2)), rng.normal(size=(200, 1))
    est = fit(X, Y, 1, x_net=nn.Linear(2, 1), max_steps=5, validation_fraction=0)
    est.decomposition_.save(tmp_path / "model")
    with pytest.raises(ValueError, match="x_net is missing"):
        co.load(tmp_path / "model")
    with pytest.raises(ValueError, match="x_net must have the shape"):
        co.load(tmp_path / "model", x_net=nn.Linear(3, 1))
    np.testing.assert_array_equal(co.load(tmp_path / "model", x_net=nn.Linear(2, 1)).f(X), est.transform(X))

    class Stubborn(nn.Linear):
        def load_state_dict(self, *_, **__):
            raise KeyError("mine")

    with pytest.raises(ValueError, match=r"^x_net cannot take .*mine"):
        co.load(tmp_path / "model", x_net=Stubborn(2, 1))


def test_conditional_expectation(rng):
    x = rng.normal(size=4000)
    y = x + 0.5 * rng.normal(size=4000)
    d = fit(x, y, 3, max_steps=100).decomposition_
    at = np.array([-1.0, 0.0, 1.0])
    np.testing.assert_allclose(d.conditional_expectation(lambda values: values, at), at, atol=0.1)


def test_the_data_of_the_fit_are_kept(tmp_path, rng):
    x = rng.normal(size=300)
    y = np.where(x + 0.1 * rng.normal(size=300) > 0, "high", "low").astype(object)
    d = fit(x, y, 1).decomposition_
    d.save(tmp_path / "model")
    expected = d.conditional_expectation({"high": 1, "low": 0}, [2.0])
    np.testing.assert_array_equal(
        co.load(tmp_path / "model").conditional_expectation({"high": 1, "low": 0}, [2.0]), expected
    )
    y[:] = "low"
    np.testing.assert_array_equal(d.conditional_expectation({"high": 1, "low": 0}, [2.0]), expected)


def test_other_byte_orders_can_be_saved(tmp_path, rng):
    x = rng.normal(size=300)
    d = fit(x, (x + rng.normal(size=300)).astype(">f8"), 1).decomposition_
    d.save(tmp_path / "model")
    np.testing.assert_array_equal(co.load(tmp_path / "model").f(x), d.f(x))


def test_nets_with_a_config_of_their_own(tmp_path, rng):
    X, Y = rng.normal(size=(200, 2)), rng.normal(size=(200, 1))
    net = nn.Linear(2, 1)
    net.config = {"type": "mine"}
    est = fit(X, Y, 1, x_net=net, max_steps=5, validation_fraction=0)
    est.decomposition_.save(tmp_path / "model")
    np.testing.assert_array_equal(co.load(tmp_path / "model", x_net=net).f(X), est.transform(X))
    with pytest.raises(ValueError, match="x_net must"):
        co.load(tmp_path / "model", x_net=lambda inputs, outputs: net)


def test_unrelated_data_of_other_kinds_give_a_warning(rng):
    """Nets could learn 200 noise images or 500 columns by heart."""
    y = rng.normal(size=200)
    for X in (rng.normal(size=(200, 1, 8, 8)), rng.normal(size=(200, 400))):
        with pytest.warns(co.NothingFound, match="Nothing was found"):
            fit(X, y, 1)


def test_a_weak_but_certain_component_is_not_called_nothing(rng):
    x = rng.normal(size=2000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit(x, x + rng.normal(size=2000), 10, max_steps=100)


def test_batches_of_one_row(shapes):
    images, side, _ = shapes
    loader = DataLoader(TensorDataset(torch.tensor(images[:257]), torch.tensor(side[:257])), batch_size=128)
    assert co.PICE(1, max_steps=10, progress=False).fit(loader).decomposition_.n == 257
    co.PICE(1, max_steps=10, progress=False, batch_size=1).fit(images, side)


def test_nets_without_anything_to_train(rng):
    X = rng.normal(size=(300, 2))
    est = fit(X, X + rng.normal(size=(300, 2)), 2, x_net=nn.Identity(), y_net=nn.Identity())
    assert est.history_ == []
    assert est.correlations_[0] == pytest.approx(0.7, abs=0.1)


def test_warm_start_with_other_settings_starts_anew(rng):
    X = rng.normal(size=(300, 2))
    Y = X[:, 0] * X[:, 1]
    est = co.PICE(1, max_steps=50, progress=False, warm_start=True).fit(X, Y)
    assert est.set_params(n_components=2).fit(X, Y).pics_.shape == (2,)


def test_nets_that_fail_on_some_rows(rng):
    class Log(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(1, 1)

        def forward(self, rows):
            return self.layer(torch.log(rows))

    X = np.r_[np.ones(100) + rng.random(100), -1.0][:, None]
    with pytest.raises((RuntimeError, ValueError), match=r"x_net must return finite|x_net returned NaN"):
        fit(X, rng.normal(size=101), 1, x_net=Log(), validation_fraction=0)


def test_few_pairs_give_a_warning(rng):
    x = rng.normal(size=50)
    with pytest.warns(co.NotHeldOut, match="Nothing is held out"):
        est = fit(x, x + rng.normal(size=50))
    assert est.model_ == "additive"
    assert est.validation_ is None


def test_a_summary_needs_a_fit():
    with pytest.raises(NotFittedError):
        co.PICE().summary()


def test_annealing_trains_to_the_last_step_and_keeps_the_best_nets():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(600, 2)), rng.normal(size=(600, 2))  # nothing to learn: a plateau from the start
    with pytest.warns(co.NothingFound, match="Nothing was found"):
        est = co.PICE(schedule="anneal", max_steps=400, evaluate_every=40, patience=1, validation_fraction=0.3).fit(
            X, Y
        )
    assert [look["step"] for look in est.history_] == list(range(40, 401, 40))
    rates = [look["learning_rate"] for look in est.history_]
    assert rates[4] == est.learning_rate
    assert rates[-1] == pytest.approx(est.learning_rate * 2.5 / 400)


def test_an_unknown_schedule_is_named():
    with pytest.raises(ValueError, match="schedule must"):
        co.PICE(schedule="cosine").fit(np.arange(50.0), np.arange(50.0))
