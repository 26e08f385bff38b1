"""Check the JSON shape of a scoring request that no HTTP schema has checked: from a command line or a program."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from treescore.core.params import escape
from treescore.core.suggestions import did_you_mean
from treescore.errors import Problem, ProblemList
from treescore.evaluation.spec import SIDES

_SETTINGS = '{"test": "permutation", "seed": 7}'


def check_request(request: Mapping[str, object]) -> None:
    """Check the members `format`, `transforms`, `metrics`, `significance` and `items`.

    Names and parameters themselves are checked where they are looked up.

    Raises:
        InputError: every member of a wrong type, with its pointer into the request.
    """
    problems = ProblemList()
    _check_choice(problems, request.get("format"), "/format")
    _check_choices(problems, request.get("transforms", ()), "/transforms")
    _check_choices(problems, request.get("metrics"), "/metrics", '["ud"]')
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


def _check_choices(problems: ProblemList, values: object, pointer: str, example: str = '["flatten"]') -> None:
    if not isinstance(values, (list, tuple)):
        _add(problems, pointer, f"a list, as in {example}")
        return
    for index, value in enumerate(values):
        _check_choice(problems, value, f"{pointer}/{index}")


def _check_choice(problems: ProblemList, value: object, pointer: str) -> None:
    """A name, or an object with a name and perhaps `params`, `key`, `on` and `transforms`."""
    if isinstance(value, str):
        return
    if not isinstance(value, Mapping):
        _add(problems, pointer, 'a name or an object with a "name", as in {"name": "conllu"}')
        return
    if not isinstance(value.get("name"), str):
        _add(problems, f"{pointer}/name", "a string")
    _check_object(problems, value.get("params", {}), f"{pointer}/params", '{"punctuation": false}')
    if not isinstance(value.get("key", ""), str):
        _add(problems, f"{pointer}/key", "a string")
    if value.get("on", SIDES[0]) not in SIDES:
        _add(problems, f"{pointer}/on", f"one of: {', '.join(SIDES)}")
    _check_choices(problems, value.get("transforms", ()), f"{pointer}/transforms")


def _check_items(problems: ProblemList, items: object) -> None:
    """`blocks` and `lengths` are lists; `attributes` and `seconds` hold lists by name."""
    if items is None:
        return
    if not isinstance(items, Mapping):
        _add(problems, "/items", 'an object, as in {"blocks": ["d1", "d1", "d2"]}')
        return
    known = [*_LISTS, *_TABLES]
    for name in items:
        if name not in known:
            detail = f"Unknown member {name!r} of items.{did_you_mean(name, known)} Allowed: {', '.join(known)}."
            problems.add(Problem("unknown-parameter", detail, pointer=f"/items/{escape(str(name))}"))
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
