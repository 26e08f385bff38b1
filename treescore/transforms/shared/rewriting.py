"""Application of rules: bottom-up, left to right, the first that fits, in passes until none fits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from treescore.core.arrays import BoolArray, IntArray, offsets_of
from treescore.core.jit import compiled
from treescore.core.structure import NONE, Structure, structure_of
from treescore.core.trees import ConstituentTreebank, Vocabulary
from treescore.errors import LimitError, Problem
from treescore.transforms.shared.rules import DROP_ANYWHERE, DROP_CHILD, GAP, ONE, Rule

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


def dropped_by(rules: Sequence[Rule], treebank: ConstituentTreebank) -> BoolArray:
    """Find the nodes that the rules drop, bool (m,).

    An outermost bracket without label is ignored, and the topmost labelled node of a tree is never dropped.

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
    list_children(treebank.starts, treebank.node_offsets, treebank.word_offsets, links, items)
    order = _post_order(links)
    budget = STEPS_ALWAYS + STEPS_EACH * (nodes + words)
    failed = apply_rules(grammar, items, treebank.node_offsets, order, budget)
    if failed >= 0:
        detail = (
            f"The rules exceed {budget} child visits, reached in sentence {failed + 1}. "
            "Use fewer rules, or none that can raise thousands of children one by one."
        )
        raise LimitError(Problem("rule-limit", detail, sentence=failed + 1))
    return items.dropped


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


def _post_order(links: Structure) -> IntArray:
    """Return the place of each node in post-order, over the whole file: int64 (m,)."""
    below = np.zeros(len(links.parents), np.int64)
    count_below(links.parents, below)
    return np.arange(len(below), dtype=np.int64) + below - (links.depths - 1)


@compiled
def count_below(parents: IntArray, below: IntArray) -> None:
    """Count the nodes below each node."""
    for node in range(len(parents) - 1, -1, -1):
        if parents[node] != NONE:
            below[parents[node]] += below[node] + 1


@compiled
def list_children(
    starts: IntArray, node_offsets: IntArray, word_offsets: IntArray, links: Structure, items: Items
) -> None:
    """Link each node's children in the order of the text."""
    nodes = len(starts)
    for sentence in range(len(node_offsets) - 1):
        word, end = word_offsets[sentence], word_offsets[sentence + 1]
        for node in range(node_offsets[sentence], node_offsets[sentence + 1] + 1):
            here = end if node == node_offsets[sentence + 1] else word_offsets[sentence] + starts[node]
            while word < here:
                append_child(items, links.anchors[word], nodes + word)
                word += 1
            if node < node_offsets[sentence + 1]:
                append_child(items, links.parents[node], node)


@compiled
def append_child(items: Items, parent: int, child: int) -> None:
    """Append an item to the children of its parent, if it has one."""
    if parent == NONE:
        return
    if items.lasts[parent] == NONE:
        items.firsts[parent] = child
    else:
        items.nexts[items.lasts[parent]] = child
    items.lasts[parent] = child


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
def may_fit(grammar: Grammar, rule: int, items: Items, children: IntArray, size: int) -> bool:
    """Tell whether the first child allows the rule."""
    first = grammar.offsets[rule]
    if grammar.times[first] != ONE:
        return True
    return bool(size > 0 and grammar.members[grammar.classes[first], items.labels[children[0]]])


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
def push(heap: IntArray, size: int, key: int) -> int:
    """Put a key on the heap (lowest first); return the new size."""
    slot = size
    while slot > 0 and heap[(slot - 1) // 2] > key:
        heap[slot] = heap[(slot - 1) // 2]
        slot = (slot - 1) // 2
    heap[slot] = key
    return size + 1


@compiled
def pop(heap: IntArray, size: int) -> int:
    """Move the lowest key of the heap to `heap[size - 1]`; return the new size."""
    lowest, last = heap[0], heap[size - 1]
    size -= 1
    slot = 0
    while 2 * slot + 1 < size:
        child = 2 * slot + 1
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= last:
            break
        heap[slot] = heap[child]
        slot = child
    heap[slot] = last
    heap[size] = lowest
    return size


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
        if may_fit(grammar, rule, items, children, size):
            steps += size * (grammar.offsets[rule + 1] - grammar.offsets[rule])
            child_index = fits(grammar, rule, items, children, size, after)
            if child_index >= 0:
                return rule, children[child_index] if grammar.forms[rule] == DROP_CHILD else -1, steps
    return -1, -1, steps


@compiled
def drop_into_parent(items: Items, node: int) -> int:
    """Drop a node; return the node that has its children now. Paths past dropped nodes are shortened."""
    items.dropped[node] = True
    heir = int(items.parents[node])
    while items.dropped[heir]:
        heir = int(items.parents[heir])
    while items.parents[node] != heir:
        above = items.parents[node]
        items.parents[node] = heir
        node = above
    return heir


@compiled
def apply_rules(grammar: Grammar, items: Items, node_offsets: IntArray, order: IntArray, budget: int) -> int:
    """Apply the rules sentence by sentence; return the sentence in which `budget` ran out, or -1.

    As if in every pass each node were visited in post-order and had one rule applied. Only nodes whose children
    have changed are visited again: for others the result is known.
    """
    largest = 0
    for sentence in range(len(node_offsets) - 1):
        largest = max(largest, node_offsets[sentence + 1] - node_offsets[sentence])
    node_at = np.empty(largest, np.int64)
    due_pass = np.empty(largest, np.int64)
    heap = np.empty(2 * largest + 2, np.int64)
    children = np.empty(len(items.labels), np.int64)
    after = np.empty(len(items.labels) + 1, np.int64)
    for sentence in range(len(node_offsets) - 1):
        first = node_offsets[sentence]
        nodes = node_offsets[sentence + 1] - first
        for node in range(nodes):
            node_at[order[first + node] - first] = node
            due_pass[node] = 0
            heap[node] = node
        heap_size = nodes
        while heap_size > 0:
            heap_size = pop(heap, heap_size)
            pass_number = heap[heap_size] // nodes
            node = first + node_at[heap[heap_size] % nodes]
            if items.dropped[node] or due_pass[node - first] != pass_number:
                continue
            rule, child, steps = first_fitting(grammar, items, node, children, after)
            budget -= steps
            if rule >= 0:
                changed = drop_into_parent(items, child if child >= 0 else node)
                pass_number += child >= 0
                if due_pass[changed - first] < pass_number:
                    due_pass[changed - first] = pass_number
                    heap_size = push(heap, heap_size, pass_number * nodes + order[changed] - first)
            if budget < 0:
                return sentence
    return -1
