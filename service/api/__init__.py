"""Serve one blueprint per resource: parse, call one use-case, dump."""
