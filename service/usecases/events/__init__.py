"""Record, list and deliver events."""
