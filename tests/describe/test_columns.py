"""What each column is taken for, as a table."""

import numpy as np
import pandas as pd

import correspondence as co


def test_a_messy_frame(rng):
    n = 120
    frame = pd.DataFrame(
        {
            "id": np.arange(n),
            "price": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
            "grade": rng.integers(1, 4, n),
            "when": (pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D")).strftime("%b %d %Y"),
            "tags": ["|".join(rng.choice(list("abc"), k, replace=False)) for k in rng.integers(1, 4, n)],
            "const": 1,
            "empty": None,
            "ok": rng.random(n) < 0.5,
        }
    )
    table = co.describe_columns(frame)
    kinds = dict(zip(table.to_frame("pandas")["column"], table.to_frame("pandas")["kind"], strict=True))
    assert kinds == {
        "id": "id",
        "price": "number",
        "grade": "label",
        "when": "date",
        "tags": "list",
        "const": "constant",
        "empty": "empty",
        "ok": "boolean",
    }
    assert table.facts[1].n_missing == frame["price"].isna().sum()
    assert "left out" in repr(table).splitlines()[2]
    assert "3 different whole numbers" in repr(table)
