"""Benchmarks, their teams and revisions."""
