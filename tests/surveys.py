"""A small survey for tests of pictures: an ordered question, two others, an age and a sex."""

import numpy as np
import pandas as pd


def make_survey(n=200, seed=0):
    """Make a survey whose answers depend on one hidden number."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n)
    levels = ["never", "seldom", "often"]
    often = pd.Categorical.from_codes(np.digitize(z + rng.normal(size=n), [-0.5, 0.5]), levels, ordered=True)
    return pd.DataFrame(
        {
            "often": often,
            "drink": np.where(z + rng.normal(size=n) > 0, "tea", "coffee"),
            "sugar": np.where(z + rng.normal(size=n) > 0.5, "yes", "no"),
            "age": 40 + 10 * z + rng.normal(size=n),
            "sex": rng.choice(["f", "m"], n),
        }
    )
