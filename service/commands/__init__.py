"""The commands that start processes of the service."""
