"""Marshmallow, at the edge only."""
