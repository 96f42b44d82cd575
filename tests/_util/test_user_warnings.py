import ast
import inspect
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from varying import Varying

import correspondence as co
from correspondence._util import user_warnings

SOURCE = Path(co.__file__).parent


def test_all_kinds_have_one_base_and_are_public():
    kinds = [getattr(user_warnings, name) for name in user_warnings.__all__]
    assert all(issubclass(kind, user_warnings.CorrespondenceWarning) for kind in kinds)
    assert issubclass(user_warnings.CorrespondenceWarning, UserWarning)  # what users silence today stays silent
    assert all(getattr(co, kind.__name__) is kind for kind in kinds)
    assert {name for name, thing in vars(user_warnings).items() if inspect.isclass(thing)} == set(user_warnings.__all__)


def find_warnings():
    """Yield every call of `warnings.warn` in the package, with the name of its file."""
    for path in SOURCE.rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "warnings.warn":
                yield path.name, call


@pytest.mark.slow
def test_every_warning_of_the_package_has_a_kind():
    found = {(name, ast.unparse(call.args[1]) if len(call.args) > 1 else None) for name, call in find_warnings()}
    assert len(found) > 10
    assert {kind for _, kind in found} <= set(user_warnings.__all__), found


@pytest.mark.slow
def test_no_warning_counts_frames_by_hand():
    for name, call in find_warnings():
        levels = [ast.unparse(keyword.value) for keyword in call.keywords if keyword.arg == "stacklevel"]
        assert levels == ["find_user_stacklevel()"], name


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ["classifier", "ca", "cca", "ace", "kernel"])
def test_cross_fitting_says_nothing_of_components_that_are_not_there(rng, name):
    """It said so of `ClassifierCA`, whose sentence was not among those to be silenced."""
    X = rng.normal(size=(150, 3))
    y = np.digitize(X[:, 0] + 0.5 * rng.normal(size=150), [-0.5, 0.5])
    est = {
        "classifier": co.ClassifierCA(LogisticRegression().fit(X, y), n_components=5),
        "ca": co.CA(n_components=5),
        "cca": co.CCA(n_components=5),
        "ace": co.ACE(n_components=5),
        "kernel": co.KernelCCA(n_components=5, n_landmarks=20),
    }[name]
    labels = y if name == "classifier" else y.astype(str)
    result = co.crossfit(est, np.digitize(X[:, 0], [-1, 0, 1]) if name == "ca" else X, labels)
    assert len(result.correlations) < 5


def test_a_warning_blames_the_line_of_the_user(rng):
    X, Y = rng.normal(size=(2, 100, 2))
    with pytest.warns(co.FewerComponents) as caught:
        co.CCA(n_components=5).fit(X, Y)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("name", ["evaluate", "crossfit", "compare", "decompose", "permutation_test"])
def test_a_warning_of_a_procedure_blames_the_line_of_the_user(rng, name):
    x, y = rng.normal(size=(2, 200, 1))
    X, Y = rng.normal(size=(2, 300, 2))
    if name != "decompose":
        X += Y
        y += x
        x[0], y[0] = 12, 12
    est = co.CCA(n_components=1)
    procedures = {
        "evaluate": lambda: est.fit(x[1:], y[1:]).evaluate(x, y),
        "crossfit": lambda: co.crossfit(est, x, y),
        "compare": lambda: co.compare(x, y, ["cca"], progress=False),
        "decompose": lambda: co.decompose(x, y, method="cca", verbose=False),
        "permutation_test": lambda: co.permutation_test(Varying(), X, Y, 19),
    }
    with pytest.warns(co.CorrespondenceWarning) as caught:
        procedures[name]()
    assert {warning.filename for warning in caught} == {__file__}


def test_an_analysis_collects_all_kinds_of_this_package():
    from correspondence.app.messages import collect_warnings

    with collect_warnings() as notes:
        warnings.warn("of this package", co.LeftOut, stacklevel=1)
        warnings.warn("of another", UserWarning, stacklevel=1)
    assert notes == ["of this package"]
