"""What is left of one sentence's trees at each level."""

from __future__ import annotations

from typing import Any

import pytest

from service.policy.documents import tree_view
from service.policy.gate import Level

DOCUMENT: dict[str, Any] = {
    "item": 1,
    "kind": "dependencies",
    "sent_id": "own",
    "line": 2,
    "words": [{"id": "1", "form": "a"}],
    "tokens": [],
    "system": [{"head": "0", "deprel": "root"}],
    "expressions": [{"words": ["1"], "category": "own"}],
    "gold_expressions": [{"words": ["1"], "category": "SECRET"}],
    "annotation": [{"upos": "X"}],
    "gold_annotation": [{"upos": "SECRET"}],
    "gold_words": [{"id": "1", "form": "SECRET"}],
    "gold": [{"head": "0", "deprel": "SECRET"}],
    "pairs": [[0, 0]],
    "wrong": ["label", "head", "both", "word", "span", "crossing", "link", None],
    "missed": ["word"],
    "later": "SECRET",
}


@pytest.mark.parametrize("level", list(Level))
@pytest.mark.parametrize("marks", [True, False])
def test_only_gold_shows_gold(level: Level, *, marks: bool) -> None:
    shown = tree_view(level, DOCUMENT, marks=marks)
    assert (shown == DOCUMENT) == (level is Level.GOLD)
    if level is Level.GOLD:
        return
    assert "SECRET" not in repr(shown)
    hidden = ("gold", "gold_words", "gold_expressions", "gold_annotation", "pairs", "missed")
    assert [shown[name] for name in hidden] == [None] * len(hidden)
    kept = ("item", "sent_id", "line", "words", "tokens", "expressions", "annotation", "system")
    assert {name: shown[name] for name in kept} == {name: DOCUMENT[name] for name in kept}


def test_below_gold_all_marks_are_one_and_a_word_that_gold_lacks_has_none() -> None:
    shown = tree_view(Level.ITEMS, DOCUMENT, marks=True)
    assert shown["wrong"] == ["wrong", "wrong", "wrong", None, "wrong", "wrong", "wrong", None]
    assert tree_view(Level.ITEMS, DOCUMENT, marks=False)["wrong"] is None
