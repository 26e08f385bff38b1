"""File formats, one file each, loaded when they are named."""

from treescore.core.registry import FORMATS

FORMATS.look_in(__name__)
