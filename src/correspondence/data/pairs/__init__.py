"""Pairs that are not in memory: what they are, how sources are opened, and how engines run a function on them."""
