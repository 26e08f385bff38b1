"""Leaderboards and the comparisons behind them."""
