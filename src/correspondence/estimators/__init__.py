"""Estimators of two variables, one file or folder for each."""
