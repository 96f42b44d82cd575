"""Random joint distributions for the property tests."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays


@st.composite
def tables(draw, min_side=2, max_side=7):
    """Tables of counts without empty rows or columns; some of them with many zeros, some nearly independent."""
    shape = draw(st.tuples(st.integers(min_side, max_side), st.integers(min_side, max_side)))
    counts = draw(arrays(np.int64, shape, elements=st.integers(0, 50)))
    counts = counts.astype(float)
    counts[counts.sum(axis=1) == 0, 0] = 1
    counts[0, counts.sum(axis=0) == 0] = 1
    return counts
