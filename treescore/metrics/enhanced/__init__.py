"""Enhanced dependency scores (Bouma et al. 2020)."""
