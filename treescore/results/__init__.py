"""What the library gives: scores of systems, comparisons, and views of errors, sentences and groups."""

from treescore.results.filters import Filters
from treescore.results.pictures import Picture
from treescore.results.result import Comparison, Result
from treescore.results.sentence_views import SentenceView
from treescore.results.system_scores import SystemScores
from treescore.results.views import FORMS, View

__all__ = ["FORMS", "Comparison", "Filters", "Picture", "Result", "SentenceView", "SystemScores", "View"]
