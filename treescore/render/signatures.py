"""What figures depend on, in one short line: enough to repeat a table of a paper."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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


def signature_of_scores(entry: Entry, signature: Document) -> str:
    """Return the line of the scores of one metric.

    Args:
        entry: what was asked.
        signature: of the result.
    """
    version, _, metric = signature["version"].partition("/")
    parts = [metric + _params(entry.name, entry.params), *_transforms(asked_transforms(entry))]
    formats = [signature["format"], signature["system_format"]]
    if formats[0] != formats[1] or not isinstance(formats[0], str):
        parts += [f"{side} format {_choice(value)}" for side, value in zip(("gold", "system"), formats, strict=True)]
    return _line(parts, signature["gold"], version)


def signature_of_comparison(document: Document) -> str:
    """Return the line of a comparison, without the settings that stand above its table; empty where it is hidden."""
    signature = document["signature"]
    if not signature.get("version") or not signature.get("gold"):
        return ""
    version, _, significance = signature["version"].partition("/")
    score, metric = document["score"], signature.get("metric", "")
    named = f"{score} of {metric}" if metric and not score.startswith(f"{metric}.") else score
    parts = [named + _params(metric, signature.get("params", {})), *_transforms(signature.get("transforms", ()))]
    gold_format = signature.get("format")
    if gold_format is not None and not isinstance(gold_format, str):
        parts.append(f"gold format {_choice(gold_format)}")
    return _line([*parts, significance], signature["gold"], version)


def _line(parts: list[str], gold: str, version: str) -> str:
    return f"Signature: {'; '.join(parts)}; gold {short_digests(gold)}; treescore {version}"


def _params(metric: str, asked: Mapping[str, Json]) -> str:
    known = METRICS[metric].params if asked else {}
    return _in_brackets({name: value for name, value in asked.items() if value != known[name].default})


def _transforms(asked: Iterable[Document]) -> list[str]:
    return [f"transform {step['name']}{_in_brackets(step['params'])} on {step['on']}" for step in asked]


def _choice(value: Json) -> str:
    if not isinstance(value, Mapping):
        return str(value)
    return str(value["name"]) + _in_brackets({name: option for name, option in value.items() if name != "name"})


def _in_brackets(values: Mapping[str, Json]) -> str:
    return f"({', '.join(f'{name}={_short(value)}' for name, value in values.items())})" if values else ""


def _short(value: Json) -> str:
    words = str(value).lower() if isinstance(value, bool) else str(value)
    return clean(words) if len(words) <= _LONGEST_VALUE else short_digests(digest_of(words.encode()))
