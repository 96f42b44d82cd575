"""Clusters of the points of an analysis: their tree, their consolidation, and whether they would be found again."""
