"""Write the files beside this script: models, a search index, a checkpoint and a recording, and what they answer.

    python tests/saved/make.py FOLDER

The files in the repository were written before the modules were moved into rooms, by the commit that added them;
later code must read them and give the same answers (`tests/test_saved.py`). Never write them again: add new ones.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

import correspondence as co

N = 200


def draw_pairs():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 2))
    Y = np.column_stack([X[:, 0] + rng.normal(size=N), X[:, 1] ** 2 + rng.normal(size=N)])
    return X, Y


def draw_labels():
    rng = np.random.default_rng(1)
    x = rng.integers(4, size=N)
    return np.array(list("abcd"))[x], np.where(rng.random(N) < 0.3, rng.integers(3, size=N), x % 3)


def draw_frames():
    """Columns of both kinds."""
    import pandas as pd

    X, Y = draw_pairs()
    labels, _ = draw_labels()
    return pd.DataFrame({"number": X[:, 0], "label": labels}), pd.DataFrame({"y": Y[:, 0]})


def draw_classes():
    """Numbers, and classes that follow from them."""
    X, Y = draw_pairs()
    return X, np.array(["low", "middle", "high"])[np.digitize(Y[:, 0] + Y[:, 1], [0, 1.5])]


def draw_texts():
    labels, codes = draw_labels()
    words = {"a": "red apple", "b": "green pear", "c": "yellow banana", "d": "blue plum"}
    return [f"{words[label]} number {i % 7}" for i, label in enumerate(labels)], codes


def make_net(width, k):
    from torch import nn

    return nn.Sequential(nn.Linear(width, 4), nn.ReLU(), nn.Linear(4, k))


def make_pice(**options):
    return co.PICE(2, max_steps=60, evaluate_every=20, batch_size=64, random_state=0, progress=False, **options)


def make_decompositions():
    """Name, decomposition, and the x and y to ask it for."""
    pairs, labels, frames, texts = draw_pairs(), draw_labels(), draw_frames(), draw_texts()
    classifier = LogisticRegression(max_iter=1000).fit(pairs[0], labels[1])
    return {
        "ca": (co.CA(2).fit(*labels), labels),
        "ridge-ca": (co.CA(2, regularization=3.0).fit(*labels), labels),
        "cca": (co.CCA(2).fit(*pairs), pairs),
        "kernel": (co.KernelCCA(2, n_landmarks=20, random_state=0).fit(*pairs), pairs),
        "ace": (co.ACE(2).fit(*pairs), pairs),
        "ace-frames": (co.ACE(1).fit(*frames), frames),
        "cca-texts": (co.CCA(2, regularization=1e-3).fit(*texts), texts),
        "pice": (make_pice().fit(*pairs), pairs),
        "pice-texts": (make_pice().fit(*texts), texts),
        "beliefs": (
            co.ClassifierCA.from_beliefs(classifier.predict_proba(pairs[0]), classifier.classes_),
            (classifier.predict_proba(pairs[0]), labels[1]),
        ),
    }


def make_cross_fitted():
    """The same for models of scikit-learn, added when they could be saved."""
    from sklearn.ensemble import (
        GradientBoostingClassifier,
        HistGradientBoostingClassifier,
        RandomForestClassifier,
        RandomForestRegressor,
    )
    from sklearn.linear_model import Ridge
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    pairs, classes = draw_pairs(), draw_classes()
    forest = RandomForestRegressor(4, min_samples_leaf=10, random_state=0)
    classifiers = {
        "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
        "forest": RandomForestClassifier(4, min_samples_leaf=5, random_state=0),
        "boosting": GradientBoostingClassifier(n_estimators=3, random_state=0),
        "histogram-boosting": HistGradientBoostingClassifier(max_iter=3, random_state=0),
        "net": MLPClassifier((6,), solver="lbfgs", max_iter=50, random_state=0),
    }
    return {f"ace-{name}": (co.ACE(2, model).fit(*classes), classes) for name, model in classifiers.items()} | {
        "ace-both-sides": (co.ACE(2, forest, Ridge()).fit(*pairs), pairs)
    }


def ask_decomposition(d, values) -> dict[str, np.ndarray]:
    x, y = (part[:20] for part in values)
    return {"pics": d.pics, "f": d.f(x), "g": d.g(y)}


def make_index(est, values):
    return co.CrossModalIndex(est, [f"item {i}" for i in range(50)], values[1][:50])


def write_cross_fitted(folder: Path) -> None:
    answers = {}
    for name, (est, values) in make_cross_fitted().items():
        est.decomposition_.save(folder / f"{name}.safetensors")
        answers |= {f"{name}.{key}": value for key, value in ask_decomposition(est.decomposition_, values).items()}
    np.savez_compressed(folder / "answers-cross-fitted.npz", **answers)


def write_all(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    answers = {}
    made = make_decompositions()
    for name, (est, values) in made.items():
        est.decomposition_.save(folder / f"{name}.safetensors")
        answers |= {f"{name}.{key}": value for key, value in ask_decomposition(est.decomposition_, values).items()}
    index = make_index(*made["cca"])
    index.save(folder / "index.safetensors")
    answers["index.tags"] = np.array(index.tags(made["cca"][1][0][:5], k=3).labels, dtype=str)
    answers["checkpoint.correlations"] = train_with_checkpoint(folder / "checkpoint").correlations_
    write_recording(folder / "recording")
    write_cross_fitted(folder)
    np.savez_compressed(folder / "answers.npz", **answers)


def train_with_checkpoint(folder: Path):
    est = make_pice(checkpoint=folder, checkpoint_every=20, x_net=make_net, y_net=make_net)
    return est.fit(*draw_pairs())


def write_recording(folder: Path) -> None:
    from sklearn.linear_model import SGDClassifier

    X, y = draw_pairs()[0], draw_labels()[1]
    model = SGDClassifier(loss="log_loss", random_state=0)
    recorder = co.TrainingRecorder(model, X[:20], y[:20], every=5, path=folder)
    recorder.partial_fit(X, y, batch_size=20, epochs=2)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    write_all(Path(sys.argv[1]))
