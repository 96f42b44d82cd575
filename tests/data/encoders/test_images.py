"""Images."""

import numpy as np
import pytest

from correspondence.data.encoders.choosing import encoder_for


def test_new_images_of_another_shape():
    images = np.random.default_rng(0).normal(size=(3, 1, 4, 4))
    with pytest.raises(ValueError, match="images of shape"):
        encoder_for(images, "X")(images[:, :, :3], "X")
