"""The life of one run: progress, waiting, ending."""
