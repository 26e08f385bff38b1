"""Treebanks for tests, made from bracketed strings, and as such strings."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from treescore.core.registry import make_format
from treescore.core.text import DEFAULT_LIMITS
from treescore.core.trees import ConstituentTreebank, Vocabulary


def treebank(*sentences: str, vocabulary: Vocabulary | None = None) -> ConstituentTreebank:
    """Trees written `(S (NP (DT the) (NN dog)))`, words without tag bare, or with square brackets."""
    text = "".join(" ".join(sentence.split()).replace(" )", ")") + "\n" for sentence in sentences).encode()
    bracketed = make_format("bracketed", {"layout": "lines"})
    found = bracketed.read(text, vocabulary if vocabulary is not None else Vocabulary(), DEFAULT_LIMITS)
    assert isinstance(found, ConstituentTreebank)
    return found


def brackets(trees: ConstituentTreebank) -> list[str]:
    """The trees as strings; a word without tag stands bare."""
    lines = make_format("bracketed", {}).write(trees).splitlines()
    return [line.replace(" )", ")").replace("( ", "(") for line in lines]


LABELS = ("S", "NP", "VP", "PP", "SBAR", "NP-SBJ", "")
TAGS = ("NN", "VBD", "MD", "IN", ",", "-NONE-", "DT")


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
