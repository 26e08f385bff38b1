"""Which differences are real: sees count arrays and scores, never a text."""
