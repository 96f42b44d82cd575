"""Canonical and partial correspondence analysis."""
