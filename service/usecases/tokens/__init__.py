"""Create, list and revoke tokens."""
