"""Comparisons that callers ask for."""
