"""MaltEval's groupings of words, for slices of dependency metrics."""
