"""Labels of any types."""

from correspondence._util.labels import encode_labels


def test_mixed_labels_are_not_turned_into_text():
    codes, labels = encode_labels([1, "1", 1.0, True], "x")
    assert len(labels) == 2
    assert codes[0] == codes[2] == codes[3] != codes[1]


def test_order_of_labels_that_cannot_be_compared_is_that_of_no_shuffle(rng):
    values = [1, "a", ("t", 2), 2.5, "b", b"c", None]
    values.remove(None)
    first = [str(label) for label in encode_labels(values, "x")[1]]
    for _ in range(5):
        assert [str(label) for label in encode_labels([values[i] for i in rng.permutation(6)], "x")[1]] == first
