"""Text in, numbers out: formats, transforms, metrics and significance, without files, network or clock."""

__version__ = "0.1.0"
