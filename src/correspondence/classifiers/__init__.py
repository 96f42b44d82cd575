"""Black-box classifiers: their beliefs, their decomposition, where they are undecided, whether they can be trusted."""
