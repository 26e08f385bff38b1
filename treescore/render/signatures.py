"""What figures depend on, in one short line: enough to repeat a table of a paper."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from treescore.core.digests import digest_of, short_digests
from treescore.core.one_line import clean
from treescore.core.registry import METRICS
from treescore.evaluation.document import asked_transforms

if TYPE_CHECKING:
    from treescore.core.params import Json
    from treescore.evaluation.spec import Entry

Document = Mapping[str, Any]
_LONGEST_VALUE = 40
"""Characters of a parameter's value; a longer one is named by its digest."""


def signature_of_scores(entry: Entry, signatures: Mapping[str, Document]) -> str:
    """Return the line of the scores of one metric.

    Args:
        entry: what was asked.
        signatures: those of the result, by system; at least one.
    """
    first = next(iter(signatures.values()))
    version, _, metric = first["version"].partition("/")
    choices = {name: [signature["system_format"]] for name, signature in signatures.items()}
    parts = [metric + _params(entry.name, entry.params), *_transforms(asked_transforms(entry))]
    return _signature_line([*parts, *_formats(first["format"], choices)], first["gold"], version)


def signature_of_comparison(document: Document) -> str:
    """Return the line of a comparison, without the settings that stand above its table; empty where it is hidden."""
    signature = document["signature"]
    if not signature.get("version") or not signature.get("gold"):
        return ""
    version, _, significance = signature["version"].partition("/")
    score, metric = document["score"], signature.get("metric", "")
    named = f"{score} of {metric}" if metric and not score.startswith(f"{metric}.") else score
    parts = [named + _params(metric, signature.get("params", {})), *_transforms(signature.get("transforms", ()))]
    parts += _formats(signature.get("format", ""), signature.get("system_formats", {}))
    return _signature_line([*parts, significance], signature["gold"], version)


def _signature_line(parts: list[str], gold: str, version: str) -> str:
    return f"Signature: {'; '.join(parts)}; gold {short_digests(gold)}; treescore {version}"


def _params(metric: str, asked: Mapping[str, Json]) -> str:
    """Show what differs from the defaults; a stored document of another version may have names unknown to this one."""
    known = METRICS[metric].params if metric in METRICS else {}
    return _in_brackets(
        {name: value for name, value in asked.items() if name not in known or value != known[name].default}
    )


def _transforms(asked: Iterable[Document]) -> list[str]:
    return [f"transform {step['name']}{_in_brackets(step['params'])} on {step['on']}" for step in asked]


def _formats(gold: Json, choices: Mapping[str, Sequence[Json]]) -> list[str]:
    """Name the formats, unless all texts have one without options.

    Args:
        gold: that of gold.
        choices: those of the outputs, by system.
    """
    names: dict[str, list[str]] = {}
    for system, values in choices.items():
        for text in dict.fromkeys(map(_choice, values)):
            names.setdefault(text, []).append(clean(system))
    if isinstance(gold, str) and list(names) in ([], [gold]):
        return []
    if len(names) == 1:
        return [f"gold format {_choice(gold)}", *(f"system format {text}" for text in names)]
    return [f"gold format {_choice(gold)}", *(f"format {text} of {', '.join(of)}" for text, of in names.items())]


def _choice(value: Json) -> str:
    if not isinstance(value, Mapping):
        return str(value)
    return str(value["name"]) + _in_brackets({name: option for name, option in value.items() if name != "name"})


def _in_brackets(values: Mapping[str, Json]) -> str:
    return f"({', '.join(f'{name}={_short(value)}' for name, value in values.items())})" if values else ""


def _short(value: Json) -> str:
    words = str(value).lower() if isinstance(value, bool) else str(value)
    return clean(words) if len(words) <= _LONGEST_VALUE else short_digests(digest_of(words.encode()))
