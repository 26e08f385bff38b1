"""Check the JSON shape of a scoring request that no HTTP schema has checked: from a command line or a program."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence

from treescore.core.params import escape
from treescore.core.wording import did_you_mean
from treescore.errors import Problem, ProblemList
from treescore.evaluation.spec import SIDES

_PARAMS = '{"punctuation": false}'
_KEY = re.compile(r"[A-Za-z0-9_-]{1,100}")
_SETTINGS = '{"test": "permutation", "seed": 7}'


def check_request(request: Mapping[str, object]) -> None:
    """Check the members `format`, `transforms`, `metrics`, `significance` and `items`.

    Names and parameters themselves are checked where they are looked up.

    Raises:
        InputError: every member of a wrong type, with its pointer into the request.
    """
    problems = ProblemList()
    _check_choice(problems, request.get("format"), "/format")
    _check_transforms(problems, request.get("transforms", ()), "/transforms")
    for pointer, metric in _listed(problems, request.get("metrics"), "/metrics", '["ud"]'):
        _check_metric(problems, metric, pointer)
    if request.get("significance") is not None:
        _check_object(problems, request["significance"], "/significance", _SETTINGS)
    _check_items(problems, request.get("items"))
    problems.raise_if_any()


def check_significance(value: object) -> None:
    """Check settings of comparisons of their own, beside a request.

    Raises:
        InputError: the value is not an object.
    """
    problems = ProblemList()
    _check_object(problems, value, "/significance", _SETTINGS)
    problems.raise_if_any()


def check_format(value: object, pointer: str) -> None:
    """Check a format of its own, beside a request.

    Raises:
        InputError: the value is neither a name nor an object with a name.
    """
    problems = ProblemList()
    _check_choice(problems, value, pointer)
    problems.raise_if_any()


def _add(problems: ProblemList, pointer: str, wanted: str) -> None:
    problems.add(Problem("wrong-type", f"This must be {wanted}.", pointer=pointer))


def _check_object(problems: ProblemList, value: object, pointer: str, example: str) -> None:
    if not isinstance(value, Mapping):
        _add(problems, pointer, f"an object, as in {example}")


def _listed(problems: ProblemList, values: object, pointer: str, example: str) -> list[tuple[str, object]]:
    """Return the members of a list with their places; none of what is not a list."""
    if isinstance(values, (list, tuple)):
        return [(f"{pointer}/{index}", value) for index, value in enumerate(values)]
    _add(problems, pointer, f"a list, as in {example}")
    return []


def _check_choice(problems: ProblemList, value: object, pointer: str) -> bool:
    """Check a name, or an object with a name; return whether it is an object."""
    if isinstance(value, str):
        return False
    if not isinstance(value, Mapping):
        _add(problems, pointer, 'a name or an object with a "name", as in {"name": "conllu"}')
        return False
    if not isinstance(value.get("name"), str):
        _add(problems, f"{pointer}/name", "a string")
    return True


def _check_metric(problems: ProblemList, value: object, pointer: str) -> None:
    """A name, or an object with a name and perhaps `params`, `key` and `transforms`."""
    if not _check_choice(problems, value, pointer) or not isinstance(value, Mapping):
        return
    _check_members(problems, value, pointer, ("name", "params", "key", "transforms"))
    _check_object(problems, value.get("params", {}), f"{pointer}/params", _PARAMS)
    key = value.get("key", "ud")
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        _add(problems, f"{pointer}/key", "a string of 1 to 100 letters, digits, `_` and `-`")
    _check_transforms(problems, value.get("transforms", ()), f"{pointer}/transforms")


def _check_transforms(problems: ProblemList, values: object, pointer: str) -> None:
    """Names, or objects with a name and perhaps `params` and `on`."""
    for place, value in _listed(problems, values, pointer, '["flatten"]'):
        if not _check_choice(problems, value, place) or not isinstance(value, Mapping):
            continue
        _check_members(problems, value, place, ("name", "params", "on"))
        _check_object(problems, value.get("params", {}), f"{place}/params", _PARAMS)
        if value.get("on", SIDES[0]) not in SIDES:
            _add(problems, f"{place}/on", f"one of: {', '.join(SIDES)}")


def _check_members(
    problems: ProblemList, value: Mapping[object, object], pointer: str, known: Sequence[str], what: str = ""
) -> None:
    """Refuse members that are unknown: what is misspelt would be left out in silence."""
    for name in value:
        if name not in known:
            meant = did_you_mean(str(name), known)
            detail = f"Unknown member {name!r}{what}.{meant} Allowed: {', '.join(known)}."
            problems.add(Problem("unknown-parameter", detail, pointer=f"{pointer}/{escape(str(name))}"))


def _check_items(problems: ProblemList, items: object) -> None:
    """`blocks` and `lengths` are lists; `attributes` and `seconds` hold lists by name."""
    if items is None:
        return
    if not isinstance(items, Mapping):
        _add(problems, "/items", 'an object, as in {"blocks": ["d1", "d1", "d2"]}')
        return
    _check_members(problems, items, "/items", [*_LISTS, *_TABLES], " of items")
    for name, (fits, wanted) in _LISTS.items():
        if name in items:
            _check_list(problems, items[name], f"/items/{name}", fits, wanted)
    for name, (fits, wanted) in _TABLES.items():
        lists = items.get(name, {})
        if not isinstance(lists, Mapping):
            _add(problems, f"/items/{name}", 'an object of lists, as in {"genre": ["news", "fiction"]}')
            continue
        for key, values in lists.items():
            _check_list(problems, values, f"/items/{name}/{escape(str(key))}", fits, wanted)


def _check_list(
    problems: ProblemList, values: object, pointer: str, fits: Callable[[object], bool], wanted: str
) -> None:
    if not isinstance(values, (list, tuple)) or not all(map(fits, values)):
        _add(problems, pointer, f"a list of {wanted}, one for each sentence")


def _is_string(value: object) -> bool:
    return isinstance(value, str)


def _is_seconds(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < math.inf


def _is_pair(value: object) -> bool:
    return isinstance(value, (list, tuple)) and len(value) == 2 and all(type(number) is int for number in value)


_LISTS: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "blocks": (_is_string, "strings"),
    "lengths": (_is_pair, "pairs of whole numbers, as [7, 8]"),
}
_TABLES: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "attributes": (_is_string, "strings"),
    "seconds": (_is_seconds, "numbers, 0 or more"),
}
