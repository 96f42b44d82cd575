"""Pairs that are not in memory: sources, how they are opened, and how engines apply a function to them."""
