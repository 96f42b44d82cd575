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


def test_texts_of_the_same_known_words():
    texts = [f"invoice number {i} of the year" for i in range(200)]
    with pytest.raises(ValueError, match=r"X .*constant"):
        encoder_for(texts, "X")


def test_wide_sparse_matrices_stay_sparse_for_linear_methods(rng):
    wide = sp.csr_array(rng.poisson(0.01, size=(50, 1200)).astype(float))
    encoder = encoder_for(wide, "X", linear=True)
    rows = encoder(wide, "X")
    assert encoder.kind == "sparse columns"
    assert sp.issparse(rows)
    np.testing.assert_array_equal(rows.toarray(), wide.toarray())
    assert encoder_for(sp.csr_array(np.eye(5)), "X", linear=True).kind == "columns"
    with pytest.raises(ValueError, match=r"X .*constant"):
        encoder_for(sp.csr_array(np.ones((5, 1200))), "X", linear=True)
    with pytest.raises(ValueError, match="7 features"):
        encoder(wide[:, :7], "X")
