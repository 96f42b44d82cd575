"""Canonical and partial correspondence analysis: how much of a table variables of its rows explain."""
