"""Rule sets that ship with the library, and rules that a request names or sends."""

from __future__ import annotations

from collections.abc import Mapping

from treescore.core.params import Json
from treescore.errors import InputError, LimitError, Problem, ProblemList
from treescore.transforms.shared.rule_text import Rule, parse_rules

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
(NP|WHNP|NX DT|PDT|PRP$|WDT|WP$|JJ|JJR|JJS|CD|RB|NN|NNS|NNP|NNPS|POS|NP|ADJP* QP|NAC|NX^
    NN|NNS|NNP|NNPS|NX|JJ|PP|SBAR|VP|ADJP*)

# Other phrases over their own kind: the modified phrase is joined with its modifiers.
(PP PP|ADVP|RB* PP^ PP|SBAR|ADVP*)
(ADJP|WHADJP ADVP|RB* ADJP|WHADJP^ PP|SBAR|S|ADVP|NP*)
(ADVP|WHADVP ADVP|RB* ADVP|WHADVP^ PP|SBAR|S|NP*)
"""

EXTRAPOSITION = """
# Black et al. (1991) move an extraposed clause to one agreed place. Rules can only drop, so these
# exclude the place from scoring: the phrase that ends before or after the clause goes.
(ADJP^ JJ|JJR|JJS S|SBAR)
(ADJP^ RB|ADVP JJ|JJR|JJS S|SBAR)
(ADJP^ VBN|VBG S|SBAR)
(ADJP^ ADJP S|SBAR)
(NP^ NP S|SBAR)
(VP VB|VBD|VBG|VBN|VBP|VBZ VP^ S|SBAR)
"""

RULE_SETS: Mapping[str, str] = {"penn-flat": PENN_FLAT, "extraposition": EXTRAPOSITION}

MAX_TEXT = 200_000
"""Limit of characters of all rule texts of a request."""
MAX_RULES, MAX_LABELS, MAX_CELLS = 2000, 4000, 20_000_000
"""Limits of rules, of their labels, and of label alternatives times labels, the size of the rule table."""

RULES_SCHEMA: Mapping[str, Json] = {
    "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "maxItems": MAX_RULES}]
}


def rules_of(value: Json, pointer: str = "/rules") -> list[Rule]:
    """Parse the rules of a parameter: a set's name, a rule text, or a list of either.

    Raises:
        InputError: `rule-syntax`, with line and column.
        LimitError: `too-many-rules`.
    """
    texts = {pointer: value} if isinstance(value, str) else {f"{pointer}/{i}": text for i, text in enumerate(value)}
    if sum(map(len, texts.values())) > MAX_TEXT:
        raise _too_many(f"The rules exceed {MAX_TEXT} characters", pointer)
    rules: list[Rule] = []
    problems = ProblemList()
    for text_pointer, text in texts.items():
        try:
            rules += parse_rules(RULE_SETS.get(text.strip(), text), text_pointer)
        except InputError as error:
            problems.extend(error.problems)
    problems.raise_if_any()
    elements = {element.labels for rule in rules for element in (rule.parent, *rule.children)}
    labels = {label for alternatives in elements for label in alternatives}
    if len(rules) > MAX_RULES or len(labels) > MAX_LABELS or len(elements) * len(labels) > MAX_CELLS:
        raise _too_many(f"There are {len(rules)} rules with {len(labels)} labels", pointer)
    return rules


def _too_many(excess: str, pointer: str) -> LimitError:
    detail = f"{excess}. The limits are {MAX_RULES} rules, {MAX_LABELS} labels and {MAX_TEXT} characters."
    return LimitError(Problem("too-many-rules", detail, pointer=pointer))
