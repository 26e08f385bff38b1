"""One module or package per metric; of a package the module `metric` is loaded when the metric is named."""

from treescore.core.registry import METRICS

METRICS.look_in(__name__, "metric")
