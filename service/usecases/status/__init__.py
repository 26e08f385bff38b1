"""What the service says of itself."""
