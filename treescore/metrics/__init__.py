"""One package per metric: importing this package registers each sub-package that has a module `metric`."""

from treescore.core.registry import import_packages

import_packages(__name__, __path__, "metric")
