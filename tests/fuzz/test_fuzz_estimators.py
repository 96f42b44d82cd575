"""Hostile inputs to everything in memory: a result or an error of our own, never a hang, a NaN or a foreign error."""

import zlib

import entries
import hostile
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import correspondence as co

GROUPS = {  # of entries, and by how much the combinations are thinned out: every n-th by its name, the same each time
    "FITS": 5,
    "PICE_FITS": 40,
    "FUNCTIONS": 12,
    "TABLES": 2,
    "USES": 20,
    "OTHER_USES": 3,
    "PARAMETERS": 3,
    "PICE_PARAMETERS": 12,
}


def combinations(thinned=True):
    """Entry, its function, the name of an input and what makes it."""
    for group, every in GROUPS.items():
        is_scalar = "PARAMETERS" in group
        for entry, call in getattr(entries, group).items():
            for name, value in (hostile.SCALARS if is_scalar else hostile.INPUTS).items():
                is_drawn = not zlib.crc32(f"{entry}/{name}".encode()) % every
                if (is_drawn or not thinned) and not entries.is_left_out(entry, name):
                    yield entry, call, name, (lambda value=value: value) if is_scalar else value


def faults(thinned=True):
    for entry, call, name, make in combinations(thinned):
        fault = hostile.judge(call, make())
        if fault:
            yield f"{entry} <- {name}: {fault}"
