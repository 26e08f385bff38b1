"""Submissions to a benchmark."""
