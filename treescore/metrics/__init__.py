"""One package per metric, with a module `metric`, which is loaded when the metric is named."""

from treescore.core.registry import METRICS

METRICS.look_in(__name__, "metric")
