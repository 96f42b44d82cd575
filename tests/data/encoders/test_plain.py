"""Numbers as they are."""

import numpy as np
import pytest

from correspondence.data.encoders.choosing import encoder_for
from correspondence.data.encoders.plain import Plain


def test_numbers_left_as_they_are():
    encoder = encoder_for(np.array([[1.0, 200.0], [3.0, 4.0]]), "X", plain=True)
    assert isinstance(encoder, Plain)
    assert encoder([[5.0, 600.0]], "X").tolist() == [[5.0, 600.0]]
    with pytest.raises(ValueError, match="shape"):
        encoder([[5.0]], "X")
