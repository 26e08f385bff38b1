"""Which faults of an output's text the metrics of a request accept, and what they see of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from treescore.core.counting import counted
from treescore.core.registry import Format, Metric, Outcome
from treescore.core.trees import DependencyTreebank, Treebank
from treescore.errors import InputError
from treescore.metrics.shared.unreadable import first_unreadable, marks_of_all, without_unreadable


def reader_for(format_: Format, metrics: Sequence[Metric]) -> Format:
    """Return the format as it reads an output for metrics: heads outside are kept if each of them scores these."""
    return format_.keeping_heads_outside() if all(metric.scores_wrong_heads for metric in metrics) else format_


def check_gold_read(gold: Treebank, cap: int) -> None:
    """Check that all dependency trees of gold could be read, though an output's need not. Raises InputError.

    Constituent trees of gold that cannot be read are left out, as by EVALB.
    """
    if isinstance(gold, DependencyTreebank):
        _check_read(gold, cap)


def seen_by(metric: Metric, system: Any) -> Any:
    """Return an output as a metric sees it: sentences with wrong heads alone are empty unless it scores these."""
    if metric.scores_wrong_heads or not isinstance(system, DependencyTreebank) or not system.sentences.unreadable:
        return system
    return without_unreadable(system)


def check_alignable(gold: Treebank, seen: Treebank, cap: int) -> None:
    """Check that sentences that could not be read do not spoil an alignment of texts.

    Which of gold's sentences they are is known only where both sides have as many. Raises InputError.
    """
    if isinstance(seen, DependencyTreebank) and len(gold) != len(seen):
        _check_read(seen, cap)


def _check_read(treebank: DependencyTreebank, cap: int) -> None:
    if treebank.sentences.unreadable:
        raise InputError(first_unreadable(treebank, cap), len(treebank.sentences.unreadable))


def as_read(outcome: Outcome, seen: Any, system: Any) -> Outcome:
    """Return the outcome of an output that a metric has `seen` with marks of the whole output."""
    if seen is system:
        return outcome
    return replace(outcome, marks=lambda: marks_of_all(outcome.marks(), system))


def lost_sentences(system: Treebank) -> str:
    """Say which sentences could not be read, for a message about the number of sentences; empty if all could be."""
    unreadable = system.sentences.unreadable
    if not isinstance(system, DependencyTreebank) or not unreadable:
        return ""
    first = unreadable[min(unreadable)]
    at = "" if first.line is None else f", the first in line {first.line}"
    return f" {counted(len(unreadable), 'sentence')} could not be read{at}: {first.detail}"
