"""Scoring of the parts of a benchmark, and what is stored of it."""
