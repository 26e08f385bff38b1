"""Treebanks for tests, made from bracketed strings or nested tuples without the formats."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from treescore.core.arrays import offsets_of
from treescore.core.structure import structure_of
from treescore.core.trees import NO_TAG, ConstituentTreebank, Vocabulary

SYMBOL = re.compile(r"[()\[\]]|[^\s()\[\]]+")


def treebank(*sentences: str, vocabulary: Vocabulary | None = None) -> ConstituentTreebank:
    """Trees written `(S (NP (DT the) (NN dog)))`, words without tag bare, or with square brackets."""
    vocabulary = vocabulary if vocabulary is not None else Vocabulary()
    nodes: list[list[int]] = []
    words: list[int] = []
    tags: list[int] = []
    node_counts, word_counts = [], []
    for sentence in sentences:
        symbols = SYMBOL.findall(sentence)
        first_node, first_word, open_nodes = len(nodes), len(words), []
        place = 0
        while place < len(symbols):
            symbol = symbols[place]
            if symbol in "([":
                label = symbols[place + 1] if symbols[place + 1] not in "()[]" else ""
                place += 1 if label else 0
                if symbol == "(" and label and symbols[place + 1] not in "()" and symbols[place + 2] == ")":
                    words.append(vocabulary.number(symbols[place + 1]))
                    tags.append(vocabulary.number(label))
                    place += 2
                else:
                    open_nodes.append(len(nodes))
                    nodes.append([vocabulary.number(label), len(words) - first_word, -1])
            elif symbol in ")]":
                nodes[open_nodes.pop()][2] = len(words) - first_word
            else:
                words.append(vocabulary.number(symbol))
                tags.append(NO_TAG)
            place += 1
        node_counts.append(len(nodes) - first_node)
        word_counts.append(len(words) - first_word)
    columns = np.array(nodes, np.int64).reshape(-1, 3)
    return ConstituentTreebank(
        vocabulary=vocabulary,
        labels=columns[:, 0].copy(),
        starts=columns[:, 1].copy(),
        ends=columns[:, 2].copy(),
        node_offsets=offsets_of(np.array(node_counts, np.int64)),
        words=np.array(words, np.int64),
        tags=np.array(tags, np.int64),
        word_offsets=offsets_of(np.array(word_counts, np.int64)),
        lines=np.arange(1, len(sentences) + 1, dtype=np.int64),
    )


def brackets(trees: ConstituentTreebank) -> list[str]:
    """The trees as strings; a word without tag stands bare."""
    links = structure_of(trees)
    written = []
    for sentence in range(len(trees)):
        first, last = trees.word_offsets[sentence : sentence + 2]
        opening: list[list[str]] = [[] for _ in range(last - first + 1)]
        items: list[str] = []
        stack: list[int] = []
        nodes = list(range(*trees.node_offsets[sentence : sentence + 2]))
        for place in range(last - first + 1):
            while nodes and trees.starts[nodes[0]] == place:
                while stack and links.parents[nodes[0]] != stack[-1]:
                    stack.pop()
                    items.append(")")
                stack.append(nodes.pop(0))
                items.append(f"({trees.vocabulary.strings[trees.labels[stack[-1]]]}")
            if place == last - first:
                break
            anchor = links.anchors[first + place]
            while stack and stack[-1] != anchor:
                stack.pop()
                items.append(")")
            word, tag = trees.words[first + place], trees.tags[first + place]
            form = trees.vocabulary.strings[word]
            items.append(form if tag == NO_TAG else f"({trees.vocabulary.strings[tag]} {form})")
        items += [")"] * len(stack)
        written.append(" ".join(items).replace(" )", ")").replace("( ", "(") if opening else "")
    return written


LABELS = ("S", "NP", "VP", "PP", "SBAR", "NP-SBJ", "")
TAGS = ("NN", "VBD", "MD", "IN", ",", "-NONE-", "DT")


def _write(tree: Any) -> str:
    return f"({tree[0]} {' '.join(_write(child) if isinstance(child, list) else child for child in tree[1:])})"


def tree_strings(labels: Sequence[str] = LABELS, tags: Sequence[str] = TAGS) -> st.SearchStrategy[str]:
    """Trees of modest size, with empty phrases, unary chains, traces and any label below a labelled root."""
    leaf = st.builds(lambda tag, word: f"({tag} {word})", st.sampled_from(tags), st.sampled_from("abc"))
    node = st.recursive(
        leaf,
        lambda children: st.builds(
            lambda label, below: f"({label} {' '.join(below)})",
            st.sampled_from(labels),
            st.lists(children, min_size=0, max_size=4),
        ),
        max_leaves=12,
    )
    return st.builds(
        lambda outer, children: f"( (S {' '.join(children)}))" if outer else f"(S {' '.join(children)})",
        st.booleans(),
        st.lists(node, min_size=1, max_size=4),
    )
