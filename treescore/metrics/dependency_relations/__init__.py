"""Precision and recall of dependency relations (Lin 1998)."""
