"""Transforms, one file each. Importing the package registers them."""

from treescore.core.registry import import_siblings

import_siblings(__name__, __path__)
