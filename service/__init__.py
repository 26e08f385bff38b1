"""The Flask API, its use-cases and what it stores."""
