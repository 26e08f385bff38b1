"""Warnings of an evaluation as lines for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from treescore.core.params import Json


def warning_lines(warnings: Iterable[Mapping[str, Json]]) -> list[str]:
    """Return a line for each kind of warning of each text or metric: the first one, and how many are like it."""
    groups: dict[tuple[str, str, str], list[Mapping[str, Json]]] = {}
    for warning in warnings:
        groups.setdefault((_whose(warning), str(warning.get("metric", "")), str(warning["code"])), []).append(warning)
    return [_line(whose, found) for (whose, _, _), found in groups.items()]


def warnings_of_metric(warnings: Iterable[Mapping[str, Json]], key: str) -> list[Mapping[str, Json]]:
    """Return the warnings that concern the scores of one metric: its own and those of the texts."""
    return [warning for warning in warnings if warning.get("metric", key) == key]


def _whose(warning: Mapping[str, Json]) -> str:
    """Return the system, else the place: a member of the request without its slash, or a file with it."""
    named, place = warning.get("system"), warning.get("pointer", "")
    if named is not None:
        return str(named)
    # a plain string is a JSON pointer; the path of a file is a string of a type of its own
    return place.removeprefix("/") if type(place) is str else str(place)


def _line(whose: str, found: Sequence[Mapping[str, Json]]) -> str:
    first = found[0]
    places = [f"{name} {first[name]}" for name in ("line", "column") if name in first]
    if "sent_id" in first:
        places.append(f"sentence {first['sent_id']}")
    head = ", ".join([*([whose] if whose else []), *places])
    more = f" ({len(found) - 1} more like this)" if len(found) > 1 else ""
    return f"{head}{': ' if head else ''}{first['detail']} [{first['code']}]{more}"
