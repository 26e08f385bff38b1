"""Words and tags of English in the Penn Treebank: data for `black` and `drop-punctuation`."""

from __future__ import annotations

PUNCTUATION_TAGS = (",", ".", ":", "``", "''", '"', "-LRB-", "-RRB-", "(", ")", "NFP", "PUNCT")
"""Tags of punctuation outside words. HYPH, a hyphen inside a word, is not among them."""

AUXILIARIES = (
    *("be", "am", "is", "are", "was", "were", "been", "being", "have", "has", "had", "having", "do", "does", "did"),
    *("can", "could", "may", "might", "must", "shall", "should", "will", "would", "ca", "wo", "sha", "dare", "need"),
    *("'s", "'re", "'m", "'ve", "'d", "'ll", "\N{RIGHT SINGLE QUOTATION MARK}s", "\N{RIGHT SINGLE QUOTATION MARK}re"),
    *("\N{RIGHT SINGLE QUOTATION MARK}m", "\N{RIGHT SINGLE QUOTATION MARK}ve", "\N{RIGHT SINGLE QUOTATION MARK}d"),
    *("\N{RIGHT SINGLE QUOTATION MARK}ll", "ai"),
)
"""Forms that are auxiliaries where a verb follows in the same phrase."""

AUXILIARY_TAGS = ("MD", "AUX")
"""Tags of words that are auxiliaries in any form where a verb follows in the same phrase."""

VERB_TAGS = ("VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "VERB")
VERB_PHRASES = ("VP",)
"""Tags of verbs and labels of their phrases: what an auxiliary or "to" stands before."""

NEGATIONS = ("not", "n't", "n\N{RIGHT SINGLE QUOTATION MARK}t")
INFINITIVE_MARKERS = ("to",)

POSSESSIVE_TAGS = ("POS",)
POSSESSIVES = ("'s", "'", "\N{RIGHT SINGLE QUOTATION MARK}s", "\N{RIGHT SINGLE QUOTATION MARK}")
"""Possessive endings: by tag, and for words without tag by form."""
