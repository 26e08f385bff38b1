"""Scoring jobs."""
