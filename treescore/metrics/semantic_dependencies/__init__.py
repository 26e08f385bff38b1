"""Precision and recall of the edges and tops of semantic dependency graphs."""
