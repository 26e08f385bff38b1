"""The version of the library, part of every signature."""

__version__ = "0.1.0"
