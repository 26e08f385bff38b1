"""The rule language: which brackets of a tree are dropped, written as small trees with one caret.

`(X Y1 ... Yi^ ... Yn)` drops child Yi's bracket and raises its children, `(X^ Y1 ... Yn)` drops X over exactly these
children, `X^` drops X everywhere. X and Y are labels of phrases, Y also of words. Beside plain labels a rule may have
alternatives `NP|WHNP`, `ADVP|RB*` for any number of such children, and a lone `...` for any number of children of any
kind. A backslash takes the next character as it is. Lines that begin with `#` are comments.

Rule sets ship with the library; others are sent with a request. Rules are applied bottom-up, left to right, the first
that fits, in passes until none fits.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from treescore.core.arrays import BoolArray, IntArray, heap_pop, heap_push, offsets_of
from treescore.core.jit import attempts, compiled
from treescore.core.params import Json
from treescore.core.structure import NONE, Structure, gather, ordered_children, structure_of
from treescore.core.trees import ConstituentTreebank, Vocabulary
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


class Element(NamedTuple):
    """One symbol of a rule: the labels it takes, and how many children it stands for."""

    labels: tuple[str, ...]
    times: int = ONE


class Rule(NamedTuple):
    """One rule: X, its children, and for DROP_CHILD which of them loses its bracket (from 0)."""

    form: int
    parent: Element
    children: tuple[Element, ...] = ()
    caret: int = -1


class _Symbol(NamedTuple):
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


def rules_of(value: Json) -> list[Rule]:
    """Parse the rules of a parameter: a set's name, a rule text, or a list of either.

    Raises:
        InputError: `rule-syntax`, with line and column.
        LimitError: `too-many-rules`.
    """
    texts = {"/rules": value} if isinstance(value, str) else {f"/rules/{i}": text for i, text in enumerate(value)}
    if sum(map(len, texts.values())) > MAX_TEXT:
        raise _too_many(f"The rules exceed {MAX_TEXT} characters")
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
        raise _too_many(f"There are {len(rules)} rules with {len(labels)} labels")
    return rules


def _too_many(excess: str) -> LimitError:
    detail = f"{excess}. The limits are {MAX_RULES} rules, {MAX_LABELS} labels and {MAX_TEXT} characters."
    return LimitError(Problem("too-many-rules", detail, pointer="/rules"))


STEPS_EACH, STEPS_ALWAYS = 1000, 500_000_000
"""Limit of children visited: for each node and word of a text, plus a constant."""


class Grammar(NamedTuple):
    """Rules as arrays, r rules with e child elements over c classes and l labels (0: any other label).

    Attributes:
        of_label: rules for each label of X, in order: `of_label[of_label_offsets[l]:of_label_offsets[l + 1]]`.
        forms, carets: of each rule, int64 (r,).
        offsets: its elements, int64 (r + 1,).
        times, classes: of each element, int64 (e,).
        members: whether a class takes a label, bool (c, l).
    """

    of_label: IntArray
    of_label_offsets: IntArray
    forms: IntArray
    carets: IntArray
    offsets: IntArray
    times: IntArray
    classes: IntArray
    members: BoolArray


class Items(NamedTuple):
    """A treebank as lists of children, m nodes and after them w words as items m + i.

    Attributes:
        labels: label of each item as the grammar numbers it, int64 (m + w,).
        parents: int64 (m,); of dropped nodes on the way shortened.
        firsts, lasts: first and last child of each node, NONE where it has none, int64 (m,).
        nexts: next sibling of each item, int64 (m + w,).
        fixed: nodes that no rule drops, bool (m,).
        dropped: bool (m,).
    """

    labels: IntArray
    parents: IntArray
    firsts: IntArray
    lasts: IntArray
    nexts: IntArray
    fixed: BoolArray
    dropped: BoolArray


class Scratch(NamedTuple):
    """Memory of `apply_rules`, int64: of a sentence the node at each place and its next pass; what else it needs."""

    node_at: IntArray
    due_pass: IntArray
    heap: IntArray
    children: IntArray
    after: IntArray


def dropped_by(rules: Sequence[Rule], treebank: ConstituentTreebank, *, strict: bool = True) -> BoolArray:
    """Find the nodes that the rules drop, bool (m,).

    An outermost bracket without label is ignored, and the topmost labelled node of a tree is never dropped.

    Args:
        rules: what is dropped.
        treebank: the trees.
        strict: whether too many visits are an error. In an output from which words are deleted by gold's tags they must
            not be, as they would tell of these: what is dropped until then is returned.

    Raises:
        LimitError: `rule-limit`, the rules visit too many children.
    """
    nodes, words = len(treebank.labels), len(treebank.words)
    if not rules or not nodes:
        return np.zeros(nodes, np.bool_)
    grammar, numbers = _grammar(rules, treebank.vocabulary)
    links = structure_of(treebank)
    outer = (links.parents == NONE) & (treebank.labels == 0)
    tags = np.where(treebank.tags >= 0, numbers[treebank.tags], 0)
    items = Items(
        labels=np.concatenate([numbers[treebank.labels], tags]),
        parents=links.parents.copy(),
        firsts=np.full(nodes, NONE),
        lasts=np.full(nodes, NONE),
        nexts=np.full(nodes + words, NONE),
        # NONE picks the last place: a node at the top stands as if below an outer bracket.
        fixed=outer | np.append(outer, True)[links.parents],
        dropped=np.zeros(nodes, np.bool_),
    )
    _list_children(treebank, links, items)
    sizes = np.ones(nodes, np.int64)
    gather(np.add, links.parents, links.depths, sizes)
    order = np.arange(nodes) + sizes - links.depths  # the place of each node in post-order, over the whole file
    largest, most = int(np.diff(treebank.node_offsets).max()), nodes + words
    scratch = Scratch(*(np.empty(size, np.int64) for size in (largest, largest, 2 * largest + 2, most, most + 1)))
    budget = STEPS_ALWAYS + STEPS_EACH * most
    failed = -1
    for allowed in attempts(apply_rules, budget):
        applied = Items._make(values.copy() for values in items)
        failed = apply_rules(grammar, applied, treebank.node_offsets, order, scratch, allowed)
        if failed < 0:
            return applied.dropped
    if not strict:
        return applied.dropped
    detail = (
        f"The rules exceed {budget} child visits, reached in sentence {failed + 1}. "
        "Use fewer rules, or none that can raise thousands of children one by one."
    )
    raise LimitError(Problem("rule-limit", detail, sentence=failed + 1))


def _grammar(rules: Sequence[Rule], vocabulary: Vocabulary) -> tuple[Grammar, IntArray]:
    """Return the rules as arrays, and the grammar's number of each string of the vocabulary: int64 (v,)."""
    local: dict[str, int] = {}
    classes: dict[tuple[str, ...], int] = {}
    for rule in rules:
        for element in (rule.parent, *rule.children):
            classes.setdefault(element.labels, len(classes))
            for label in element.labels:
                local.setdefault(label, len(local) + 1)
    members = np.zeros((len(classes), len(local) + 1), np.bool_)
    for labels, number in classes.items():
        members[number, [local[label] for label in labels]] = True
    by_label: list[list[int]] = [[] for _ in range(len(local) + 1)]
    for number, rule in enumerate(rules):
        for label in rule.parent.labels:
            by_label[local[label]].append(number)
    numbers = np.zeros(len(vocabulary), np.int64)
    for label, number in local.items():
        string_number = vocabulary.get(label)
        if string_number is not None:
            numbers[string_number] = number
    children = [element for rule in rules for element in rule.children]
    grammar = Grammar(
        of_label=np.array([rule for numbers_of_rules in by_label for rule in numbers_of_rules], np.int64),
        of_label_offsets=offsets_of(np.array([len(numbers_of_rules) for numbers_of_rules in by_label], np.int64)),
        forms=np.array([rule.form for rule in rules], np.int64),
        carets=np.array([rule.caret for rule in rules], np.int64),
        offsets=offsets_of(np.array([len(rule.children) for rule in rules], np.int64)),
        times=np.array([element.times for element in children], np.int64),
        classes=np.array([classes[element.labels] for element in children], np.int64),
        members=members,
    )
    return grammar, numbers


