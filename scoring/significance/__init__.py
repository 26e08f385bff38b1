"""Which differences are real: sees count arrays and scores, never a text."""

from scoring.significance.compare import compare
from scoring.significance.partial_conjunction import PartialConjunction, partial_conjunction
from scoring.significance.question import Candidate
from scoring.significance.settings import PARAMS, Settings, parse_settings

__all__ = ["PARAMS", "Candidate", "PartialConjunction", "Settings", "compare", "parse_settings", "partial_conjunction"]
