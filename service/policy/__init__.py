"""What a caller may see of what comes from gold."""
