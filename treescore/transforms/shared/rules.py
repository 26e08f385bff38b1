"""The rule language: which brackets of a tree are dropped, written as small trees with one caret.

`(X Y1 ... Yi^ ... Yn)` drops child Yi's bracket and raises its children, `(X^ Y1 ... Yn)` drops X over exactly these
children, `X^` drops X everywhere. X and Y are labels of phrases, Y also of words. Beside plain labels a rule may have
alternatives `NP|WHNP`, `ADVP|RB*` for any number of such children, and a lone `...` for any number of children of any
kind. A backslash takes the next character as it is. Lines that begin with `#` are comments.

Rule sets ship with the library; others are sent with a request.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from treescore.core.params import Json
from treescore.errors import InputError, LimitError, Problem, ProblemList

DROP_CHILD, DROP_EXACT, DROP_ANYWHERE = 0, 1, 2
"""The three forms of rules."""
ONE, ANY_NUMBER, GAP = 0, 1, 2
"""How many children an element stands for: one, any number of its labels, any number of any."""

MAX_ELEMENTS = 60
"""Limit of children of one rule."""

_TOKEN = re.compile(r"[()]|(?:\\.|[^\s()\\])+|\\")
_PARTS = re.compile(r"(?:\\.|[^|\\])+", re.DOTALL)
_FORMS = "(X Y1 Y2^ Y3), (X^ Y1 Y2) or X^"


@dataclass(frozen=True, slots=True)
class Element:
    """One symbol of a rule: the labels it takes, and how many children it stands for."""

    labels: tuple[str, ...]
    times: int = ONE


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: X, its children, and for DROP_CHILD which of them loses its bracket (from 0)."""

    form: int
    parent: Element
    children: tuple[Element, ...] = ()
    caret: int = -1


@dataclass(frozen=True, slots=True)
class _Symbol:
    text: str
    line: int
    column: int

    @property
    def caret(self) -> bool:
        return re.search(r"(?<!\\)(?:\\\\)*\^$", self.text) is not None

    def element(self) -> Element:
        text = self.text[:-1] if self.caret else self.text
        if text in {"...", "\N{HORIZONTAL ELLIPSIS}"}:
            return Element((), GAP)
        many = re.search(r"(?<!\\)(?:\\\\)*\*$", text) is not None
        text = text[:-1] if many else text
        labels = [re.sub(r"\\(.)", r"\1", part) for part in _PARTS.findall(text)]
        # A treebank may have labels like ADVP|PRT: the whole is an alternative too.
        whole = re.sub(r"\\(.)", r"\1", text)
        return Element(tuple(dict.fromkeys([*labels, whole])) if text else (), ANY_NUMBER if many else ONE)


def parse_rules(text: str, pointer: str = "") -> list[Rule]:
    """Parse the rules of a text, in their order.

    Raises:
        InputError: `rule-syntax`, each fault with line and column in the text.
    """
    problems = ProblemList()
    rules: list[Rule] = []
    group: list[_Symbol] | None = None
    opened: _Symbol | None = None
    for symbol in _symbols(text):
        if symbol.text == "(":
            if opened is not None:
                problems.add(
                    _fault(symbol, pointer, "A bracket inside a rule. Rules have one level; write a second one")
                )
            group, opened = [], symbol
        elif symbol.text == ")":
            if opened is None or group is None:
                problems.add(_fault(symbol, pointer, "A closing bracket without an opening one. Remove it"))
            else:
                _collect(rules, problems, pointer, opened, group)
            group, opened = None, None
        elif group is not None:
            group.append(symbol)
        else:
            _collect(rules, problems, pointer, symbol, None)
    if opened is not None:
        problems.add(_fault(opened, pointer, 'This bracket is never closed. Add ")"'))
    problems.raise_if_any()
    return rules


def _symbols(text: str) -> list[_Symbol]:
    symbols = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.lstrip().startswith("#"):
            symbols += [_Symbol(match.group(), number, match.start() + 1) for match in _TOKEN.finditer(line)]
    return symbols


def _collect(
    rules: list[Rule], problems: ProblemList, pointer: str, first: _Symbol, group: list[_Symbol] | None
) -> None:
    rule = _rule(first, group)
    if isinstance(rule, Rule):
        rules.append(rule)
    else:
        problems.add(_fault(rule[0], pointer, rule[1]))


def _rule(first: _Symbol, group: list[_Symbol] | None) -> Rule | tuple[_Symbol, str]:
    """Return the rule of these symbols, or the wrong symbol and what is wrong with it."""
    symbols = [first] if group is None else group
    wrong = next(((symbol, message) for symbol in symbols if (message := _symbol_fault(symbol))), None)
    wrong = wrong or _shape_fault(first, symbols, bracketed=group is not None)
    if wrong is not None:
        return wrong
    parent, *children = [symbol.element() for symbol in symbols]
    caret = next(index for index, symbol in enumerate(symbols) if symbol.caret)
    if group is None:
        return Rule(DROP_ANYWHERE, parent)
    return Rule(DROP_CHILD if caret else DROP_EXACT, parent, tuple(children), caret - 1)


def _symbol_fault(symbol: _Symbol) -> str:
    if re.search(r"(?<!\\)(?:\\\\)*\\$", symbol.text):
        return "A backslash at the end of a symbol. Double it, or remove it"
    element = symbol.element()
    if not element.labels and element.times != GAP:
        return f"{symbol.text!r} names no label. Write one before it"
    if symbol.caret and element.times != ONE:
        return "The caret marks a symbol that stands for any number of children. Mark a single one"
    return ""


def _shape_fault(first: _Symbol, symbols: Sequence[_Symbol], *, bracketed: bool) -> tuple[_Symbol, str] | None:
    if not symbols:
        return first, f"An empty rule. Rules are {_FORMS}"
    if symbols[0].element().times != ONE:
        return symbols[0], "A rule begins with a single label"
    carets = [symbol for symbol in symbols if symbol.caret]
    if not carets:
        return first, f"Nothing is marked with a caret, so nothing would be dropped. Rules are {_FORMS}"
    if len(carets) > 1:
        return carets[1], "A second caret in one rule. Write two rules"
    if bracketed and len(symbols) == 1:
        return first, "A rule in brackets without children. To drop a label everywhere write it without brackets"
    if len(symbols) - 1 > MAX_ELEMENTS:
        return first, f"A rule with {len(symbols) - 1} children; there may be {MAX_ELEMENTS}. Use alternatives or ..."
    return None


def _fault(symbol: _Symbol, pointer: str, message: str) -> Problem:
    detail = f"Line {symbol.line}, column {symbol.column} of the rules: {message}."
    return Problem("rule-syntax", detail, pointer=pointer, line=symbol.line, column=symbol.column)


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
