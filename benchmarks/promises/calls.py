"""The calls of the library that are judged, without their warnings, and their answers as plain values."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import correspondence as co
from correspondence.app.analyze.inputs import Request, read_data
from correspondence.app.analyze.job import analyze_data

ALPHA = 0.05


def decompose_quietly(X, Y, n_components=None, seed=0):
    """Decompose without warnings, and tell whether anything was found."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        d = co.decompose(X, Y, n_components, random_state=seed, verbose=False, progress=False)
    return d, not any(says_nothing(warning) for warning in caught)


def says_nothing(warning) -> bool:
    category = getattr(co, "NothingFound", None)
    is_typed = category is not None and issubclass(warning.category, category)
    return is_typed or str(warning.message).startswith("Nothing was found")


def count_by_decompose(X, Y, seed=0) -> int:
    """Count the components that decompose reports: none if it says that nothing was found."""
    d, found = decompose_quietly(X, Y, seed=seed)
    return d.n_components if found else 0


def count_by_analyze(X, Y, seed=0) -> int:
    """Count the significant components of the command `correspondence analyze` on a file with these pairs."""
    x, y = (as_columns(values, name) for values, name in ((X, "x"), (Y, "y")))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "pairs.csv"
        pd.concat([x, y], axis=1).to_csv(file, index=False)
        data = read_data(Request(file, x=list(x.columns), y=list(y.columns)), progress=False)
        return analyze_data(data, random_state=seed, progress=False).n_significant or 0


def as_columns(values, prefix) -> pd.DataFrame:
    frame = pd.DataFrame(values)
    return frame.set_axis([f"{prefix}{i}" for i in range(frame.shape[1])], axis=1)


def count_by_latent_dimension(est, X, Y, seed=0) -> int:
    return co.latent_dimension(est, X, Y, ALPHA, random_state=seed, progress=False).n_components


def count_by_permutation_test(est, X, Y, seed=0, n_permutations=199) -> int:
    """Count the leading components whose p-value is at most 5 %."""
    test = co.permutation_test(est, X, Y, n_permutations, random_state=seed, progress=False)
    return int(np.logical_and.accumulate(np.asarray(test.pvalues) <= ALPHA).sum())


def reject_by_chi2(x, y) -> dict[str, bool]:
    """Tell whether independence is rejected, by the default p-value and by the classical one."""
    test = co.CA().fit(x, y).chi2_test_
    classical = getattr(test, "classical_pvalue", test.pvalue)
    return {"chi2_test_.pvalue": test.pvalue <= ALPHA, "classical p-value": classical <= ALPHA}


def reject_given(method, x, y, Z, seed=0, n_permutations=199) -> bool:
    """Tell whether a test finds that something is left of x and y once z is known."""
    est = {"cca": co.CCA, "ace": co.ACE}[method](n_components=1)
    test = co.permutation_test(est, x, y, n_permutations, given=Z, random_state=seed, progress=False)
    return bool(test.pvalues[0] <= ALPHA)


def reject_by_decompose_given(x, y, Z, seed=0) -> bool:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        co.decompose(x, y, given=Z, random_state=seed, verbose=False, progress=False)
    return not any(says_nothing(warning) for warning in caught)