def _list_children(treebank: ConstituentTreebank, links: Structure, items: Items) -> None:
    """Link each node's children in the order of the text, a node before the word at which it starts."""
    children, above = ordered_children(treebank, links)
    beside = above[1:] == above[:-1]
    items.nexts[children[:-1][beside]] = children[1:][beside]
    items.lasts[above] = children  # the last that is assigned stays
    items.firsts[above[::-1]] = children[::-1]


@compiled
def children_of(items: Items, node: int, children: IntArray) -> int:
    """Write a node's children, with those of dropped children instead of these; return how many there are."""
    size, before, child = 0, NONE, items.firsts[node]
    while child != NONE:
        following = items.nexts[child]
        if child < len(items.dropped) and items.dropped[child]:
            if items.firsts[child] != NONE:
                items.nexts[items.lasts[child]] = following
                following = items.firsts[child]
            if items.lasts[node] == child:
                items.lasts[node] = before if items.firsts[child] == NONE else items.lasts[child]
            if before == NONE:
                items.firsts[node] = following
            else:
                items.nexts[before] = following
        else:
            children[size] = child
            size += 1
            before = child
        child = following
    return size


@compiled
def fits(grammar: Grammar, rule: int, items: Items, children: IntArray, size: int, after: IntArray) -> int:
    """Find the child on which a rule's caret falls, -1 if the rule does not fit; 0 for rules that drop X.

    Elements of any number take as few children as they can. `after[i]` is a bit set: bit k says that the elements
    from k on can be the children from i on.
    """
    begin, end = grammar.offsets[rule], grammar.offsets[rule + 1]
    many = end - begin
    caret = grammar.carets[rule] if grammar.forms[rule] == DROP_CHILD else -1
    one = np.int64(1)
    for position in range(size, -1, -1):
        bits = one << many if position == size else np.int64(0)
        for element in range(many - 1, -1, -1):
            times = grammar.times[begin + element]
            possible = times != ONE and (bits >> (element + 1)) & 1
            if not possible and position < size:
                accepted = (
                    times == GAP or grammar.members[grammar.classes[begin + element], items.labels[children[position]]]
                )
                if element == caret and children[position] >= len(items.dropped):
                    accepted = False
                follow = element + 1 if times == ONE else element
                possible = accepted and (after[position + 1] >> follow) & 1
            if possible:
                bits |= one << element
        after[position] = bits
    if not after[0] & 1:
        return -1
    position, element = 0, 0
    while element < caret:
        if grammar.times[begin + element] == ONE:
            position += 1
            element += 1
        elif (after[position] >> (element + 1)) & 1:
            element += 1
        else:
            position += 1
    return position


