"""Render comparisons and items in many formats, for people and programs."""
