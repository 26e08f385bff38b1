"""What the library gives: scores of systems, comparisons, and views of errors, sentences and groups."""

from treescore.results.result import Comparison, Pair, Picture, Result, SystemScores
from treescore.results.views import FORMS, Filters, SentenceView, View

__all__ = ["FORMS", "Comparison", "Filters", "Pair", "Picture", "Result", "SentenceView", "SystemScores", "View"]
