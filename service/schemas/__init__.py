"""Load requests with marshmallow, at the edge only."""
