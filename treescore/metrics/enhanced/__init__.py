"""Scores of enhanced dependencies, as in the IWPT shared tasks."""
