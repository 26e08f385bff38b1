"""Runs: progress, waiting, ending."""
