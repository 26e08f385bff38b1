"""Why sentences could not be compared."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from treescore.core.arrays import IntArray
from treescore.core.counting import counted
from treescore.core.registry import ERROR, StatusArray
from treescore.core.trees import ConstituentTreebank, DiscontinuousTreebank
from treescore.core.vocabulary import Vocabulary
from treescore.errors import InputError, Problem
from treescore.metrics.parseval import kernel
from treescore.metrics.parseval.choices import DISCODOP, Choices
from treescore.metrics.shared.discodop import representatives

Trees = ConstituentTreebank | DiscontinuousTreebank


def check_gaps(choices: Choices, treebank: Trees) -> None:
    """Check that choices for continuous constituents are not applied to trees that may have gaps.

    Raises:
        InputError: `parseval-needs-discodop`.
    """
    if isinstance(treebank, DiscontinuousTreebank) and not choices.gaps:
        detail = (
            "The trees may have constituents with gaps, which the other presets cannot compare. "
            f'Choose {{"name": "parseval", "params": {{"preset": "{DISCODOP}"}}}}.'
        )
        raise InputError(Problem("parseval-needs-discodop", detail))


def gap_problems(
    gold: DiscontinuousTreebank, system: DiscontinuousTreebank, status: StatusArray, choices: Choices
) -> dict[int, Problem]:
    """Return why sentences of trees that may have gaps could not be compared; their words are compared undeleted."""
    same = representatives(gold.vocabulary, choices.equal_words)
    problems: dict[int, Problem] = {}
    for index in np.flatnonzero(status == ERROR).tolist():
        problem = _unreadable(gold, system, index)
        if problem is None:
            golds, systems = (
                each.words[each.word_offsets[index] : each.word_offsets[index + 1]] for each in (gold, system)
            )
            problem = _differing(gold.vocabulary, index, int(system.lines[index]), golds, systems, same)
        problems[index] = problem
    return problems


def span_problems(
    gold: ConstituentTreebank, system: ConstituentTreebank, status: StatusArray, facts: IntArray
) -> dict[int, Problem]:
    """Return why sentences could not be compared; `facts` as `kernel.compare` returns them."""
    problems: dict[int, Problem] = {}
    errors = np.flatnonzero(status == ERROR)
    for index, facts_of_sentence in zip(errors.tolist(), facts[errors].tolist(), strict=True):
        line = int(system.lines[index])
        unreadable = _unreadable(gold, system, index)
        problems[index] = unreadable or _mismatch(gold.vocabulary, index, line, facts_of_sentence)
    return problems


def _unreadable(gold: Trees, system: Trees, index: int) -> Problem | None:
    """Return that a side cannot be read in this sentence, or None."""
    unreadable = system.sentences.unreadable.get(index)
    if unreadable is not None or index not in gold.sentences.unreadable:
        return unreadable
    return Problem(
        "gold-unreadable",
        "Gold cannot be read in this sentence.",
        sentence=index + 1,
        gold_detail=f"Gold cannot be read: {gold.sentences.unreadable[index].detail}",
    )


_ADVICE = "Parse gold's words, and use gold's tags for deleted words (punctuation, traces)."


def _mismatch(vocabulary: Vocabulary, index: int, line: int, facts: Sequence[int]) -> Problem:
    """Describe how the words of sentence `index` differ from gold's; EVALB compares them after its deletions."""
    if facts[kernel.REASON] == kernel.LENGTHS_DIFFER:
        code, statement = (
            "word-count-mismatch",
            f"The sentence has {counted(facts[kernel.SYSTEM_WORDS], 'word')} after deletions",
        )
        gold = str(facts[kernel.GOLD_WORDS])
    else:
        word = vocabulary.strings[facts[kernel.SYSTEM_WORD]]
        code, statement = "word-mismatch", f"Word {facts[kernel.WORD] + 1} after deletions is {word!r}"
        gold = repr(vocabulary.strings[facts[kernel.GOLD_WORD]])
    detail = f"{statement}; gold differs. {_ADVICE}"
    return Problem(code, detail, sentence=index + 1, line=line, gold_detail=f"{statement}; gold has {gold}. {_ADVICE}")


def _differing(
    vocabulary: Vocabulary, index: int, line: int, golds: IntArray, systems: IntArray, same: IntArray
) -> Problem:
    """Describe how the words of sentence `index` differ from gold's; `same` tells which string stands for each."""
    if len(golds) != len(systems):
        code, statement = "word-count-mismatch", f"The sentence has {counted(len(systems), 'word')}"
        expected = str(len(golds))
    else:
        place = int(np.flatnonzero(same[golds] != same[systems])[0])
        code = "word-mismatch"
        statement = f"Word {place + 1} is {vocabulary.strings[systems[place]]!r}"
        expected = repr(vocabulary.strings[golds[place]])
    advice = "Parse gold's words."
    detail = f"{statement}; gold differs. {advice}"
    return Problem(
        code, detail, sentence=index + 1, line=line, gold_detail=f"{statement}; gold has {expected}. {advice}"
    )
