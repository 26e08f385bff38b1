"""Rules for what a caller may see of data that depends on gold."""
