"""One file a transform; importing the package registers them all."""

from treescore.core.registry import import_siblings

import_siblings(__name__, __path__)
