"""Texts and bags of words."""

import numpy as np
import pytest
import scipy.sparse as sp

from correspondence.data.encoders.choosing import encoder_for

SENTENCES = ["a dog runs", "two cats sleep", "the dog sleeps here", "a man runs fast"] * 2 + [
    "birds fly",
    "one cat sits",
]


def test_text_with_unknown_words_only():
    assert encoder_for(SENTENCES, "X")(["zebra quagga"], "X").nnz == 0


def test_new_bags_of_another_shape():
    with pytest.raises(ValueError, match="3 features, but"):
        encoder_for(sp.csr_array(np.eye(2)), "X")(sp.csr_array(np.eye(3)), "X")
    with pytest.raises(ValueError, match="must be a sparse matrix"):
        encoder_for(sp.csr_array(np.eye(2)), "X")(np.eye(2), "X")
