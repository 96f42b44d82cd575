"""Correspondence analysis of a contingency table."""