@compiled
def first_fitting(
    grammar: Grammar, items: Items, node: int, children: IntArray, after: IntArray
) -> tuple[int, int, int]:
    """Find the first rule that fits a node (-1: none), the child on which its caret falls, and the steps taken."""
    label = items.labels[node]
    begin, end = grammar.of_label_offsets[label], grammar.of_label_offsets[label + 1]
    if begin == end:
        return -1, -1, 1
    size = children_of(items, node, children)
    steps = size + end - begin
    for index in range(begin, end):
        rule = grammar.of_label[index]
        if grammar.forms[rule] != DROP_CHILD and items.fixed[node]:
            continue
        if grammar.forms[rule] == DROP_ANYWHERE:
            return rule, -1, steps
        # whether the first child allows the rule
        start = grammar.offsets[rule]
        if grammar.times[start] != ONE or (
            size > 0 and grammar.members[grammar.classes[start], items.labels[children[0]]]
        ):
            steps += size * (grammar.offsets[rule + 1] - start)
            child_index = fits(grammar, rule, items, children, size, after)
            if child_index >= 0:
                return rule, children[child_index] if grammar.forms[rule] == DROP_CHILD else -1, steps
    return -1, -1, steps


@compiled
def apply_rules(
    grammar: Grammar, items: Items, node_offsets: IntArray, order: IntArray, scratch: Scratch, budget: int
) -> int:
    """Apply the rules sentence by sentence; return the sentence in which `budget` ran out, or -1.

    As if in every pass each node were visited in post-order and had one rule applied. Only nodes whose children
    have changed are visited again: for others the result is known.
    """
    node_at, due_pass, heap, children, after = scratch
    for sentence in range(len(node_offsets) - 1):
        first = node_offsets[sentence]
        nodes = node_offsets[sentence + 1] - first
        for node in range(nodes):
            node_at[order[first + node] - first] = node
            due_pass[node] = 0
            heap[node] = node
        heap_size = nodes
        while heap_size > 0:
            heap_size = heap_pop(heap, heap_size)
            pass_number = heap[heap_size] // nodes
            node = first + node_at[heap[heap_size] % nodes]
            if items.dropped[node] or due_pass[node - first] != pass_number:
                continue
            rule, child, steps = first_fitting(grammar, items, node, children, after)
            budget -= steps
            if rule >= 0:
                dropped = child if child >= 0 else node
                items.dropped[dropped] = True
                # what has its children now; paths past dropped nodes are shortened
                changed = items.parents[dropped]
                while items.dropped[changed]:
                    changed = items.parents[changed]
                while items.parents[dropped] != changed:
                    above = items.parents[dropped]
                    items.parents[dropped] = changed
                    dropped = above
                pass_number += child >= 0
                if due_pass[changed - first] < pass_number:
                    due_pass[changed - first] = pass_number
                    heap_size = heap_push(heap, heap_size, pass_number * nodes + order[changed] - first)
            if budget < 0:
                return sentence
    return -1
