"""What reads a decomposition of what is left once others are given: pictures, tables, or one clear sentence."""

import numpy as np
import pandas as pd
import pytest

import correspondence as co


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    z, e, noise, y = rng.normal(size=(4, 200))
    X = pd.DataFrame({"signal": z + e, "noise": noise})
    Y = np.column_stack([z + e + y, noise + y])
    return co.CCA(2).fit(X, Y, given=z), X, Y, z


def test_plane(fitted):
    est, X, Y, z = fitted
    for shown in (est, est.decomposition_):
        ax = co.plot.plane(shown, X=X, Y=Y, given=z)
        assert ax.get_xlabel().startswith("Axis 1")
    assert co.plot.scree(est) is not None
    with pytest.raises(ValueError, match="X and Y must both be given"):
        co.plot.plane(est, X=X, given=z)
    with pytest.raises(ValueError, match="given must hold"):
        co.plot.plane(est, X=X, Y=Y)
    with pytest.raises(ValueError, match="given must be None, as in the fit"):
        co.plot.plane(co.CCA(2).fit(X, Y), X=X, Y=Y, given=z)


def test_structure(fitted):
    est, X, Y, z = fitted
    found = co.structure(est, X, Y, given=z, held_out=co.crossfit(est, X, Y, given=z))
    frame = found.to_frame("pandas").set_index("column")
    assert abs(frame.loc["noise"]["correlation_1"]) + abs(frame.loc["noise"]["correlation_2"]) > 0.9
    with pytest.raises(ValueError, match="held_out must be None or a CrossFit"):
        co.structure(est, X, Y, given=z, held_out=(X, Y))
    with pytest.raises(ValueError, match="X and Y must both be given"):
        co.structure(est, X, given=z)


def test_one_clear_sentence_elsewhere(fitted, tmp_path):
    est, X, Y, _ = fitted
    for use in (
        lambda: co.explore(est, X, Y, tmp_path / "x.html"),
        lambda: co.CrossModalIndex(est, None, Y),
        lambda: co.CrossModalIndex.of_tags(est, ["a"], Y, np.ones((200, 1))),
        lambda: co.describe_axes(est, X, Y),
        lambda: co.Clusters(n_clusters=2).fit(est, X),
    ):
        with pytest.raises(ValueError, match="must be fitted without given variables"):
            use()
