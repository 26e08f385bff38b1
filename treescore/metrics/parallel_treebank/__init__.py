"""Scores of parallel treebanks."""
