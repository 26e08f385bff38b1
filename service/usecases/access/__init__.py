"""Authenticate callers, find what they ask for, and recognise repeated requests."""
