"""Evaluation: a request's specification to outcomes, documents and comparisons."""
