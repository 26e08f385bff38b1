"""Report what the service can score, and whether it works."""
