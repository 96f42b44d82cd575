"""What every encoder does."""

import numpy as np
import scipy.sparse as sp

from correspondence.data.encoders.choosing import encoder_for


def test_encoders_without_labels_accept_anything_already():
    for values in (np.ones((3, 1, 2, 2)) * np.arange(3)[:, None, None, None], sp.csr_array(np.eye(3))):
        encoder = encoder_for(values, "X")
        assert encoder.accept_unknown() is encoder
