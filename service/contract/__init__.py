"""The source of openapi.yaml: hand-written YAML, one file a resource, and the program that expands it."""
