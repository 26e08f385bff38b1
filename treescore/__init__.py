"""Score parsers and treebanks: exact scores, and which differences are real."""

from treescore.core.version import __version__

__all__ = ["__version__"]
