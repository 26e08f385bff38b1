"""Code that several metrics share."""
