"""Transforms, loaded when they are named."""

from treescore.core.registry import TRANSFORMS

TRANSFORMS.look_in(__name__)
