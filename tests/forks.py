"""Processes that need not import torch: they are forked from one that has done it."""

import multiprocessing

PRELOADED = ["numpy", "torch", "torch.optim", "torch.distributed", "correspondence.estimators.pice"]


def get_context():
    """Context of multiprocessing whose processes begin in two hundredths of a second, where a start takes two."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    return context
