"""Training runs."""

from treescore.significance.training_runs import FEWEST_FOR_SPREAD as FEWEST_FOR_SPREAD
from treescore.significance.training_runs import no_runs as no_runs
