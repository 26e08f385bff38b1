"""Simulated nulls: what every sentence of docs/significance.md about error rates, coverage and power rests on."""
