"""What is derived from stored texts and made when it is asked for: items, slices and trees of outputs."""
