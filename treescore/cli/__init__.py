"""The treescore command."""
