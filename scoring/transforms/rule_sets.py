"""Rule sets that ship with the scorer, and how a request names or brings its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from scoring.errors import ProblemList, ScoringError
from scoring.params import Json
from scoring.transforms.rule_text import Rule, parse_rules

PENN_FLAT = """
# Penn Treebank to flat keys (Gaizauskas, Hepple & Huyck 1998): what grammars dispute inside a phrase is dropped,
# the phrase itself is kept. Coordinations keep their parts: a rule never reaches over CC or CONJP.

# Verb groups: auxiliaries, modals and "to" share the phrase of the verb that they belong to.
(VP MD|TO|VB|VBD|VBG|VBN|VBP|VBZ|AUX|BES|HVS RB|ADVP|PRN|INTJ|UH|,|:|``|''* VP^ NP|PP|ADVP|ADJP|SBAR|S|PRN|,|:|``|''|.*)
# A verb phrase that only adds an adverb or another adjunct to a verb phrase.
(VP ADVP|RB|PP|SBAR|S|PRN|,* VP^ ADVP|PP|SBAR|S|NP|PRN|,*)

# Noun phrases: the head's phrase is joined with its complements and modifiers; none of them is a second noun phrase.
(NP|WHNP|NX NP|NX|WHNP^ PP|SBAR|S|VP|ADJP|ADVP|RRC|PRN|WHPP|,|:|``|''|-LRB-|-RRB-*)
# Prenominal groups: quantifiers and numbers, incomplete noun phrases, names.
(NP|WHNP|NX ... QP|NAC|NX^ NN|NNS|NNP|NNPS|NX|JJ|PP|SBAR|VP|ADJP*)

# Other phrases over their own kind: the modified phrase is joined with its modifiers.
(PP PP|ADVP|RB* PP^ PP|SBAR|ADVP*)
(ADJP|WHADJP ADVP|RB* ADJP|WHADJP^ PP|SBAR|S|ADVP|NP*)
(ADVP|WHADVP ADVP|RB* ADVP|WHADVP^ PP|SBAR|S|NP*)
"""

EXTRAPOSITION = """
# Black et al. (1991) move an extraposed clause to one agreed place. Dropping is all that rules can do, so what
# they say is that the place is not to be scored: the phrase that ends before or after the clause goes.
(ADJP^ JJ|JJR|JJS S|SBAR)
(ADJP^ RB|ADVP JJ|JJR|JJS S|SBAR)
(ADJP^ VBN|VBG S|SBAR)
(ADJP^ ADJP S|SBAR)
(NP^ NP S|SBAR)
(VP VB|VBD|VBG|VBN|VBP|VBZ VP^ S|SBAR)
"""

RULE_SETS: Mapping[str, str] = {"penn-flat": PENN_FLAT, "extraposition": EXTRAPOSITION}

RULES_SCHEMA: Mapping[str, Json] = {
    "anyOf": [
        {"type": "string", "maxLength": 200_000},
        {"type": "array", "items": {"type": "string", "maxLength": 200_000}, "maxItems": 5000},
    ]
}


def rules_of(value: Json, pointer: str = "/rules") -> list[Rule]:
    """The rules of a parameter: a set's name, a rule text, or a list of either.

    Raises:
        InputError: `rule-syntax`, with line and column.
        LimitError: `too-many-rules`.
    """
    if isinstance(value, str):
        return parse_rules(RULE_SETS.get(value.strip(), value), pointer)
    rules: list[Rule] = []
    problems = ProblemList()
    for index, text in enumerate(value):
        try:
            rules += parse_rules(RULE_SETS.get(text.strip(), text), f"{pointer}/{index}")
        except ScoringError as error:
            problems.extend(replace(problem) for problem in error.problems)
    problems.raise_if_any()
    return rules
